"""What a configured model is told: content/prompts/*.yaml."""

from dataclasses import dataclass
from pathlib import Path

from api.yamlfile import YamlFault, read_file

NAMES = ("judge", "consensus")
"""One file for each metered operation."""
_NEEDED = {"system": ("{nonce}",), "user": ("{nonce}", "{data}")}


@dataclass(frozen=True, slots=True)
class Prompt:
    """The two messages to a model. `{nonce}` and, in `user`, `{data}` stand where a call's own values go."""

    system: str
    user: str


def load(content: Path) -> dict[str, Prompt]:
    """The prompts by operation. Raises YamlFault for what could not be used, OSError for a file that is missing."""
    return {name: _read(content / "prompts" / f"{name}.yaml") for name in NAMES}


def _read(path: Path) -> Prompt:
    found = read_file(path)
    if not isinstance(found, dict) or set(found) != set(_NEEDED):
        raise YamlFault(str(path), 1, 1, "a prompt has the keys system and user")
    for part, places in _NEEDED.items():
        for place in places:
            if not isinstance(found[part], str) or place not in found[part]:
                raise YamlFault(str(path), 1, 1, f"{part} must be a text with {place} in it")
    if found["user"].count("{data}") != 1 or "{data}" in found["system"]:
        raise YamlFault(str(path), 1, 1, "{data} stands once, in user: what a caller sent goes nowhere else")
    return Prompt(found["system"], found["user"])
