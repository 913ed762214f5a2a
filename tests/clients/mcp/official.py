"""The official Python client against a server: run with the environment of these tests.

    python official.py URL KEY MODE

Lists and calls the tools in one mode of the client, and prints what it saw as JSON.
"""

import asyncio
import json
import sys
from typing import Any

# mypy runs without the packages of this environment, hence the comments.
from mcp.client import Client  # type: ignore[import-not-found]
from mcp.client.streamable_http import streamable_http_client  # type: ignore[import-not-found]
from mcp.shared._httpx_utils import create_mcp_http_client  # type: ignore[import-not-found]

JUDGE = {"task": "State the crew size.", "agent_output": "The crew size was 4.", "evidence": ["The crew size was 4."]}
CONSENSUS = {
    "task": "State the crew size.",
    "answers": [{"output": "The crew size was 4."}, {"output": "It was five."}],
}


async def main(url: str, key: str, mode: str) -> None:
    """Speaks to the server at `url`."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        listed = await client.list_tools()
        calls = [
            await client.call_tool("judge", JUDGE),
            await client.call_tool("consensus", CONSENSUS),
            await client.call_tool("judge", {"task": "t"}),
        ]
        seen = {
            "version": client.protocol_version,
            "server": client.server_info and client.server_info.name,
            "instructions": client.instructions,
            "tools": [tool.name for tool in listed.tools],
            "calls": [_told(call) for call in calls],
        }
    print(json.dumps(seen))


def _told(call: Any) -> dict[str, Any]:
    return {"is_error": call.is_error, "structured": call.structured_content, "text": call.content[0].text}


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
