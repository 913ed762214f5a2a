"""The OpenAI Agents SDK against a server. Run with its own environment.

    python with_openai_agents.py URL KEY

Prints the tools that it saw and what the call of one gave, as JSON.
"""

import asyncio
import json
import sys

# mypy runs without the packages of this environment, hence the comments.
from agents.mcp import MCPServerStreamableHttp  # type: ignore[import-not-found]

JUDGE = {"task": "State the crew size.", "agent_output": "The crew size was 4.", "evidence": ["The crew size was 4."]}


async def main(url: str, key: str) -> None:
    """Speaks to the server at `url`."""
    params = {"url": url, "headers": {"Authorization": f"Bearer {key}"}}
    async with MCPServerStreamableHttp(params=params) as server:
        tools = await server.list_tools()
        called = await server.call_tool("judge", JUDGE)
    print(json.dumps({"tools": [tool.name for tool in tools], "result": json.loads(called.content[0].text)}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
