"""Properties of the judge for any text."""

import os
import random
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.core.judge import Judgement, judge, signals
from tests.eval.edits import Edit, documents, make_edits, sentences

DOCUMENTS = list(documents().values())
SENTENCES = [sentence for document in DOCUMENTS for sentence in sentences(document)]
EDITS = make_edits(7)

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
texts = st.one_of(
    st.text(max_size=120),
    st.text(alphabet='ab AB.!?,:;"\n-*|#`[]{}()=+0123456789%$/\\', max_size=120),
    st.sampled_from(SENTENCES),
)


def outcome(judgement: Judgement) -> tuple[object, ...]:
    """What must not depend on how the evidence is arranged: everything but the places in it."""
    claims = [(c.text, c.status, round(c.score, 9), c.missing, c.conflicts) for c in judgement.claims]
    return judgement.verdict, judgement.score, judgement.hard_conflict, claims, judgement.criteria


@pytest.mark.promise("judge.bands")
@quick
@given(texts, texts, st.lists(texts, max_size=4), st.lists(texts, max_size=3))
def test_never_raises_and_keeps_its_shape(task: str, output: str, evidence: list[str], criteria: list[str]) -> None:
    judgement = judge(task, output, evidence, criteria)
    low, high = {"fail": (0.0, 0.39), "retry": (0.4, 0.69), "pass": (0.7, 1.0)}[judgement.verdict]
    assert low <= judgement.score <= high
    assert all(output[claim.start : claim.end] == claim.text for claim in judgement.claims)
    assert [finding.text for finding in judgement.criteria] == criteria
    for claim in signals(judgement)["claims"]:
        if claim["evidence_span"]:
            start, end = claim["evidence_span"]
            assert 0 <= start < end <= len(evidence[claim["evidence_index"]])
    assert judge(task, output, evidence, criteria) == judgement


@quick
@given(st.sampled_from(EDITS), st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6), st.randoms())
def test_the_order_of_the_evidence_changes_nothing(edit: Edit, extra: list[str], rng: random.Random) -> None:
    items = [*sentences(edit.document), *extra]
    mixed = list(items)
    rng.shuffle(mixed)
    output = edit.output
    assert outcome(judge("", output, items)) == outcome(judge("", output, mixed))


@quick
@given(st.lists(texts, max_size=5), texts, st.randoms())
def test_the_order_of_any_evidence_changes_nothing(items: list[str], output: str, rng: random.Random) -> None:
    mixed = list(items)
    rng.shuffle(mixed)
    assert outcome(judge("", output, items)) == outcome(judge("", output, mixed))


def spread(text: str, blanks: list[str]) -> str:
    """`text` with its blanks replaced in turn."""
    parts = text.split(" ")
    return "".join(part + blanks[at % len(blanks)] for at, part in enumerate(parts))


@quick
@given(
    st.sampled_from(EDITS),
    st.lists(st.sampled_from([" ", "  ", "\t", "\n", " \n", "\r\n", "\u00a0 "]), min_size=1, max_size=7),
    st.lists(st.sampled_from([" ", "   ", "\n", "\t\n"]), min_size=1, max_size=7),
)
def test_white_space_changes_nothing(edit: Edit, inside: list[str], around: list[str]) -> None:
    output, document = edit.output, edit.document
    plain = judge("", output, [document])
    spaced = judge("", spread(output, inside), [spread(document, around)])
    assert (spaced.verdict, spaced.score) == (plain.verdict, plain.score)
    assert [claim.conflicts for claim in spaced.claims] == [claim.conflicts for claim in plain.claims]


@pytest.mark.promise("judge.pass")
@quick
@given(st.lists(texts, min_size=1, max_size=4), st.data())
def test_verbatim_evidence_always_passes(evidence: list[str], data: st.DataObject) -> None:
    item = data.draw(st.sampled_from(evidence))
    if re.search(r"\w", item):
        judgement = judge("", item, evidence)
        assert judgement.verdict == "pass", judgement.reasons


@quick
@given(st.sampled_from(DOCUMENTS), st.data())
def test_verbatim_sentences_of_the_evidence_pass_together(document: str, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(sentences(document)), min_size=1, max_size=4))
    assert judge("", " ".join(chosen), [document]).verdict == "pass"


@quick
@given(st.sampled_from(EDITS), st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=4))
def test_unrelated_evidence_never_turns_a_pass_into_a_fail(edit: Edit, extra: list[str]) -> None:
    output, document = edit.output, edit.document
    if judge("", output, [document]).verdict == "pass":
        assert judge("", output, [document, *extra]).verdict != "fail"


SCRIPT = """
from api.core.judge import judge, signals
from tests.eval.edits import make_edits
import hashlib, json
found = hashlib.sha256()
for edit in make_edits(3)[::7]:
    evidence = [edit.document, "Unrelated words stand here, 12 of them."]
    j = judge("Say it.", edit.output, evidence, ["crew | harbour", "number: 4"])
    found.update(json.dumps([j.verdict, j.score, j.reasons, signals(j)]).encode())
print(found.hexdigest())
"""


@pytest.mark.promise("judge.deterministic")
@pytest.mark.parametrize("seeds", [("0", "1", "4242")])
def test_the_same_in_every_process(seeds: tuple[str, ...]) -> None:
    hashes = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in seeds
    }
    assert len(hashes) == 1
