"""Pure. What can be wrong with the site's sources, and where."""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing wrong. `line` and `column` count from 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class BuildFailed(Exception):
    """The site can't be built as its sources stand. Holds every fault that was found, sorted, each once."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(sorted(set(faults)))
        super().__init__("\n".join(map(str, self.faults)))


def at_offset(file: str, text: str, offset: int, message: str) -> Fault:
    """A fault at a character of `text`, the whole text of `file`."""
    before = text[:offset]
    return Fault(file, before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, message)


def at_text(file: str, text: str, needle: str, message: str) -> Fault:
    """A fault where `needle` first stands in `text`, as a whole name where it can; the first line when it doesn't."""
    whole = re.search(rf"(?<![\w/#-]){re.escape(needle)}(?![\w/#-])", text)
    return at_offset(file, text, whole.start() if whole else max(text.find(needle), 0), message)
