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
    "evidence": [
        "The mission launched on 2024-03-01 from Cape Canaveral.",
        "The crew size was 4.",
    ],
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
    """Sends `body` and returns the JSON object of the reply.

    Raises RuntimeError with the reason when there is none.
    """
    key = os.environ.get("SCREWTAPE_API_KEY")
    if not key:
        raise RuntimeError(f"SCREWTAPE_API_KEY is not set. Get one: {BASE_URL}/signup")
    request = urllib.request.Request(
        BASE_URL + path,
        method="POST",
        headers={
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "User-Agent": "screwtape-example",
        },
        data=json.dumps(body).encode(),
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            text = response.read()
    except urllib.error.HTTPError as error:
        reason = explanation(error.read())
        raise RuntimeError(f"{path}: HTTP {error.code}: {reason}") from error
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
    """What a problem document says, or the beginning of whatever else came."""
    try:
        problem = json.loads(body)
        faults = [f"{f['path']} {f['message']}" for f in problem.get("errors", [])]
        return "; ".join([problem["detail"], *faults, problem["request_id"]])
    except (ValueError, KeyError, TypeError, AttributeError):
        return body[:200].decode(errors="replace")


class JudgeInput(BaseModel):
    """What the agent fills in. What it is measured by is not its choice."""

    task: str = Field(description="What the agent was asked to do.")
    agent_output: str = Field(description="The output to judge.")


class ScrewtapeJudge(BaseTool):
    """Judges an output against the evidence and criteria that you give the tool."""

    name: str = "screwtape_judge"
    description: str = "Judges an answer before it is used: pass, fail or retry."
    args_schema: type[BaseModel] = JudgeInput
    evidence: list[str] = Field(default_factory=list)
    criteria: list[str] = Field(default_factory=list)

    def _run(self, task: str, agent_output: str) -> str:
        body = {
            "task": task,
            "agent_output": agent_output,
            "evidence": self.evidence,
            "criteria": self.criteria,
        }
        return json.dumps(post("/v1/judge", body), indent=2)


def reviewer(tool: ScrewtapeJudge) -> Agent:
    """An agent that has the tool. A model is needed once a Crew runs it."""
    return Agent(
        role="Reviewer",
        goal="Let no answer through that the evidence does not support",
        backstory="You judge each answer with the tool and quote its reasons.",
        llm="openai/gpt-4.1-mini",
        tools=[tool],
    )


def main() -> None:
    """Calls the tool as the agent would. Only running it needs a model."""
    tool = ScrewtapeJudge(evidence=JUDGE["evidence"], criteria=JUDGE["criteria"])
    agent = reviewer(tool)
    print(agent.tools[0].run(task=JUDGE["task"], agent_output=JUDGE["agent_output"]))
    print(json.dumps(post("/v1/consensus", CONSENSUS), indent=2))


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(str(error))
