"use strict";
const all = (query, root = document) => [...root.querySelectorAll(query)];
const make = (tag, props, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
};
const store = {
  get(name) { try { return localStorage.getItem(name); } catch { return null; } },
  set(name, value) { try { localStorage.setItem(name, value); } catch { /* blocked: it lasts for this page */ } },
};

// Copy
async function copy(button, text) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(await text());
    button.textContent = "Copied";
  } catch { button.textContent = "Can't copy"; }
  button.dataset.done = "";
  setTimeout(() => { button.textContent = before; delete button.dataset.done; }, 1600);
}
window.copyText = copy;
for (const block of all(".code")) {
  const button = make("button", { type: "button", className: "quiet copy", textContent: "Copy" });
  button.addEventListener("click", () => copy(button, () => block.querySelector("pre").textContent.trimEnd()));
  block.append(button);
}
for (const button of all("[data-copy]")) button.addEventListener("click", () => copy(button, () => button.dataset.copy));
for (const button of all("[data-copy-page]")) {
  button.addEventListener("click", () => copy(button, async () => (await fetch(button.dataset.copyPage)).text()));
}

// Colours: as the system, light, dark
const theme = document.getElementById("theme"), themes = ["system", "light", "dark"];
const showTheme = (name) => {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  theme.ariaLabel = theme.title = `Colours: ${name === "system" ? "as the system" : name}`;
};
let chosen = themes.includes(store.get("theme")) ? store.get("theme") : "system";
showTheme(chosen);
theme.addEventListener("click", () => {
  chosen = themes[(themes.indexOf(chosen) + 1) % 3];
  store.set("theme", chosen);
  showTheme(chosen);
});

// The documentation's navigation is open where it is a column
const wide = matchMedia("(min-width: 800px)");
const unfold = () => all(".side").forEach((side) => { side.open = wide.matches; });
wide.addEventListener("change", unfold);
unfold();

// Search: its code and its index come when they are first wanted
const opener = document.getElementById("search-open");
const search = async () => (await import(opener.dataset.module)).openSearch();
opener.addEventListener("click", search);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  search();
});
