"""Pure. The cards by which programs find the service: the MCP server card, the catalogue that leads to it, the A2A
agent card (PROTOCOLS.md sections 2 and 3)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from api.contract import tools
from api.core.mcp.eras import SUPPORTED
from site_build.machine import json_bytes
from site_build.model import Output, Site

SERVER_CARD_TYPE = "application/mcp-server-card+json"
SERVER_CARD = "/.well-known/mcp/server-card.json"
CATALOG = "/.well-known/ai-catalog.json"
AGENT_CARD = "/.well-known/agent-card.json"
_JSON = "application/json"


def cards(site: Site) -> list[Output]:
    """The files, each with its route."""
    documents = (
        (SERVER_CARD, server_card, SERVER_CARD_TYPE),
        ("/mcp/server-card", server_card, SERVER_CARD_TYPE),
        (CATALOG, catalog, _JSON),
        (AGENT_CARD, agent_card, _JSON),
    )
    return [
        Output(route[1:], route, kind, "discovery", site.digest, partial(_bytes, document, site))
        for route, document, kind in documents
    ]


def _bytes(document: Callable[[Site], dict[str, Any]], site: Site) -> bytes:
    return json_bytes(document(site))


def server_card(site: Site) -> dict[str, Any]:
    """The card of SEP-2127. Tools are left to tools/list."""
    words = site.contract.operations["mcp"].spec["x-mcp-server"]
    return {
        "$schema": site.cards["mcp"]["schema"],
        "name": words["name"],
        "version": site.contract.version,
        "title": words["title"],
        "description": words["description"],
        "websiteUrl": site.base_url,
        "remotes": [
            {"type": "streamable-http", "url": f"{site.base_url}/mcp", "supportedProtocolVersions": list(SUPPORTED)}
        ],
    }


def catalog(site: Site) -> dict[str, Any]:
    """What leads to the server card."""
    entry = {
        "identifier": site.cards["mcp"]["identifier"],
        "type": SERVER_CARD_TYPE,
        "url": site.base_url + SERVER_CARD,
    }
    return {"specVersion": "1.0", "entries": [entry]}


def agent_card(site: Site) -> dict[str, Any]:
    """The A2A card. Any interface in it would claim SendMessage, which is not there."""
    words: Mapping[str, Any] = site.cards["agent"]
    return {
        "name": words["name"],
        "description": words["description"],
        "supportedInterfaces": [],
        "provider": {"organization": words["organization"], "url": site.base_url},
        "version": site.contract.version,
        "documentationUrl": f"{site.base_url}/docs",
        "capabilities": {"streaming": False, "pushNotifications": False},
        "defaultInputModes": [_JSON],
        "defaultOutputModes": [_JSON],
        "skills": [
            {"id": name, "name": tool["title"], **words["skills"][name]} for name, tool in tools(site.contract).items()
        ],
    }
