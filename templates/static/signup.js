// Making a key: its secret is shown once, with what comes next; a refusal stands at its field.
const form = document.getElementById("signup");
let whenAgain;
const byId = (id) => document.getElementById(id);
const mark = (name, text) => {
  byId(`${name}-error`).textContent = text;
  if (text) form.elements[name]?.setAttribute("aria-invalid", "true");
  else form.elements[name]?.removeAttribute("aria-invalid");
};

function refuse({ status, answer, later }) {
  let general = "";
  for (const { path, message } of answer.errors ?? []) {
    const name = path.slice(1);
    const told = message.includes("form that") ? "has a character that it can't have" : message;
    if (name === "email" || name === "name") mark(name, `${name === "email" ? "The address" : "The name"} ${told}.`);
    else general += `${path} ${message}. `;
  }
  if (!answer.errors?.length) general = `${answer.detail || answer.title} ${answer.code === "key_limit_reached" ? "" : whenAgain(later)}`;
  if (!status) general = `${answer.title}. No key was made that you could use; try again.`;
  byId("form-error").textContent = general.trim();
  form.querySelector("[aria-invalid]")?.focus();
}

function show(key) {
  const line = `export SCREWTAPE_API_KEY=${key}`;
  byId("secret-value").textContent = key;
  byId("export-value").textContent = line;
  byId("secret-copy").addEventListener("click", (event) => window.copyText(event.target, () => key));
  byId("export-copy").addEventListener("click", (event) => window.copyText(event.target, () => line));
  form.hidden = byId("before").hidden = true;
  byId("secret").hidden = false;
  byId("secret").focus();
}

export function start(ask) {
  whenAgain = ask.whenAgain;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("[type=submit]");
    if (button.ariaBusy === "true") return;
    for (const name of ["email", "name", "form"]) mark(name, "");
    const body = { email: form.elements.email.value.trim(), name: form.elements.name.value.trim() };
    if (!body.email) mark("email", "Enter an address.");
    if (!body.name) mark("name", "Give the key a name.");
    if (!body.email || !body.name) return form.querySelector("[aria-invalid]").focus();
    button.ariaBusy = "true";
    const reply = await ask.askApi("POST", form.action, "", body);
    if (reply.ok) show(reply.answer.key);
    else refuse(reply);
    button.ariaBusy = "false";
  });
}
