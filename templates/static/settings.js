// The webhook, what is kept, the key itself.
const get = (id) => document.getElementById(id), hook = get("hook"), address = hook.elements.url, keep = get("keep");
const say = (id, ...said) => get(id).replaceChildren(...said);
let ask, shared;

function show({ alert_webhook_url: url, retention_days: kept }) {
  address.value = url;
  get("hook-remove").hidden = get("hook-test").hidden = !url;
  keep.checked = kept > 0;
}

function fault(reply) {
  const wrong = reply.answer.errors?.map(({ message }) => `It ${message}.`).join(" ");
  say("hook-error", wrong || `${reply.answer.detail || reply.answer.title} ${shared.whenAgain(reply.later)}`);
  address.setAttribute("aria-invalid", "true");
  address.focus();
}

async function change(body, button) {
  if (button.ariaBusy === "true") return null;
  button.ariaBusy = "true";
  const reply = await ask("PATCH", "/v1/account/settings", body);
  button.ariaBusy = "false";
  say("hook-error");
  address.removeAttribute("aria-invalid");
  return reply;
}

// A secret that is shown once, with a button to copy it
function once(text, secret) {
  const button = make("button", { type: "button", className: "quiet" }, "Copy");
  button.addEventListener("click", () => window.copyText(button, () => secret));
  return [make("p", {}, text), make("p", { className: "secret" }, make("code", {}, secret), button)];
}

const ERRORS = {
  dns: "the name does not resolve", not_public: "the address is not public", refused: "no connection", tls: "the certificate is wrong", timeout: "no answer in time",
  no_answer: "the connection ended without an answer", secret: "the secret can't be read any more: save the address again",
};
function tested({ delivered, status, error, ms }) {
  return delivered ? `✓ Delivered: it answered ${status} after ${ms} ms.` : `✕ Not delivered: ${ERRORS[error] ?? `it answered ${status}`}.`;
}

export function open({ ask: asking, leave, refresh, shared: telling }) {
  [ask, shared] = [asking, telling];
  hook.addEventListener("submit", async (event) => {
    event.preventDefault();
    const url = address.value.trim(), reply = await change({ alert_webhook_url: url }, event.submitter ?? get("hook-save"));
    if (!reply) return;
    if (!reply.ok) return fault(reply);
    show(reply.answer);
    const secret = reply.answer.alert_webhook_secret;
    say("hook-said", ...(secret ? once("Saved. This secret signs what is sent there. It is shown this once.", secret) : ["Removed."]));
  });
  get("hook-remove").addEventListener("click", async ({ target }) => {
    const reply = await change({ alert_webhook_url: "" }, target);
    if (!reply) return;
    if (!reply.ok) return fault(reply);
    show(reply.answer);
    say("hook-tested");
    say("hook-said", "Removed. What was waiting to be sent is cancelled.");
    address.focus();
  });
  get("hook-test").addEventListener("click", async ({ target }) => {
    say("hook-tested", "Sending a test.");
    const reply = await change({ test_alert_webhook: true }, target);
    if (!reply) return;
    if (reply.ok) say("hook-tested", tested(reply.answer.test_delivery));
    else { say("hook-tested"); fault(reply); }
  });
  keep.addEventListener("change", async () => {
    const reply = await change({ retention_days: keep.checked ? 1 : 0 }, keep);
    if (reply?.ok) return say("keep-said", keep.checked ? "Calls that ask for it are kept." : "Nothing is kept, whatever a call asks for.");
    keep.checked = !keep.checked;
    if (reply) say("keep-said", reply.answer.detail ?? reply.answer.title);
  });
  get("rotate").addEventListener("submit", (event) => confirmed(event, "rotate", async () => {
    const reply = await ask("POST", "/v1/keys/me/rotate");
    if (!reply.ok) return reply;
    shared.keyField.value = reply.answer.key;
    await refresh();
    say("rotate-said", ...once("The old secret is dead. This is the new one; it is shown this once.", reply.answer.key));
    return reply;
  }));
  get("delete").addEventListener("submit", (event) => confirmed(event, "delete", async () => {
    const reply = await ask("DELETE", "/v1/keys/me");
    if (reply.ok) {
      leave();
      say("refusal", make("p", {}, "The key is deleted, with all that was stored about it."));
    }
    return reply;
  }));
}

// Does the deed when its word was typed
async function confirmed(event, word, deed) {
  event.preventDefault();
  const form = event.target, typed = form.elements.word, button = form.querySelector("[type=submit]");
  say(`${word}-said`);
  if (typed.value.trim() !== word) {
    typed.setAttribute("aria-invalid", "true");
    say(`${word}-error`, `Type ${word} to go on.`);
    return typed.focus();
  }
  typed.removeAttribute("aria-invalid");
  say(`${word}-error`);
  button.ariaBusy = "true";
  const reply = await deed();
  button.ariaBusy = "false";
  typed.value = "";
  if (!reply.ok && reply.status !== 401) say(`${word}-error`, reply.answer.detail ?? reply.answer.title);
}

export async function load(asking) {
  const reply = await asking("GET", "/v1/account/settings");
  if (reply.ok) show(reply.answer);
}
