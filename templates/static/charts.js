// Charts as SVG, each with a sentence that says what it shows and a table of its numbers.
const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 160, LEFT = 40, RIGHT = 10, TOP = 10, BOTTOM = 24;
const draw = (tag, attributes, ...children) => {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
export const day = (date) => new Date(`${date}T00:00Z`).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
export const percent = (value) => value === null ? "none" : `${+(value * 100).toFixed(value < 0.1 ? 1 : 0)}%`;
export const whole = (value) => new Intl.NumberFormat("en").format(value);

export function table(heads, rows, caption) {
  const cells = (tag, row, props) => make("tr", {}, ...row.map((cell) => make(tag, props, cell)));
  const grid = make("table", {}, make("thead", {}, cells("th", heads, { scope: "col" })), make("tbody", {}, ...rows.map((row) => cells("td", row, {}))));
  if (caption) grid.prepend(make("caption", {}, caption));
  return make("div", { className: "table", tabIndex: 0, role: "region", ariaLabel: caption ?? heads.join(", ") }, grid);
}

// Draws at the width that the figure has, and again when that changes
function put(figure, title, summary, heads, rows, paint) {
  const plot = make("div", { className: "plot" });
  let drawn = 0;
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.floor(contentRect.width);
    if (width && width !== drawn) plot.replaceChildren(paint(drawn = width));
  }).observe(plot);
  figure.replaceChildren(
    make("figcaption", {}, make("strong", {}, title), make("span", {}, summary)), plot,
    make("details", {}, make("summary", {}, "As a table"), table(heads, rows, title)),
  );
}

function axes(width, count, labels, top, shown) {
  const x = (at) => LEFT + (at + 0.5) * (width - LEFT - RIGHT) / count, y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const marks = [0, top / 2, top].flatMap((value) => [
    draw("line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
    draw("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, shown(value)),
  ]);
  const places = [[0, "start"], [count - 1, "end"], ...(count > 4 ? [[Math.floor(count / 2), "middle"]] : [])];
  marks.push(...places.map(([at, anchor]) => draw("text", { x: x(at), y: HEIGHT - 6, "text-anchor": anchor }, labels[at])));
  return { x, y, marks };
}

const svg = (width, label, ...parts) => draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": label }, ...parts);

// `rows`: [{date, value or null, count}], oldest first. The band goes from the baseline to where an alert would be.
export function rates(figure, title, rows, baseline, noun) {
  const known = rows.filter(({ value }) => value !== null), bar = baseline === null ? null : Math.max(2 * baseline, baseline + 0.1);
  const worst = known.reduce((found, row) => (row.value > (found?.value ?? -1) ? row : found), null);
  const above = bar === null ? [] : known.filter(({ value }) => value >= bar);
  const summary = !worst ? `No ${noun} in these days.`
    : `${baseline === null ? "No baseline yet" : `Baseline ${percent(baseline)}, alert from ${percent(Math.min(bar, 1))}`}. Highest ${percent(worst.value)} on ${day(worst.date)}. `
      + (above.length ? `${above.length} of ${known.length} days with calls at the alert line or above.` : bar === null ? "" : "No day at the alert line.");
  const reach = Math.max(worst?.value ?? 0, bar ?? 0, 0.1), top = [0.2, 0.4, 0.6, 0.8, 1].find((step) => step >= reach) ?? 1;
  put(figure, title, summary, ["Day", title, noun], rows.map(({ date, value, count }) => [date, percent(value), whole(count)]), (width) => {
    const { x, y, marks } = axes(width, rows.length, rows.map(({ date }) => day(date)), top, percent);
    let path = "", open = false;
    const dots = [];
    rows.forEach(({ date, value }, at) => {
      if (value === null) { open = false; return; }
      path += `${open ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      open = true;
      const over = bar !== null && value >= bar, [cx, cy] = [x(at), y(value)];
      const dot = over ? draw("path", { class: "point over", d: `M${cx} ${cy - 5}l5 5-5 5-5-5z` }) : draw("circle", { class: "point", cx, cy, r: 2.5 });
      dot.append(draw("title", {}, `${day(date)}: ${percent(value)}`));
      dots.push(dot);
    });
    const band = bar === null ? [] : [
      draw("rect", { class: "normal", x: LEFT, width: width - LEFT - RIGHT, y: y(Math.min(bar, top)), height: y(baseline) - y(Math.min(bar, top)) }),
      draw("line", { class: "base", x1: LEFT, x2: width - RIGHT, y1: y(baseline), y2: y(baseline) }),
    ];
    return svg(width, `${title}, by day. ${summary}`, ...band, ...marks, draw("path", { class: "curve", d: path || "M0 0" }), ...dots);
  });
}

// `rows`: [{date, judge, consensus}], oldest first
export function calls(figure, rows) {
  const most = Math.max(...rows.map(({ judge, consensus }) => judge + consensus)), total = rows.reduce((sum, row) => sum + row.judge + row.consensus, 0);
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 4)));
  const top = [1, 2, 4, 6, 8, 10].map((step) => step * unit).find((step) => step >= Math.max(most, 4)), busiest = rows.find(({ judge, consensus }) => judge + consensus === most);
  const summary = total ? `${whole(total)} in ${rows.length} days, most on ${day(busiest.date)}: ${whole(most)}. Judge is filled, consensus outlined.` : `None in ${rows.length} days.`;
  put(figure, "Answered calls", summary, ["Day", "Judge", "Consensus"], rows.map((row) => [row.date, whole(row.judge), whole(row.consensus)]), (width) => {
    const { x, y, marks } = axes(width, rows.length, rows.map(({ date }) => day(date)), top, whole);
    const wide = Math.max(2, (width - LEFT - RIGHT) / rows.length - 3);
    const bars = rows.flatMap(({ date, judge, consensus }, at) => [["judged", 0, judge], ["compared", judge, judge + consensus]].map(([name, from, to]) =>
      to > from ? draw("rect", { class: name, x: x(at) - wide / 2, width: wide, y: y(to), height: y(from) - y(to) }, draw("title", {}, `${day(date)}: ${to - from} ${name}`)) : ""));
    return svg(width, `Answered calls by day. ${summary}`, ...marks, ...bars);
  });
}

export function meter(box, used, limit) {
  box.replaceChildren(draw("svg", { viewBox: "0 0 100 2", preserveAspectRatio: "none", class: "meter", role: "img", "aria-label": `${used} of ${limit} free calls used today` },
    draw("rect", { class: "track", width: 100, height: 2 }), draw("rect", { class: `fill ${used < limit ? "none" : "high"}`, width: 100 * Math.min(1, used / limit), height: 2 })));
}
