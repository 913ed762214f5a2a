"""JSON lines on standard error. No content, no secrets: only what is passed in `extra` below is added to a message."""

import logging
import sys
from datetime import UTC, datetime
from traceback import extract_tb

import orjson

MAX_LINES = 100
_LIBRARIES = ("aiosqlite", "asyncio", "asyncpg", "stripe", "tornado")
"""Kept at warning whatever LOG_LEVEL says: below it they log statements with their values, which may be content."""
_EXTRA = ("request_id", "job", "worker", "operation", "status", "path", "reason")


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, the known extras, and the stack of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in _EXTRA if hasattr(record, name)}
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = describe(record.exc_info[1])
        return orjson.dumps(line).decode()


def describe(error: BaseException) -> list[str]:
    """An exception and what led to it, as types and places. Not its message: that may quote what a caller sent."""
    lines: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(lines) < MAX_LINES:
        lines.append(type(seen).__qualname__)
        lines += [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in extract_tb(seen.__traceback__)]
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return lines[:MAX_LINES]


def configure(level: int) -> None:
    """Sends every logger of this process to standard error, as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _LIBRARIES:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
