// Requests to the API, and what to say of a refusal. A key that is typed stays in this page's memory.
export const keyField = document.getElementById("key");
const keyFault = document.getElementById("key-error");
const KEY_SHAPE = /^[\x21-\x7e]+$/;

export function refuseKey(text) {
  keyFault.textContent = text;
  if (text) keyField.setAttribute("aria-invalid", "true");
  else keyField.removeAttribute("aria-invalid");
}

export function typedKey(needed = true) {
  const key = keyField.value.trim(), sound = key ? KEY_SHAPE.test(key) : !needed;
  refuseKey(sound ? "" : key ? "This is not a key: it has other characters." : "Enter your key.");
  if (!sound) keyField.focus();
  return sound ? key : null;
}

// Never throws: status 0 means that no answer came
export async function askApi(method, url, key, body, headers = {}) {
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(url, { method, headers, body: body && JSON.stringify(body), cache: "no-store" });
    const answer = await response.json(), { ok, status } = response;
    return { ok, status, answer, headers: response.headers, later: Number(response.headers.get("Retry-After")) };
  } catch {
    const title = response ? `The answer, ${response.status}, can't be read` : "The server can't be reached";
    const detail = navigator.onLine ? "Check the connection and try again." : "This device is offline.";
    return { ok: false, status: 0, answer: { title, detail }, headers: new Headers(), later: 0 };
  }
}

export function whenAgain(seconds) {
  if (!seconds) return "";
  const at = new Date(Date.now() + seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const minutes = Math.ceil(seconds / 60), hours = Math.round(minutes / 60);
  return `Try again at ${at}, in ${seconds < 90 ? `${seconds} seconds` : minutes < 100 ? `${minutes} minutes` : `${hours} hours`}.`;
}

const REMEDIES = {
  401: [["/signup", "Get a free key"]],
  402: [["/signup", "Get a free key"], ["/docs/paying", "Pay per call"]],
  429: [["/pricing", "Buy a pack"]],
};

export function tellProblem(box, { status, answer, later }, ...more) {
  const { code, title, detail, errors } = answer, about = make("p", {}, detail ?? "");
  const links = (code === "rate_limited" ? [] : REMEDIES[status] ?? []).map(([href, text]) => make("a", { href }, text));
  if (code) links.push(make("a", { href: `/errors#${code}` }, `About ${code}`));
  if (errors?.length) about.textContent = "What is wrong stands at the fields.";
  const again = code === "key_limit_reached" ? "" : whenAgain(later);
  if (again) about.append(" ", again);
  box.replaceChildren(
    make("p", { className: "refusal" }, `✕ ${status || ""} `.replace("  ", " "), title), about, ...more,
    make("p", { className: "actions" }, ...links),
  );
}
