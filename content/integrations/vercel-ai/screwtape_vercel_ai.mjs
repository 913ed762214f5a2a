// Vercel AI SDK tools that ask Screwtape.ai for a verdict and for a consensus.

import { tool } from "ai";
import { z } from "zod";

const BASE_URL = (process.env.SCREWTAPE_BASE_URL ?? "https://screwtape.ai").replace(/\/+$/, "");
const TIMEOUT_MS = 30_000;
const JUDGE = {
  task: "State the crew size and launch site.",
  agent_output: "The crew size was 4. The mission launched from Cape Canaveral.",
  evidence: [
    "The mission launched on 2024-03-01 from Cape Canaveral.",
    "The crew size was 4.",
  ],
  criteria: ["crew size", "Cape Canaveral"],
};
const CONSENSUS = {
  task: "State the crew size.",
  answers: [
    { agent_id: "alpha", output: "The crew size was 4." },
    { agent_id: "beta", output: "The crew size was 4." },
    { agent_id: "gamma", output: "The crew size was 4." },
  ],
};

/** Sends `body` and returns the JSON object of the reply. Throws an Error with the reason when there is none. */
export async function post(path, body, abortSignal) {
  const key = process.env.SCREWTAPE_API_KEY;
  if (!key) throw new Error(`SCREWTAPE_API_KEY is not set. Get one: ${BASE_URL}/signup`);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let response, text;
  try {
    response = await fetch(BASE_URL + path, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: abortSignal ? AbortSignal.any([abortSignal, timeout]) : timeout,
    });
    text = await response.text();
  } catch (error) {
    throw new Error(`${path}: no answer: ${error.cause?.message ?? error.message}`, { cause: error });
  }
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}: ${explanation(text)}`);
  let reply;
  try {
    reply = JSON.parse(text);
  } catch {
    throw new Error(`${path}: the reply is not JSON`);
  }
  if (reply === null || typeof reply !== "object" || Array.isArray(reply)) {
    throw new Error(`${path}: the reply is not a JSON object`);
  }
  return reply;
}

/** What a problem document says, or the beginning of whatever else came. */
function explanation(text) {
  try {
    const problem = JSON.parse(text);
    const faults = (problem.errors ?? []).map((fault) => `${fault.path} ${fault.message}`);
    return [problem.detail, ...faults, problem.request_id].join("; ");
  } catch {
    return text.slice(0, 200);
  }
}

export const judge = tool({
  description: "Judges an answer before it is used: pass, fail or retry, with reasons.",
  inputSchema: z.object({
    task: z.string().describe("What the agent was asked to do."),
    agent_output: z.string().describe("The output to judge."),
    evidence: z.array(z.string()).describe("Texts that the output is checked against."),
    criteria: z.array(z.string()).describe("What the output must do."),
  }),
  execute: (input, { abortSignal } = {}) => post("/v1/judge", input, abortSignal),
});

export const consensus = tool({
  description: "Scores how far several answers agree and how risky it is to trust that.",
  inputSchema: z.object({
    task: z.string().describe("What the agents were asked to do."),
    answers: z.array(z.object({ agent_id: z.string(), output: z.string() })).min(2).max(16),
  }),
  execute: (input, { abortSignal } = {}) => post("/v1/consensus", input, abortSignal),
});

if (import.meta.main ?? process.argv[1]?.endsWith("screwtape_vercel_ai.mjs")) {
  try {
    // Only generateText needs a model; the tools are called here as it would call them.
    console.log(JSON.stringify(await judge.execute(JUDGE, { toolCallId: "1", messages: [] }), null, 2));
    console.log(JSON.stringify(await consensus.execute(CONSENSUS, { toolCallId: "2", messages: [] }), null, 2));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
