"use strict";
// The field for an API key: it stays in this page's memory. Used by the scripts that come after.
const keyField = document.getElementById("key"), keyFault = document.getElementById("key-error");

function refuseKey(text) {
  keyFault.textContent = text;
  if (text) keyField.setAttribute("aria-invalid", "true");
  else keyField.removeAttribute("aria-invalid");
}

function typedKey() {
  const key = keyField.value.trim();
  refuseKey(key ? "" : "Enter your key.");
  if (!key) keyField.focus();
  return key;
}

async function askApi(url, key, options = {}) {
  const headers = { Authorization: `Bearer ${key}`, ...options.headers };
  const response = await fetch(url, { ...options, headers, cache: "no-store" });
  return { ok: response.ok, status: response.status, answer: await response.json() };
}
