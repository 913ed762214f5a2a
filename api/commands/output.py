"""How commands speak: results on standard output, faults on standard error."""

import json
import sys
from typing import Any


def fail(message: str) -> int:
    """Says what went wrong; the exit status 1."""
    print(message, file=sys.stderr)
    return 1


def show(value: Any) -> None:
    """One result as JSON, readable by people and programs."""
    print(json.dumps(value, indent=2, ensure_ascii=False))
