"""Pure. What both kinds of templates (Markdown bodies and pages) share: filters, and where an error stands."""

import re
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import jinja2

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


def fault_of(error: Exception, source: Source) -> Fault:
    """Where a template failed: jinja2 maps traceback frames to template lines; the column is its word's."""
    message = str(error) or type(error).__name__
    name, line = source.name, 1
    if isinstance(error, jinja2.TemplateSyntaxError):
        name, line = error.filename or source.name, error.lineno
        message = error.message or message
    else:
        frames = [
            f
            for f in traceback.extract_tb(error.__traceback__)
            if f.filename.endswith((source.name, ".html", ".txt", ".xml", ".md"))
        ]
        if frames:
            name, line = frames[-1].filename, frames[-1].lineno or 1
    column = _column(source.text, line, message) if name == source.name else 1
    return Fault(name, line, column, message)


def _column(text: str, line: int, message: str) -> int:
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return 1
    for quoted in re.findall(r"'([^']+)'", message):
        if (at := lines[line - 1].find(quoted)) >= 0:
            return at + 1
    found = re.search(r"\{[{%]", lines[line - 1])
    return found.start() + 1 if found else 1
