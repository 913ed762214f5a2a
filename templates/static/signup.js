"use strict";
const form = document.getElementById("signup");
const byId = (id) => document.getElementById(id);
const mark = (name, text) => {
  byId(`${name}-error`).textContent = text;
  if (text) form.elements[name]?.setAttribute("aria-invalid", "true");
  else form.elements[name]?.removeAttribute("aria-invalid");
};
const wait = (seconds) => {
  if (!seconds) return "";
  const at = new Date(Date.now() + seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return ` Try again at ${at}, in ${seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`}.`;
};

function refuse(problem, retryAfter) {
  let general = "";
  for (const { path, message } of problem.errors ?? []) {
    const name = path.slice(1);
    const told = message.includes("form that") ? "has a character that it can't have" : message;
    if (name === "email" || name === "name") mark(name, `${name === "email" ? "The address" : "The name"} ${told}.`);
    else general += `${path} ${message}. `;
  }
  if (!problem.errors?.length) general = (problem.detail || problem.title) + (problem.code === "key_limit_reached" ? "" : wait(retryAfter));
  byId("form-error").textContent = general.trim();
  form.querySelector("[aria-invalid]")?.focus();
}

function show(key) {
  const line = `export SCREWTAPE_API_KEY=${key}`;
  byId("secret-value").textContent = key;
  byId("export-value").textContent = line;
  byId("secret-copy").addEventListener("click", (event) => window.copyText(event.target, () => key));
  byId("export-copy").addEventListener("click", (event) => window.copyText(event.target, () => line));
  form.hidden = true;
  byId("secret").hidden = false;
  byId("secret").focus();
}

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
  try {
    const response = await fetch(form.action, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (response.ok) show(answer.key);
    else refuse(answer, Number(response.headers.get("Retry-After")));
  } catch {
    byId("form-error").textContent = "The server can't be reached. No key was made that you could use; try again.";
  }
  button.ariaBusy = "false";
});
