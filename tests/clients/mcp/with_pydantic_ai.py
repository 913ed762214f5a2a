"""Pydantic AI against a server: an agent whose model is a stub that calls `judge`. Run with its own environment.

    python with_pydantic_ai.py URL KEY

Prints the tools that it saw and what the call of one gave, as JSON.
"""

import asyncio
import json
import sys

# mypy runs without the packages of this environment, hence the comments.
from pydantic_ai import Agent  # type: ignore[import-not-found]
from pydantic_ai.mcp import MCPToolset  # type: ignore[import-not-found]
from pydantic_ai.messages import ToolReturnPart  # type: ignore[import-not-found]
from pydantic_ai.models.test import TestModel  # type: ignore[import-not-found]


async def main(url: str, key: str) -> None:
    """Speaks to the server at `url`."""
    model = TestModel(call_tools=["judge"])
    toolset = MCPToolset(url, headers={"Authorization": f"Bearer {key}"})
    done = await Agent(model, toolsets=[toolset]).run("Judge it.")
    returned = [part for message in done.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]
    tools = [tool.name for tool in model.last_model_request_parameters.function_tools]
    print(json.dumps({"tools": tools, "result": returned[0].content}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
