// One Idempotency-Key for one choice, so that another click opens no second session
let choice = "", token = "";
const buyFault = document.getElementById("buy-error");

export function start({ askApi, refuseKey, typedKey }) {
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
    const { ok, status, answer } = await askApi("POST", form.action, key, { pack }, { "Idempotency-Key": token });
    if (ok) location.assign(answer.checkout_url);
    else {
      const why = status ? answer.detail || answer.title : `${answer.title}. Nothing was taken; try again.`;
      if (buyFault) buyFault.textContent = why;
      else refuseKey(why);
    }
    button.ariaBusy = "false";
  });
}
