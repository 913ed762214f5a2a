"""A Pydantic AI agent whose output has to pass Screwtape.ai before anybody gets it."""

import json
import os
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.models.test import TestModel

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


@dataclass
class Work:
    """What the output is judged against, and the last verdict on it."""

    task: str
    evidence: list[str] = field(default_factory=list)
    criteria: list[str] = field(default_factory=list)
    verdict: dict[str, Any] | None = None


# Name your model here, as "provider:model". An output that doesn't pass goes
# back to it with the reasons, up to two times.
writer = Agent(deps_type=Work, output_type=str, retries=2)


@writer.output_validator
def passes(ctx: RunContext[Work], output: str) -> str:
    """Lets through what passes. What doesn't goes back to the model."""
    work = ctx.deps
    body = {
        "task": work.task,
        "agent_output": output,
        "evidence": work.evidence,
        "criteria": work.criteria,
    }
    work.verdict = post("/v1/judge", body)
    if work.verdict["verdict"] != "pass":
        raise ModelRetry("\n".join(work.verdict["reasons"]))
    return output


def consensus(task: str, answers: list[dict[str, str]]) -> dict[str, Any]:
    """How far the answers of several agents agree, and whether to trust that."""
    return post("/v1/consensus", {"task": task, "answers": answers})


def main() -> None:
    """Runs the agent on a model of the package's own that says one fixed text."""
    work = Work(JUDGE["task"], JUDGE["evidence"], JUDGE["criteria"])
    model = TestModel(custom_output_text=JUDGE["agent_output"])
    writer.run_sync(work.task, deps=work, model=model)
    print(json.dumps(work.verdict, indent=2))
    print(json.dumps(consensus(**CONSENSUS), indent=2))


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(str(error))
