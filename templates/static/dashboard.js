// One key's account. The key stands in its field, which is hidden meanwhile, and nowhere else.
const account = document.getElementById("account"), entrance = document.getElementById("open"), refusal = document.getElementById("refusal");
const get = (id) => document.getElementById(id);
let parts, asking;

// Each part asks in this way; a key that is refused ends the visit
async function ask(method, path, body, headers) {
  const reply = await asking.askApi(method, path, asking.keyField.value.trim(), body, headers);
  if (reply.status === 401) leave(reply.answer.detail ?? reply.answer.title);
  return reply;
}

function leave(why = "") {
  asking.keyField.value = "";
  all("[role=status]", account).forEach((said) => said.replaceChildren());
  account.hidden = true;
  entrance.hidden = false;
  asking.refuseKey(why);
  asking.keyField.focus();
}

function showKey(key) {
  const { charts } = parts, { limit, used, remaining, resets_at } = key.free_calls;
  const at = new Date(resets_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  get("who").textContent = key.name;
  get("prefix").textContent = `${key.prefix}…`;
  get("key-id").textContent = key.id;
  get("created").textContent = new Date(key.created_at).toLocaleDateString("en-GB", { dateStyle: "long" });
  get("free").textContent = charts.whole(remaining);
  get("free-of").textContent = `of ${charts.whole(limit)}, ${charts.whole(used)} used. Counted anew at ${at}.`;
  get("credits").textContent = charts.whole(key.credits);
  get("owed").textContent = key.credits < 0 ? "Owed after a refund: prepaid calls are off until it is above 0." : "used after the free ones; they don't expire";
  charts.meter(get("meter"), used, limit);
  charts.calls(get("calls"), [...key.usage].reverse());
}

async function refresh() {
  const reply = await ask("GET", "/v1/keys/me");
  if (!reply.ok) return reply;
  showKey(reply.answer);
  await Promise.all([parts.drift.load(ask, parts.charts, asking), parts.settings.load(ask)]);
  return reply;
}

export function start(shared, [, charts, drift, settings]) {
  [asking, parts] = [shared, { charts, drift, settings }];
  settings.open({ ask, leave, refresh, shared });
  entrance.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = entrance.querySelector("[type=submit]");
    refusal.replaceChildren();
    if (button.ariaBusy === "true" || !asking.typedKey()) return;
    button.ariaBusy = "true";
    const reply = await refresh();
    if (reply.ok) {
      account.hidden = false;
      entrance.hidden = true;
      get("account-title").focus();
    } else if (reply.status !== 401) {
      asking.tellProblem(refusal, reply);
      asking.keyField.focus();
    }
    button.ariaBusy = "false";
  });
  get("leave").addEventListener("click", () => leave());
  get("again").addEventListener("click", async ({ target }) => {
    target.ariaBusy = "true";
    const reply = await refresh();
    refusal.replaceChildren();
    if (!reply.ok && reply.status !== 401) asking.tellProblem(refusal, reply);
    target.ariaBusy = "false";
  });
}
