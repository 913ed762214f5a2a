"""A LangGraph node that stores Screwtape.ai's verdict on the state."""

import json
import os
import sys
import urllib.error
import urllib.request
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph

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


class State(TypedDict, total=False):
    """What the node reads (evidence and criteria are optional) and writes (verdict)."""

    task: str
    agent_output: str
    evidence: list[str]
    criteria: list[str]
    verdict: dict[str, Any]


def judge(state: State) -> State:
    """The node: judges `agent_output` and stores the reply."""
    sent = ("task", "agent_output", "evidence", "criteria")
    body = {name: state[name] for name in sent if name in state}
    return {"verdict": post("/v1/judge", body)}


builder = StateGraph(State)
builder.add_node("judge", judge)
builder.add_edge(START, "judge")
builder.add_edge("judge", END)
graph = builder.compile()


def main() -> None:
    print(json.dumps(graph.invoke(JUDGE)["verdict"], indent=2))
    print(json.dumps(post("/v1/consensus", CONSENSUS), indent=2))


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(str(error))
