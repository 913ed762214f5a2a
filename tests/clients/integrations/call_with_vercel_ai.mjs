// Has a model of the SDK's own call the example's judge tool, and prints the result of that.

import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { consensus, judge } from "./screwtape_vercel_ai.mjs";

const input = {
  task: "State the crew size.",
  agent_output: "The crew size was 5.",
  evidence: ["The crew size was 4."],
  criteria: [],
};
const model = new MockLanguageModelV4({
  doGenerate: async () => ({
    finishReason: { unified: "tool-calls", raw: undefined },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
    warnings: [],
    content: [{ type: "tool-call", toolCallId: "1", toolName: "judge", input: JSON.stringify(input) }],
  }),
});
const tools = { judge, consensus };
const { toolResults } = await generateText({ model, tools, stopWhen: isStepCount(1), prompt: "Judge the answer." });
console.log(JSON.stringify(toolResults[0].output));
