"use strict";
// A page's tool gets its code when it is first used. What is clicked or sent meanwhile is done as soon as the code is there.
for (const tool of all("[data-tool]")) {
  let ready = false, coming = null;
  const start = async () => {
    const [ask, ...parts] = await Promise.all(tool.dataset.tool.split(" ").map((address) => import(address)));
    parts.forEach((part) => part.start?.(ask, parts));
    ready = true;
  };
  const used = async (event) => {
    if (ready) return;
    const button = event.type === "click" && event.target.closest("button");
    if (button || event.type === "submit") {
      event.preventDefault();
      event.stopPropagation();
    }
    try { await (coming ??= start()); } catch {
      coming = null;
      tool.querySelector("[role=alert]").textContent = "The code of this form can't be loaded. Check the connection and try again.";
      return;
    }
    button?.click?.();
  };
  for (const kind of ["focusin", "pointerdown", "click", "submit"]) tool.addEventListener(kind, used, { capture: true });
}
