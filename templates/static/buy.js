"use strict";
// One Idempotency-Key for one choice, so that another click opens no second session
let choice = "", token = "";

document.getElementById("buy").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target, button = form.querySelector("[type=submit]"), key = typedKey();
  if (!key || button.ariaBusy === "true") return;
  const pack = form.elements.pack.value, wanted = `${key} ${pack}`;
  if (choice !== wanted) {
    choice = wanted;
    token = [...crypto.getRandomValues(new Uint32Array(4))].join("-");
  }
  button.ariaBusy = "true";
  try {
    const { ok, answer } = await askApi(form.action, key, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": token },
      body: JSON.stringify({ pack }),
    });
    if (ok) location.assign(answer.checkout_url);
    else refuseKey(answer.detail || answer.title);
  } catch {
    refuseKey("The server can't be reached. Nothing was taken; try again.");
  }
  button.ariaBusy = "false";
});
