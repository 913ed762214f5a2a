"""What both kinds of templates (Markdown bodies and pages) share: filters, compiled code, and where an error stands."""

import re
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import jinja2
from jinja2.bccache import Bucket

from site_build.cache import Cache
from site_build.faults import Fault
from site_build.model import Source


def thousands(value: int) -> str:
    """10000 as 10,000."""
    return f"{value:,}"


def dollars(cents: int) -> str:
    """3000 as $30, 3050 as $30.50."""
    return f"${cents // 100:,}" if cents % 100 == 0 else f"${cents / 100:,.2f}"


_MONTHS = "January February March April May June July August September October November December".split()


def day(date: str) -> str:
    """2026-10-20 as 20 October 2026, whatever the locale."""
    year, month, number = date.split("-")
    return f"{int(number)} {_MONTHS[int(month) - 1]} {year}"


FILTERS: Mapping[str, Callable[[Any], str]] = {"thousands": thousands, "dollars": dollars, "day": day}


class _Bytecode(jinja2.BytecodeCache):
    """Compiled templates in the build's cache: compiling them is half of an otherwise unchanged build."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def load_bytecode(self, bucket: Bucket) -> None:
        if (stored := self._cache.get(self._key(bucket))) is not None:
            bucket.bytecode_from_string(stored)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._cache.put(self._key(bucket), bucket.bytecode_to_string())

    def _key(self, bucket: Bucket) -> bytes:
        return self._cache.key("jinja", f"{sys.version_info[:3]} {bucket.key} {bucket.checksum}".encode())


def environment(texts: Mapping[str, str], cache: Cache, **options: Any) -> jinja2.Environment:
    """An environment whose templates are these texts by name. What is undefined is an error."""

    def find(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        # The name is also the file name: compiled code then does not depend on where the sources lie.
        return (texts[name], name, lambda: True) if name in texts else None

    made = jinja2.Environment(  # noqa: S701 - the caller says what is escaped; Markdown has no markup to escape
        loader=jinja2.FunctionLoader(find),
        bytecode_cache=_Bytecode(cache),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        auto_reload=False,
        optimized=False,  # most templates are rendered a few times: folding constants costs more than it saves
        **options,
    )
    made.filters.update(FILTERS)
    return made


def fault_of(error: Exception, sources: Mapping[str, Source], source: Source) -> Fault:
    """Where a template failed. jinja2 maps traceback frames to template lines; the column is that of the word at fault.

    `sources` are the files by template name; `source` is blamed when none of them shows in the traceback.
    """
    line, message = 1, str(error) or type(error).__name__
    if isinstance(error, jinja2.TemplateSyntaxError):
        source, line = sources.get(error.name or "", source), error.lineno
        message = error.message or message
    else:
        if isinstance(error, jinja2.TemplateNotFound):
            message = f"there is no template '{error.name}'"
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in sources]
        if frames:
            source, line = sources[frames[-1].filename], frames[-1].lineno or 1
    return Fault(source.name, line, _column(source.text, line, message), message)


def _column(text: str, line: int, message: str) -> int:
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return 1
    for quoted in re.findall(r"'([^']+)'", message):
        if (at := lines[line - 1].find(quoted)) >= 0:
            return at + 1
    found = re.search(r"\{[{%]", lines[line - 1])
    return found.start() + 1 if found else 1
