"""The gates of the method on the project's own text (tests/eval/edits.py)."""

from collections import Counter
from functools import cache

import pytest

from api.core.judge import judge
from tests.eval.edits import HARMFUL, HARMLESS, Edit, documents, make_edits

#: kind -> the least share of edits that must get the right answer: pass for harmless ones, anything else for others.
GATES = {
    **dict.fromkeys(HARMLESS, 0.97),
    "negation": 0.98,
    "unrelated": 0.98,
    "new_entity": 0.98,
    "number": 0.90,
    "swap": 0.80,
    "antonym": 0.85,
}
FEWEST = 20


@cache
def counts(seed: int) -> dict[str, Counter[bool]]:
    found: dict[str, Counter[bool]] = {kind: Counter() for kind in GATES}
    for edit in make_edits(seed):
        found[edit.kind][right(edit)] += 1
    return found


def right(edit: Edit) -> bool:
    return (judge("", edit.output, [edit.document]).verdict == "pass") == edit.harmless


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", [*HARMLESS, *HARMFUL])
def test_gate(kind: str, seed: int) -> None:
    tally = counts(seed)[kind]
    assert tally.total() >= FEWEST
    assert tally[True] / tally.total() >= GATES[kind]


def test_the_generator_repeats_itself_and_varies_with_the_seed() -> None:
    assert make_edits(5) == make_edits(5)
    assert make_edits(5) != make_edits(6)


def test_the_corpus_is_a_dozen_documents_and_more() -> None:
    assert len(documents()) >= 12
