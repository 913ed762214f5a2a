"""The cards: what they must hold, where they are, and that the running server says the same."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live import Live, live_server
from tests.site.conftest import BASE_URL, Project
from tests.web.mcp import modern, rpc

CARD_TYPE = "application/mcp-server-card+json"
SERVER_CARDS = ("/.well-known/mcp/server-card.json", "/mcp/server-card")
CATALOG, AGENT_CARD = "/.well-known/ai-catalog.json", "/.well-known/agent-card.json"


@pytest.fixture(scope="module")
def site(built: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("cards"), dist=built.out) as live:
        yield live


def card(site: Live, path: str) -> Any:
    answer = site.request("GET", path)
    assert answer.status == 200, path
    return answer.json


@pytest.mark.promise("site.server_card")
def test_the_server_card_is_at_its_places_and_found_through_the_catalogue(site: Live) -> None:
    one, other = (site.request("GET", path) for path in SERVER_CARDS)
    assert one.body == other.body
    catalog = card(site, CATALOG)
    assert catalog["specVersion"] == "1.0"
    [entry] = catalog["entries"]
    assert entry == {
        "identifier": "urn:air:screwtape.ai:mcp:screwtape",
        "type": CARD_TYPE,
        "url": BASE_URL + SERVER_CARDS[0],
    }


@pytest.mark.promise("site.server_card")
@pytest.mark.promise("http.discovery_cors")
@pytest.mark.parametrize("path", [*SERVER_CARDS, CATALOG, AGENT_CARD])
def test_a_card_is_served_for_everybody_to_keep_an_hour(site: Live, path: str) -> None:
    answer = site.request("GET", path, headers={"Origin": "https://anywhere.example"})
    assert answer.headers["content-type"] == (CARD_TYPE if path in SERVER_CARDS else "application/json")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cache-control"] == "public, max-age=3600"
    again = site.request("GET", path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.promise("site.server_card")
def test_the_server_card_says_what_the_server_says(site: Live) -> None:
    found = card(site, SERVER_CARDS[0])
    hello = rpc(site, "initialize").json["result"]
    discovered = modern(site, "server/discover").json["result"]
    for info in (hello["serverInfo"], discovered["_meta"]["io.modelcontextprotocol/serverInfo"]):
        assert {name: found[name] for name in ("name", "version", "title", "description")} == {
            name: info[name] for name in ("name", "version", "title", "description")
        }
    [remote] = found["remotes"]
    assert remote == {
        "type": "streamable-http",
        "url": f"{BASE_URL}/mcp",
        "supportedProtocolVersions": discovered["supportedVersions"],
    }
    assert found["$schema"] == "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
    assert found["name"] == "ai.screwtape/screwtape"
    assert len(found["description"]) <= 100
    assert "tools" not in found


@pytest.mark.promise("site.agent_card")
def test_the_agent_card_has_the_tools_as_skills_and_claims_no_more(site: Live) -> None:
    found = card(site, AGENT_CARD)
    wanted = (
        "name description supportedInterfaces version capabilities defaultInputModes defaultOutputModes skills".split()
    )
    assert set(wanted) <= set(found)
    assert not {"url", "preferredTransport", "protocolVersion"} & set(found)
    assert found["supportedInterfaces"] == []
    assert "SendMessage is not implemented" in found["description"]
    assert site.request("GET", found["documentationUrl"].removeprefix(BASE_URL)).status == 200
    tools = rpc(site, "tools/list").json["result"]["tools"]
    assert [(skill["id"], skill["name"]) for skill in found["skills"]] == [
        (tool["name"], tool["title"]) for tool in tools
    ]
    for skill in found["skills"]:
        assert skill["description"]
        assert skill["tags"]


@pytest.mark.promise("site.server_card")
@pytest.mark.promise("site.agent_card")
def test_llms_txt_lists_them(built: Project) -> None:
    text = (built.out / "llms.txt").read_text(encoding="utf-8")
    docs = text.partition("## Docs")[2].partition("## ")[0]
    places = [docs.index(f"({BASE_URL}{path})") for path in ("/docs", "/openapi.json", SERVER_CARDS[0], "/privacy")]
    assert places == sorted(places)
    assert f"({BASE_URL}{AGENT_CARD})" in text.partition("## Machine-readable")[2].partition("## ")[0]


FAULTS = [
    ("content/cards/agent.yaml", "  judge:", "  judges:", "skills must be the tools: judge, consensus"),
    ("content/cards/agent.yaml", "tags: [", "words: [", "needs description and tags, and nothing else, for judge"),
    ("content/cards/mcp.yaml", "identifier:", "identity:", "the key identifier is missing"),
]


@pytest.mark.parametrize(("file", "old", "new", "message"), FAULTS)
def test_a_broken_card_fails_the_build(project: Project, file: str, old: str, new: str, message: str) -> None:
    project.edit(file, old, new)
    found = project.faults()
    assert any(fault.startswith(f"{Path(file)}:") and message in fault for fault in found), found
