// Loaded when the search is first opened.
const dialog = document.getElementById("search"), box = document.getElementById("search-box");
const hits = document.getElementById("search-hits"), note = document.getElementById("search-note");
let index;
const rank = (entry, words) => {
  const title = entry.t.toLowerCase(), rest = entry.d.toLowerCase();
  let score = 0, place = "";
  for (const word of words) {
    const heading = entry.h.find(([, text]) => text.toLowerCase().includes(word));
    const worth = title.includes(word) ? 4 : heading ? 2 : rest.includes(word) ? 1 : 0;
    if (!worth) return null;
    if (worth === 2) place = "#" + heading[0];
    score += worth;
  }
  return { entry, score, place };
};
const find = () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? index.map((entry) => rank(entry, words)).filter(Boolean) : [];
  found.sort((a, b) => b.score - a.score);
  hits.replaceChildren(...found.slice(0, 8).map(({ entry, place }) =>
    make("li", {}, make("a", { href: entry.u + place }, entry.t, make("small", { textContent: entry.d })))));
  note.textContent = words.length && !found.length ? "Nothing found." : "";
};
export const openSearch = async () => {
  dialog.showModal();
  try { index ??= await (await fetch("/search.json")).json(); } catch { note.textContent = "The index can't be loaded."; return; }
  find();
};
box.addEventListener("input", () => index && find());
dialog.addEventListener("click", (event) => { if (event.target === dialog || event.target.closest("a")) dialog.close(); });
dialog.addEventListener("keydown", (event) => {
  const links = all("a", hits), at = links.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && links.length) {
    event.preventDefault();
    (at + step < 0 ? box : links[Math.min(at + step, links.length - 1)]).focus();
  } else if (event.key === "Enter" && event.target === box) {
    event.preventDefault();
    links[0]?.click();
  }
});
