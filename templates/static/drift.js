// What GET /v1/drift and GET /v1/alerts say: rates by day, versions, alerts.
const get = (id) => document.getElementById(id), agent = get("agent"), days = get("days");
const METRICS = { fail_rate: "Fail rate", false_consensus_risk: "False consensus" };
const when = (time) => time ? new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : "";
let ask, charts, shared, asked = 0;

// The agents are those of the key's whole answer, which names no agent
function offer(agents) {
  const chosen = agent.value;
  const rows = agents.map(({ agent_id, calls }) => agent_id === "" ? ["untagged=true", `untagged calls (${charts.whole(calls)})`]
    : [`agent_id=${encodeURIComponent(agent_id)}`, `${agent_id} (${charts.whole(calls)})`]);
  agent.replaceChildren(...[["", "all calls together"], ...rows].map(([value, text]) => make("option", { value }, text)));
  agent.value = [...agent.options].some(({ value }) => value === chosen) ? chosen : "";
}

function compare(last, baseline) {
  const { percent, whole } = charts;
  const over = (of, then) => of !== null && then !== null && of >= Math.max(2 * then, then + 0.1);
  const row = (title, of, then, count) => make("div", {}, make("dt", {}, title),
    make("dd", over(of, then) ? { className: "high" } : {}, `${over(of, then) ? "▲ " : ""}${percent(of)}`),
    make("dd", { className: "hint" }, `baseline ${percent(then)}; ${whole(count)} calls in 24 hours`));
  get("day").replaceChildren(
    row("Fail rate", last.fail_rate, baseline.fail_rate, last.judge_calls),
    row("Retry rate", last.retry_rate, baseline.retry_rate, last.judge_calls),
    row("False consensus", last.false_consensus_risk, baseline.false_consensus_risk, last.consensus_calls),
  );
}

function show({ series, baseline, last_24h: last, versions, agents }) {
  if (agents) offer(agents);
  compare(last, baseline);
  const rows = (value, count) => series.map((row) => ({ date: row.date, value: row[value], count: row[count] }));
  charts.rates(get("fail"), "Fail rate", rows("fail_rate", "judge_calls"), baseline.fail_rate, "judge calls");
  charts.rates(get("retry"), "Retry rate", rows("retry_rate", "judge_calls"), baseline.retry_rate, "judge calls");
  charts.rates(get("false"), "False consensus", rows("false_consensus_risk", "consensus_calls"), baseline.false_consensus_risk, "consensus calls");
  get("versions").replaceChildren(versions.length ? charts.table(
    ["Agent", "Version", "First call", "Judge calls", "Fail rate", "Retry rate", "Consensus calls", "False consensus"],
    versions.map((row) => [row.agent_id || "untagged", row.version || "none", when(row.first_call_at), charts.whole(row.judge_calls), charts.percent(row.fail_rate), charts.percent(row.retry_rate),
      charts.whole(row.consensus_calls), charts.percent(row.false_consensus_risk)]), "Versions, with all their calls of these days")
    : make("p", { className: "hint" }, "No call named a version. Send version with your calls to compare them."));
}

async function drift() {
  const mine = ++asked, reply = await ask("GET", `/v1/drift?days=${days.value}${agent.value && `&${agent.value}`}`);
  if (mine !== asked) return;
  get("drift-fault").replaceChildren();
  if (reply.ok) show(reply.answer);
  else if (reply.status !== 401) shared.tellProblem(get("drift-fault"), reply);
}

async function alerts() {
  const reply = await ask("GET", "/v1/alerts?limit=100"), box = get("alerts");
  if (reply.status === 401) return;
  if (!reply.ok) return shared.tellProblem(box, reply);
  const rows = reply.answer.data.map((row) => [when(row.created_at), row.agent_id || "untagged", METRICS[row.metric] ?? row.metric,
    `${charts.percent(row.window.rate)} of ${charts.whole(row.window.calls)} against ${charts.percent(row.baseline.rate)}${row.version ? `, version ${row.version}` : ""}`, delivery(row)]);
  box.replaceChildren(rows.length ? charts.table(["When", "Agent", "What", "Seen", "Delivery"], rows, "Alerts, newest first")
    : make("p", { className: "hint" }, "No alerts. One comes when a rate of 20 or more calls is twice its baseline, and 10 points above it."));
}

function delivery({ delivery: sent }) {
  if (!sent) return "no webhook was set";
  const { status, attempts, last_status, last_error, next_attempt_at } = sent;
  const why = status === "delivered" || !last_error ? "" : `: ${last_status ?? last_error.replaceAll("_", " ")}`;
  const tries = attempts > 1 ? `, ${attempts} attempts` : "", next = next_attempt_at ? `, next ${when(next_attempt_at)}` : "";
  return `${{ delivered: "✓", pending: "…", failed: "✕", cancelled: "–" }[status] ?? ""} ${status}${why}${tries}${next}`;
}

for (const choice of [agent, days]) choice.addEventListener("change", drift);

export async function load(asking, drawing, telling) {
  [ask, charts, shared] = [asking, drawing, telling];
  await Promise.all([drift(), alerts()]);
}
