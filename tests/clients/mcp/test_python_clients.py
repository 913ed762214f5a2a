"""Python clients that people use list and call the tools."""

import json
from typing import Any

import pytest

from api.core.mcp.eras import LEGACY, MODERN
from tests.clients.mcp.conftest import Served
from tests.clients.mcp.environment import run_python
from tests.examples import the_contract

MODES = {"auto": MODERN[0], "legacy": LEGACY[0], "2026-07-28": "2026-07-28"}


def used(served: Served) -> int:
    return int(served.live.request("GET", "/v1/keys/me", key=served.key).json["free_calls"]["used"])


def is_answer(name: str, body: Any) -> bool:
    return the_contract().body_schema(name).faults(body) == []


@pytest.mark.promise("mcp.eras")
@pytest.mark.promise("mcp.tools")
@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_in_each_mode(served: Served, mode: str) -> None:
    before = used(served)
    seen = json.loads(run_python("official", "official.py", served.url, served.key, mode))
    assert seen["version"] == MODES[mode]
    assert seen["tools"] == ["judge", "consensus"]
    if mode != MODERN[0]:  # pinned to a version, the client asks the server nothing about itself
        assert seen["server"] == "ai.screwtape/screwtape"
        assert "judge" in seen["instructions"]
    judged, agreed, wrong = seen["calls"]
    for name, call in (("JudgeResponse", judged), ("ConsensusResponse", agreed)):
        assert call["is_error"] is False
        assert is_answer(name, call["structured"])
        assert json.loads(call["text"]) == call["structured"]
    assert judged["structured"]["verdict"] == "pass"
    assert (wrong["is_error"], wrong["structured"]) == (True, None)
    assert "/agent_output is required" in wrong["text"]
    assert used(served) == before + 2


@pytest.mark.promise("mcp.tools")
@pytest.mark.parametrize("client", ["openai_agents", "langchain", "pydantic_ai"])
def test_an_agent_framework_lists_and_calls(served: Served, client: str) -> None:
    seen = json.loads(run_python(client, f"with_{client}.py", served.url, served.key))
    assert seen["tools"] == ["judge", "consensus"]
    assert is_answer("JudgeResponse", seen["result"])


@pytest.mark.promise("site.agent_card")
def test_the_official_a2a_package_reads_the_agent_card_and_finds_nothing_to_send_to(served: Served) -> None:
    seen = json.loads(run_python("a2a", "card_reader.py", served.base_url))
    assert seen == {
        "name": "Screwtape.ai",
        "skills": ["judge", "consensus"],
        "interfaces": 0,
        "same": True,
        "refusal": "no compatible transports found.",
    }
