"""The official Python client, paying for one call: run with the environment of these tests.

    python buyer.py KEY URL BODY

Prints status, body and settlement as JSON, and the header it paid with.
"""

import asyncio
import json
import sys

import httpx

# mypy runs without the packages of this environment, hence the comments.
# mypy runs without the packages of this environment, hence the comments.
from eth_account import Account  # type: ignore[import-not-found]
from x402 import x402Client  # type: ignore[import-not-found]
from x402.http import decode_payment_response_header  # type: ignore[import-not-found]
from x402.http.clients.httpx import x402_httpx_transport  # type: ignore[import-not-found]
from x402.mechanisms.evm.exact import register_exact_evm_client  # type: ignore[import-not-found]
from x402.mechanisms.evm.signers import EthAccountSigner  # type: ignore[import-not-found]


class Noting(httpx.AsyncHTTPTransport):
    """Notes the payment that was sent."""

    paid_with = ""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """As ever."""
        self.paid_with = request.headers.get("PAYMENT-SIGNATURE", self.paid_with)
        return await super().handle_async_request(request)


async def main(key: str, url: str, body: str) -> None:
    """Pays for POST `url` with `body`."""
    client = x402Client()
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(key)))
    noting, headers = Noting(), {"Content-Type": "application/json"}
    async with httpx.AsyncClient(transport=x402_httpx_transport(client, noting), timeout=60) as paying:
        response = await paying.post(url, content=body, headers=headers)
    told = response.headers.get("PAYMENT-RESPONSE")
    settlement = None if told is None else decode_payment_response_header(told).model_dump_json(by_alias=True)
    async with httpx.AsyncClient(timeout=60) as plain:
        headers["PAYMENT-SIGNATURE"] = noting.paid_with
        again = await plain.post(url, content=body, headers=headers)
    print(
        json.dumps(
            {
                "status": response.status_code,
                "body": response.json(),
                "settlement": settlement and json.loads(settlement),
                "paid_with": noting.paid_with,
                "again": {"status": again.status_code, "body": again.json()},
            }
        )
    )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
