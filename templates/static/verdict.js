// Draws what the API answered. Loaded when the first answer comes.
const SVG = "http://www.w3.org/2000/svg";
const draw = (tag, attributes, ...children) => {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const VERDICTS = { pass: "✓", retry: "↻", fail: "✕" }, RISKS = { low: "●", medium: "◆", high: "▲" };
const WIDTH = 400;
const line = (text, name = "") => make("p", { className: name }, text);
const list = (items, name = "") => make("ul", { className: name }, ...items.map((item) => make("li", {}, ...[item].flat())));
const part = (title, ...body) => [make("h3", {}, title), ...body];
const icon = (sign) => Object.assign(make("span", { className: "icon" }, sign), { ariaHidden: "true" });
const quoted = (text) => make("q", {}, text);
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function scale(score, verdict) {
  const bands = [["fail", 0, 0.4], ["retry", 0.4, 0.7], ["pass", 0.7, 1]];
  const at = (value) => 6 + value * (WIDTH - 12);
  return draw("svg", { viewBox: `0 0 ${WIDTH} 54`, class: "scale", role: "img", "aria-label": `Score ${score}: ${verdict}. Fail is below 0.40, retry below 0.70, pass from there.` },
    ...bands.flatMap(([name, from, to]) => [
      draw("rect", { class: `band ${name}${name === verdict ? " on" : ""}`, x: at(from) + 1, y: 18, width: at(to) - at(from) - 2, height: 10, rx: 2 }),
      draw("text", { x: (at(from) + at(to)) / 2, y: 46, "text-anchor": "middle" }, name),
      ...(from ? [draw("text", { x: at(from), y: 46, "text-anchor": "middle" }, from.toFixed(1))] : []),
    ]),
    draw("path", { class: `mark ${verdict}`, d: `M${at(score)} 16l-6 -10h12z` }));
}

function bar(score, risk) {
  const at = (value) => value * WIDTH;
  return draw("svg", { viewBox: `0 0 ${WIDTH} 42`, class: "scale", role: "img", "aria-label": `Agreement ${score}. 0.6 is a majority, 0.8 a broad one.` },
    draw("rect", { class: "track", x: 0.5, y: 4, width: WIDTH - 1, height: 12, rx: 3 }),
    draw("rect", { class: `fill ${risk}`, x: 0.5, y: 4, width: at(score), height: 12, rx: 3 }),
    ...[0.6, 0.8].flatMap((value) => [
      draw("line", { class: "tick", x1: at(value), x2: at(value), y1: 1, y2: 20 }),
      draw("text", { x: at(value), y: 36, "text-anchor": "middle" }, value),
    ]));
}

const STATUS = { supported: "✓", partial: "◐", unsupported: "↻", contradicted: "✕" };
function judged({ verdict, score, reasons, signals }) {
  const claims = signals?.claims ?? [], criteria = signals?.criteria ?? [];
  return [
    make("h2", { className: `verdict ${verdict}` }, icon(VERDICTS[verdict]), verdict, make("span", { className: "score" }, score.toFixed(2))),
    scale(score, verdict),
    ...part("Reasons", list(reasons)),
    ...(claims.length ? part("Claims", list(claims.map((claim) => [
      icon(STATUS[claim.status]), make("strong", {}, claim.status), " ", quoted(claim.text),
      claim.conflicts.length ? `: ${claim.conflicts.join("; ")}` : claim.missing.length ? `, not found: ${claim.missing.join(", ")}`
        : claim.evidence_index === null ? "" : `, by evidence ${claim.evidence_index + 1}`,
    ]), "findings")) : []),
    ...(criteria.length ? part("Criteria", list(criteria.map(({ text, met, why }) =>
      [icon(met ? "✓" : "✕"), make("strong", {}, met ? "met" : "not met"), " ", make("code", {}, text), `: ${why}`]), "findings")) : []),
  ];
}

function agreed({ reasons, consensus_answer, agreement_score, false_consensus_risk: risk, clusters, signals }) {
  const total = clusters.reduce((sum, cluster) => sum + cluster.size, 0);
  const winner = clusters.find((cluster) => cluster.size === Math.max(...clusters.map(({ size }) => size)));
  const { conflicts = [], dissents = [], copies = [], effective_agents } = signals ?? {};
  const notes = [
    ...conflicts.map(({ kind, values, agent_ids }) => `One cluster, another ${kind}: ${agent_ids.map((agent, at) => `${agent} says ${values[at]}`).join(", ")}.`),
    ...copies.map(({ agent_ids, containment }) => `${agent_ids.join(" and ")} repeat each other: ${Math.round(containment * 100)}% of the shorter answer stands in the other.`),
    ...dissents.flatMap(({ agent_id, differs }) => differs.map(({ kind, values, against }) => `${agent_id} dissents in ${{ key: "the final answer", negation: "a negation" }[kind] ?? `a ${kind}`}: ${values.join(", ") || "nothing"} against ${against.join(", ") || "nothing"}.`)),
    ...(effective_agents ? [`The answers amount to ${plural(effective_agents, "independent agent")}.`] : []),
  ];
  return [
    make("h2", { className: `verdict ${risk}` }, icon(RISKS[risk]), `${risk} risk`, make("span", { className: "score" }, `agreement ${agreement_score}`)),
    bar(agreement_score, risk),
    ...part("Reasons", list(reasons)),
    ...part(`${winner.size} of ${total} agents answer`, make("blockquote", {}, consensus_answer)),
    ...part(plural(clusters.length, "cluster"), make("ul", { className: "clusters" }, ...clusters.map((cluster) => make("li", { className: cluster === winner ? "won" : "lost" },
      ...cluster.agent_ids.map((agent) => make("span", {}, agent))))),
    ),
    ...(notes.length ? part("Signals", list(notes)) : []),
  ];
}

export function show(box, { answer, headers }, body) {
  const free = /"free";r=(\d+)/.exec(headers.get("RateLimit") ?? ""), kept = answer.retention;
  const facts = {
    Engine: answer.engine,
    "Request id": answer.request_id,
    Kept: kept.retained ? `until ${new Date(kept.expires_at).toLocaleString()}` : kept.reason ?? "no",
    ...(free && { "Free calls left": free[1] }),
  };
  box.replaceChildren(
    ...("answers" in body ? agreed(answer) : judged(answer)),
    make("dl", { className: "pairs" }, ...Object.entries(facts).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
    make("details", {}, make("summary", {}, "The answer as JSON"), make("div", { className: "code" }, Object.assign(make("pre", {}, JSON.stringify(answer, null, 2)), { tabIndex: 0 }))),
  );
}
