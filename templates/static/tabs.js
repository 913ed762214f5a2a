"use strict";
// Language tabs: every group on the page follows the choice
const groups = all("[data-tabs]");
const choose = (id) => {
  for (const tab of all("[data-tabs] [role=tab]")) {
    const on = tab.dataset.id === id;
    tab.ariaSelected = String(on);
    tab.tabIndex = on ? 0 : -1;
  }
  for (const panel of all("[data-tabs] [data-tab]")) panel.hidden = panel.dataset.tab !== id;
};
groups.forEach((group, number) => {
  const list = make("div", { role: "tablist", ariaLabel: "Language" }), panels = all("[data-tab]", group);
  for (const panel of panels) {
    const { tab: id, label } = panel.dataset;
    const tab = make("button", { type: "button", role: "tab", textContent: label, id: `tab-${number}-${id}` });
    tab.dataset.id = id;
    panel.id = `panel-${number}-${id}`;
    panel.role = "tabpanel";
    tab.setAttribute("aria-controls", panel.id);
    panel.removeAttribute("aria-label");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => {
      const top = tab.getBoundingClientRect().top;
      choose(id);
      store.set("language", id);
      scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: "instant" });
    });
    list.append(tab);
  }
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = all("[role=tab]", list), next = tabs.at((tabs.indexOf(event.target) + step) % tabs.length);
    next.click();
    next.focus();
  });
  group.prepend(list);
});
if (groups.length) choose(["curl", "python", "javascript"].includes(store.get("language")) ? store.get("language") : "curl");
