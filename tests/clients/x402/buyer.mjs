// The official client for Node, paying for one call:
//   node buyer.mjs KEY URL BODY
// Prints status, body and settlement as JSON, and the header it paid with.
import { ExactEvmScheme } from "@x402/evm";
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";

const [key, url, body] = process.argv.slice(2);
let paid_with = null;
const send = (input, init) => {
  const request = new Request(input, init);
  paid_with = request.headers.get("PAYMENT-SIGNATURE") ?? paid_with;
  return fetch(request);
};
const pay = wrapFetchWithPaymentFromConfig(send, {
  schemes: [{ network: "eip155:8453", client: new ExactEvmScheme(privateKeyToAccount(key)) }],
});
const question = { method: "POST", headers: { "Content-Type": "application/json" }, body };
const response = await pay(url, question);
const settlement = decodePaymentResponseHeader(response.headers.get("PAYMENT-RESPONSE"));
const headers = { ...question.headers, "PAYMENT-SIGNATURE": paid_with };
const again = await fetch(url, { ...question, headers });
console.log(
  JSON.stringify({
    status: response.status,
    body: await response.json(),
    settlement,
    paid_with,
    again: { status: again.status, body: await again.json() },
  }),
);
