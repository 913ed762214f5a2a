"""The contract's own examples, for tests that need a good request."""

import copy
from functools import cache
from pathlib import Path
from typing import Any

from api import contract
from api.contract import Contract

ROOT = Path(__file__).resolve().parent.parent
CONTENT = ROOT / "content"


@cache
def the_contract() -> Contract:
    """The contract as the product reads it."""
    return contract.load(CONTENT)


def example(operation_id: str) -> Any:
    """A copy of the operation's example body."""
    return copy.deepcopy(the_contract().operations[operation_id].example)
