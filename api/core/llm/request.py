"""Pure. The body of a request for a chat completion."""

import json
import re
from typing import Any

from api.core.llm.untrusted import clean

NONCE_BYTES = 12
_PLACE = re.compile(r"\{(nonce|data)\}")

_FIELDS = {"judge": ("task", "agent_output", "evidence", "criteria"), "consensus": ("task", "answers")}
"""What a model gets to see of a body. Tags and switches are none of its business."""


def shown(operation: str, body: dict[str, Any]) -> dict[str, Any]:
    """The untrusted fields of a body as a model gets them: cleaned, lists that were left out as empty ones."""
    return {name: clean(body.get(name, [])) for name in _FIELDS[operation]}


def request(model: str, system: str, user: str, fields: dict[str, Any], nonce: str, *, json_mode: bool) -> str:
    """The JSON body that asks `model` about `fields` (see `shown`), which stand as one JSON object in the place that
    `user` has for them and nowhere else."""
    values = {"nonce": nonce, "data": json.dumps(fields, ensure_ascii=False)}
    document: dict[str, Any] = {
        "model": model,
        "messages": [
            # In one pass each: what a field holds is never looked at for places again.
            {"role": role, "content": _PLACE.sub(lambda place: values[place[1]], text)}
            for role, text in (("system", system), ("user", user))
        ],
        "temperature": 0,
    }
    if json_mode:
        document["response_format"] = {"type": "json_object"}
    return json.dumps(document, ensure_ascii=False)
