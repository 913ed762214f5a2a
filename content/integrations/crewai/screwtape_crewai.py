"""A CrewAI tool that asks Screwtape.ai for a verdict on an agent's output."""

import json
import os
import sys
import urllib.error
import urllib.request
from typing import Any

from crewai import Agent
from crewai.tools import BaseTool
from pydantic import BaseModel, Field

BASE_URL = os.environ.get("SCREWTAPE_BASE_URL", "https://screwtape.ai").rstrip("/")
TIMEOUT_S = 30
JUDGE = {
    "task": "State the crew size and launch site.",
    "agent_output": "The crew size was 4. The mission launched from Cape Canaveral.",
    "evidence": ["The mission launched on 2024-03-01 from Cape Canaveral.", "The crew size was 4."],
    "criteria": ["crew size", "Cape Canaveral"],
}
CONSENSUS = {
    "task": "State the crew size.",
    "answers": [
        {"agent_id": "alpha", "output": "The crew size was 4."},
        {"agent_id": "beta", "output": "The crew size was 4."},
        {"agent_id": "gamma", "output": "The crew size was 4."},
    ],
}


def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Sends `body` and returns the JSON object of the reply. Raises RuntimeError with the reason when there is none."""
    key = os.environ.get("SCREWTAPE_API_KEY")
    if not key:
        raise RuntimeError("SCREWTAPE_API_KEY is not set. A free key: " + BASE_URL + "/signup")
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", "User-Agent": "screwtape-example"}
    request = urllib.request.Request(BASE_URL + path, json.dumps(body).encode(), headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            text = response.read()
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{path}: HTTP {error.code}: {explanation(error.read())}") from error
    except OSError as error:
        raise RuntimeError(f"{path}: no answer: {error}") from error
    try:
        reply = json.loads(text)
    except ValueError as error:
        raise RuntimeError(f"{path}: the reply is not JSON") from error
    if not isinstance(reply, dict):
        raise RuntimeError(f"{path}: the reply is not a JSON object")
    return reply


def explanation(body: bytes) -> str:
    """What a problem document says in words, or the beginning of whatever else came."""
    try:
        problem = json.loads(body)
        faults = "".join(f" {fault['path']} {fault['message']}." for fault in problem.get("errors", []))
        return f"{problem['detail']}{faults} (request {problem['request_id']})"
    except (ValueError, KeyError, TypeError, AttributeError):
        return body[:200].decode(errors="replace")


class JudgeInput(BaseModel):
    """What the agent fills in. Evidence and criteria are yours, so that it can't choose what it is measured by."""

    task: str = Field(description="What the agent was asked to do.")
    agent_output: str = Field(description="The output to judge.")


class ScrewtapeJudge(BaseTool):
    """Judges an output against the evidence and criteria that the tool was made with."""

    name: str = "screwtape_judge"
    description: str = "Judges an answer before it is used: pass, fail or retry, with reasons."
    args_schema: type[BaseModel] = JudgeInput
    evidence: list[str] = Field(default_factory=list)
    criteria: list[str] = Field(default_factory=list)

    def _run(self, task: str, agent_output: str) -> str:
        body = {"task": task, "agent_output": agent_output, "evidence": self.evidence, "criteria": self.criteria}
        return json.dumps(post("/v1/judge", body), indent=2)


def reviewer(tool: ScrewtapeJudge) -> Agent:
    """An agent that has the tool. Give it a task in a Crew; only then is a model needed."""
    return Agent(
        role="Reviewer",
        goal="Let no answer through that the evidence does not support",
        backstory="You judge each answer with the tool and quote its reasons.",
        llm="openai/gpt-4.1-mini",
        tools=[tool],
    )


def main() -> None:
    """Calls the tool that the agent has, as the agent would. Running the agent needs a model; this does not."""
    agent = reviewer(ScrewtapeJudge(evidence=JUDGE["evidence"], criteria=JUDGE["criteria"]))
    print(agent.tools[0].run(task=JUDGE["task"], agent_output=JUDGE["agent_output"]))
    print(json.dumps(post("/v1/consensus", CONSENSUS), indent=2))


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(str(error))
