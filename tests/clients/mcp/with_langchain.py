"""LangChain's MCP adapters against a server. Run with their own environment.

    python with_langchain.py URL KEY

Prints the tools that they saw and what the call of one gave, as JSON.
"""

import asyncio
import json
import sys

# mypy runs without the packages of this environment, hence the comments.
from langchain_mcp_adapters.client import MultiServerMCPClient  # type: ignore[import-not-found]

JUDGE = {"task": "State the crew size.", "agent_output": "The crew size was 4.", "evidence": ["The crew size was 4."]}


async def main(url: str, key: str) -> None:
    """Speaks to the server at `url`."""
    headers = {"Authorization": f"Bearer {key}"}
    client = MultiServerMCPClient({"screwtape": {"transport": "streamable_http", "url": url, "headers": headers}})
    tools = {tool.name: tool for tool in await client.get_tools()}
    content = await tools["judge"].ainvoke(JUDGE)
    print(json.dumps({"tools": list(tools), "result": json.loads(content[0]["text"])}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
