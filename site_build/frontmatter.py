"""Pure. Front matter and meta.yaml: which keys there are, what they may hold, and where a wrong one stands."""

import datetime
import re
from collections.abc import Callable, Mapping
from typing import Any

from api.yamlfile import YamlFault, read_text
from site_build.faults import BuildFailed, Fault

SHORTEST, LONGEST = 50, 160
"""Characters of a description: what search engines and link previews show."""

LISTING_SECTIONS = ("Docs", "Integrations", "Blog", "Machine-readable", "Optional")


def _text(value: Any) -> str | None:
    return (
        None
        if isinstance(value, str) and value.strip()
        else "must be text; quote it if YAML reads it as something else"
    )


def _description(value: Any) -> str | None:
    if wrong := _text(value):
        return wrong
    size = len(value.strip())
    return None if SHORTEST <= size <= LONGEST else f"must have {SHORTEST} to {LONGEST} characters, and has {size}"


def _date(value: Any) -> str | None:
    try:
        good = isinstance(value, str) and datetime.date.fromisoformat(value).isoformat() == value
    except ValueError:
        good = False
    return None if good else "must be a date, YYYY-MM-DD"


def _order(value: Any) -> str | None:
    return None if type(value) is int else "must be a whole number"


def _lines(value: Any) -> str | None:
    good = isinstance(value, list) and all(isinstance(line, str) and line.strip() for line in value)
    return None if good else "must be a list of lines"


def _listing(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "must be a mapping with section, note and order"
    if unknown := sorted(set(map(str, value)) - {"section", "note", "order"}):
        return f"has the unknown key {unknown[0]}"
    if value.get("section") not in LISTING_SECTIONS:
        return f"needs a section, one of {', '.join(LISTING_SECTIONS)}"
    if _text(value.get("note")):
        return "needs a note, as text"
    return _order(value.get("order", 0))


def _skills(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "must be a mapping of skills"
    for name, skill in value.items():
        if not isinstance(skill, dict) or set(skill) != {"description", "tags"}:
            return f"needs description and tags, and nothing else, for {name}"
        if wrong := _text(skill["description"]) or _lines(skill["tags"]):
            return f"is not as it should be: {name} {wrong}"
    return None


Check = Callable[[Any], str | None]
_SHARED: dict[str, Check] = {"title": _text, "description": _description}
PAGE = _SHARED | {"layout": _text, "llms": _listing, "nav_label": _text}
ARTICLE = _SHARED | {"date": _date, "cases": _text}
INTEGRATION = _SHARED | {"order": _order, "file": _text, "language": _text, "install": _lines}
CHANGELOG = _SHARED | {"nav_label": _text, "llms": _listing}
MCP_CARD = {"schema": _text, "identifier": _text}
AGENT_CARD = {"name": _text, "description": _text, "organization": _text, "skills": _skills}
REQUIRED = frozenset(
    {"title", "description", "date", "order", "file", "language", *MCP_CARD, "name", "organization", "skills"}
)
"""Keys that a file must have, where its table knows them."""


def split(name: str, text: str) -> tuple[str, str, int]:
    """The YAML between the `---` lines, the rest, and the line at which that begins. Raises BuildFailed."""
    end = text.find("\n---\n", 3)
    if not text.startswith("---\n") or end < 0:
        raise BuildFailed([Fault(name, 1, 1, "the file must begin with front matter between two lines of ---")])
    head = text[4 : end + 1]
    return head, text[end + 5 :], head.count("\n") + 3


def read(name: str, head: str, table: Mapping[str, Check], first_line: int = 2) -> dict[str, Any]:
    """The values of the YAML text `head` that begins at `first_line` of `name`. Raises BuildFailed with every fault."""
    try:
        values = read_text(head, name, first_line)
    except YamlFault as error:
        raise BuildFailed([Fault(name, error.line, error.column, error.what)]) from None
    if not isinstance(values, dict):
        raise BuildFailed([Fault(name, first_line, 1, "must be a mapping of keys to values")])
    faults = [
        Fault(name, *_place(head, key, first_line), f"unknown key {key}; the keys are {', '.join(table)}")
        for key in values
        if key not in table
    ]
    for key, check in table.items():
        if key in values:
            if wrong := check(values[key]):
                faults.append(Fault(name, *_place(head, key, first_line), f"{key} {wrong}"))
        elif key in REQUIRED:
            faults.append(Fault(name, max(first_line - 1, 1), 1, f"the key {key} is missing"))
    if faults:
        raise BuildFailed(faults)
    return values


def _place(head: str, key: Any, first_line: int) -> tuple[int, int]:
    found = re.search(rf"(?m)^[\"']?{re.escape(str(key))}[\"']?\s*:", head)
    return (head.count("\n", 0, found.start()) + first_line if found else first_line), 1
