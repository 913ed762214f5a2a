"use strict";
const form = document.getElementById("receipts"), field = form.elements.receipt;
const fault = document.getElementById("receipt-error"), verdict = document.getElementById("receipt-verdict");
const rows = document.getElementById("receipt-fields"), ask = document.getElementById("receipt-ask");

// The guide below has a row for every reason
const meaning = (reason) =>
  all("td code").find(({ textContent }) => textContent === reason)?.closest("tr").cells[1].textContent ?? "";

function show(receipt, reason, told) {
  const mark = make("strong", { className: `verb ${reason ? "delete" : "post"}`, textContent: reason ? "✕ Not valid" : "✓ Valid" });
  verdict.replaceChildren(mark, reason ? ` ${meaning(reason)} (${reason})` : ` ${told}`);
  rows.hidden = Boolean(reason);
  if (reason) return;
  const { signatures, ...content } = receipt;
  const lines = Object.entries(content).flatMap(([name, value]) =>
    typeof value === "object" ? Object.entries(value).map(([inner, text]) => [`${name}.${inner}`, text]) : [[name, value]]);
  rows.lastElementChild.replaceChildren(...lines.map(([name, value]) =>
    make("div", {}, make("dt", {}, make("code", { textContent: name })), make("dd", { textContent: value }))));
}

async function check(verify) {
  let given;
  fault.textContent = "";
  field.removeAttribute("aria-invalid");
  verdict.replaceChildren();
  rows.hidden = ask.hidden = true;
  try {
    given = JSON.parse(field.value);
  } catch {
    fault.textContent = "This is not JSON.";
    field.setAttribute("aria-invalid", "true");
    field.focus();
    return;
  }
  try {
    await verify(given, await import(form.dataset.module));
  } catch {
    fault.textContent = "The server can't be reached, so nothing was checked.";
  }
}

async function here(given, { parts, canVerify, refusal }) {
  const [receipt, response] = parts(given), { issuer } = form.dataset;
  if (await canVerify()) {
    return show(receipt, await refusal(receipt, response, issuer), `Checked in this browser with the keys of ${issuer}.`);
  }
  verdict.textContent = "This browser can't verify Ed25519 signatures, so nothing was checked. The server can do it.";
  ask.hidden = false;
}

async function there(given, { parts }) {
  const [receipt] = parts(given);
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(form.action, { method: "POST", headers, body: JSON.stringify({ receipt }) });
  const answer = await response.json();
  if (response.ok) show(receipt, answer.reason, "So says the server; this browser did not check it.");
  else fault.textContent = answer.detail;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  check(here);
});
ask.addEventListener("click", () => check(there));
