"""A server whose engine is a model, for tests."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.examples import example
from tests.fakes.model import FakeModel
from tests.live import Answer, FakeClock, Live
from tests.web.ledger import ledger_server

JUDGED = "Scored by the configured LLM."
COMPARED = "Scored by the configured LLM. Clusters below are from deterministic overlap."
FAILED = "LLM call failed. Used deterministic checks."
UNUSABLE = "LLM response was unusable. Used deterministic checks."
OPERATIONS = ("judge", "consensus")


@contextmanager
def graded_server(
    folder: Path, model: FakeModel, database_url: str | None = None, *, clock: FakeClock | None = None, **more: str
) -> Iterator[Live]:
    """A server that asks `model`, with an operator."""
    url = database_url or f"sqlite:///{folder}/screwtape.db"
    with ledger_server(folder, url, clock=clock, **{**model.settings, **more}) as server:
        yield server


def ask(live: Live, operation: str, key: str, body: Any = None, **headers: str) -> Answer:
    """One call with the operation's example unless `body` is given."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return live.request("POST", f"/v1/{operation}", example(operation) if body is None else body, key=key, headers=sent)


def scored(body: Mapping[str, Any]) -> dict[str, Any]:
    """An answer without what is made for each call."""
    return {name: value for name, value in body.items() if name not in ("request_id", "retention", "receipt")}
