// What stands in the form is the request. A refusal is shown at the field that it is about.
const ground = document.getElementById("playground"), forms = all("form", ground), tabs = all("[role=tab]", ground);
let ask, drawn;

function choose(id) {
  for (const tab of tabs) {
    const on = tab.getAttribute("aria-controls") === id;
    tab.ariaSelected = String(on);
    tab.tabIndex = on ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !on;
  }
}

// The body, and by JSON Pointer the control that each part of it comes from
function read(form) {
  const body = {}, places = {};
  for (const field of all("[data-field]", form)) {
    const name = field.dataset.field;
    places[`/${name}`] = field;
    if (field.type === "checkbox") {
      if (field.checked) body[name] = true;
    } else if (field.tagName !== "FIELDSET") {
      if (field.required || field.value.trim()) body[name] = field.value;
    } else {
      const rows = [];
      for (const row of all(".row", field)) {
        const text = row.querySelector("textarea"), agent = row.querySelector("input"), at = `/${name}/${rows.length}`;
        if (!agent && !text.value.trim()) continue;
        places[agent ? `${at}/output` : at] = text;
        if (agent) places[`${at}/agent_id`] = agent;
        rows.push(agent ? { ...(agent.value.trim() && { agent_id: agent.value.trim() }), output: text.value } : text.value);
      }
      if (rows.length || "least" in field.dataset) body[name] = rows;
    }
  }
  return { body, places };
}

function mark(form, places, errors) {
  all(".error", form).forEach((old) => old.remove());
  all("[aria-invalid]", form).forEach((old) => { old.removeAttribute("aria-invalid"); old.removeAttribute("aria-describedby"); });
  const rest = [];
  errors.forEach(({ path, message }, at) => {
    let pointer = path;
    while (pointer && !places[pointer]) pointer = pointer.slice(0, pointer.lastIndexOf("/"));
    const field = places[pointer], id = `${form.id}-error-${at}`;
    if (!field) return rest.push(`${path} ${message}`);
    const line = make("p", { className: "error", id }, `${pointer === path ? "It" : path} ${message}.`);
    if (field.tagName === "FIELDSET") return field.append(line);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", id);
    (field.closest(".row") ?? field.parentElement).append(line);
    const folded = field.closest("details");
    if (folded) folded.open = true;
  });
  form.querySelector("[aria-invalid]")?.focus();
  return rest;
}

const pretty = (value) => JSON.stringify(value, null, 2);
function asCurl(form) {
  const quoted = pretty(read(form).body).replaceAll("'", "'\\''");
  const head = `curl -X POST ${form.action} \\\n  -H "Authorization: Bearer $SCREWTAPE_API_KEY" \\\n  -H "Content-Type: application/json"`;
  form.parentElement.querySelector(".as-curl pre").textContent = `${head} \\\n  -d '${quoted}'`;
}

// The price that a 402 names, in words: x402 amounts of a stablecoin have six decimals
function offer(header) {
  try {
    const { amount, extra, network } = JSON.parse(atob(header)).accepts[0];
    return [make("p", {}, `Its offer: ${amount / 1e6} ${extra?.name ?? "of the asset"} on ${network} for this call.`)];
  } catch { return []; }
}

async function send(form) {
  const button = form.querySelector("[type=submit]"), box = form.parentElement.querySelector(".result"), key = ask.typedKey(false);
  if (key === null || button.ariaBusy === "true") return;
  button.ariaBusy = "true";
  const { body, places } = read(form), reply = await ask.askApi("POST", form.action, key, body);
  const rest = mark(form, places, reply.answer.errors ?? []);
  if (reply.status === 401) ask.refuseKey(reply.answer.detail);
  if (reply.ok) drawn.show(box, reply, body);
  else ask.tellProblem(box, reply, ...offer(reply.headers.get("PAYMENT-REQUIRED")), ...rest.map((text) => make("p", {}, text)));
  button.ariaBusy = "false";
  if (!form.querySelector("[aria-invalid]")) box.scrollIntoView({ block: "nearest" });
}

export function start(asking, [, drawing]) {
  [ask, drawn] = [asking, drawing];
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => choose(tab.getAttribute("aria-controls")));
    tab.addEventListener("keydown", ({ key }) => {
      if (key !== "ArrowLeft" && key !== "ArrowRight") return;
      const next = tabs[(at + 1) % tabs.length];
      next.click();
      next.focus();
    });
  });
  for (const form of forms) {
    const number = (list) => all(".row", list).forEach((row, at) => {
      all("[data-said]", row).forEach((part) => { part.ariaLabel = `${part.dataset.said} ${at + 1}`; });
    });
    for (const list of all("fieldset", form)) {
      const rows = list.querySelector("ol"), add = list.querySelector(".add"), one = list.querySelector("template");
      const limit = () => { add.disabled = rows.children.length >= list.dataset.most; };
      add.addEventListener("click", () => {
        rows.append(one.content.cloneNode(true));
        number(list);
        limit();
        rows.lastElementChild.querySelector("textarea").focus();
      });
      rows.addEventListener("click", ({ target }) => {
        if (!target.matches(".remove")) return;
        target.closest(".row").remove();
        number(list);
        limit();
        add.focus();
        asCurl(form);
      });
      number(list);
    }
    form.addEventListener("input", () => asCurl(form));
    form.addEventListener("submit", (event) => { event.preventDefault(); send(form); });
    asCurl(form);
  }
}
