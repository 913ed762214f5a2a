// What the server says of the balance is all that this page knows
const state = document.getElementById("balance-state");
const asked = new URLSearchParams(location.search).get("before") ?? "";
const before = /^-?\d{1,15}$/.test(asked) ? Number(asked) : null;
const number = (value) => new Intl.NumberFormat("en").format(value);
const EVERY_MS = 3000, FOR_MS = 15 * 60 * 1000;
let watch = 0, shared;

function tell(credits) {
  const now = `${number(credits)} prepaid calls`;
  if (before === null) state.textContent = `The balance is ${now}.`;
  else if (credits > before) state.textContent = `Credited: the balance has risen from ${number(before)} at the checkout to ${now}.`;
  else state.textContent = `Pending: the balance is ${now}. It has not risen since the checkout. Asking again every few seconds.`;
  return before !== null && credits > before;
}

async function look(key, mine, until) {
  if (mine !== watch) return;
  const { ok, status, answer } = await shared.askApi("GET", "/v1/keys/me", key);
  if (mine !== watch || (ok && tell(answer.credits))) return;
  if (status === 401) {
    state.textContent = "";
    shared.refuseKey(answer.detail || answer.title);
    return;
  }
  if (Date.now() < until) setTimeout(look, EVERY_MS, key, mine, until);
  else state.textContent += " This page has stopped asking; send the key again to go on.";
}

export function start(ask) {
  shared = ask;
  document.getElementById("balance").addEventListener("submit", (event) => {
    event.preventDefault();
    const key = shared.typedKey();
    if (!key) return;
    watch += 1;
    state.textContent = "Asking for the balance.";
    look(key, watch, Date.now() + FOR_MS);
  });
}
