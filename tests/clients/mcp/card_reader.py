"""The official A2A package reads an agent card, strictly. Run with its own environment.

    python card_reader.py BASE_URL

Fetches the card as a client does, then says what a client can do with it. Prints what it saw as JSON.
"""

import asyncio
import json
import sys

import httpx

# mypy runs without the packages of this environment, hence the comments.
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory  # type: ignore[import-not-found]
from a2a.types import AgentCard  # type: ignore[import-not-found]
from google.protobuf import json_format  # type: ignore[import-untyped]


async def main(base_url: str) -> None:
    """Reads the card of the server at `base_url`."""
    async with httpx.AsyncClient() as http:
        resolved = await A2ACardResolver(http, base_url).get_agent_card()
        text = (await http.get(f"{base_url}/.well-known/agent-card.json")).text
    strict = json_format.Parse(text, AgentCard(), ignore_unknown_fields=False)
    try:
        ClientFactory(ClientConfig()).create(resolved)
        refusal = ""
    except ValueError as error:
        refusal = str(error)
    seen = {
        "name": strict.name,
        "skills": [skill.id for skill in strict.skills],
        "interfaces": len(strict.supported_interfaces),
        "same": strict == resolved,
        "refusal": refusal,
    }
    print(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
