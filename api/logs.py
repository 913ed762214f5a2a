"""JSON lines on standard error. No content, no secrets: only what is passed in `extra` below is added to a message."""

import logging
import sys
from datetime import UTC, datetime

import orjson

_EXTRA = ("request_id", "job", "worker", "operation", "status", "path", "reason")


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, the known extras, and the stack of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in _EXTRA if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line).decode()


def configure(level: int) -> None:
    """Sends every logger of this process to standard error, as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # Tornado says at info what a client did wrong on the wire; that is not news.
    logging.getLogger("tornado").setLevel(max(level, logging.WARNING))
