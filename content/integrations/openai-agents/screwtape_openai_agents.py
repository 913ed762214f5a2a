"""OpenAI Agents SDK tools that ask Screwtape.ai for a verdict and for a consensus."""

import json
import os
import sys
import urllib.error
import urllib.request
from typing import Any

from agents import Agent, function_tool
from pydantic import BaseModel

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


class Answer(BaseModel):
    """One agent's answer."""

    agent_id: str
    output: str


@function_tool
def judge(
    task: str, agent_output: str, evidence: list[str], criteria: list[str]
) -> str:
    """Judges an answer before it is used: pass, fail or retry.

    Args:
        task: What the agent was asked to do.
        agent_output: The output to judge.
        evidence: Texts that the output is checked against.
        criteria: What the output must do.
    """
    body = {
        "task": task,
        "agent_output": agent_output,
        "evidence": evidence,
        "criteria": criteria,
    }
    return json.dumps(post("/v1/judge", body), indent=2)


@function_tool
def consensus(task: str, answers: list[Answer]) -> str:
    """Scores how far several answers agree and how risky it is to trust that.

    Args:
        task: What the agents were asked to do.
        answers: Their answers, at least two.
    """
    body = {"task": task, "answers": [answer.model_dump() for answer in answers]}
    return json.dumps(post("/v1/consensus", body), indent=2)


reviewer = Agent(
    name="Reviewer",
    instructions="Judge each answer with the tool. Let through only what passes.",
    tools=[judge, consensus],
)


def main() -> None:
    """Calls the functions inside the tools. Only running the agent needs a model."""
    print(judge.__wrapped__(**JUDGE))
    answers = [Answer(**answer) for answer in CONSENSUS["answers"]]
    print(consensus.__wrapped__(CONSENSUS["task"], answers))


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(str(error))
