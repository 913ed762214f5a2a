"""Pure: each answer read once: its sentences, the stems of its words, its numbers and dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.core.judge.claims import clean, split_claims
from api.core.judge.facts import Parsed
from api.core.judge.parse import parse
from api.core.judge.sentences import split_sentences
from api.core.signals.values import Value, values_of

#: An answer keeps no more different numbers and dates than this: a bound on the work, far above real answers.
MOST_VALUES: Final = 64


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement of an answer. `label`: the key of a JSON member, "" for prose. `parsed` has the label's words
    too, in front."""

    text: str
    label: str
    parsed: Parsed


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer. `values` are distinct and in the order of the text, at most MOST_VALUES."""

    output: str
    sentences: tuple[Sentence, ...]
    stems: frozenset[str]
    values: tuple[Value, ...]


def read_answers(outputs: Sequence[str]) -> list[Reading]:
    """The answers, in order. Equal outputs share one reading, equal sentences one parse."""
    known: dict[str, Parsed] = {}
    readings = {output: _read(output, known) for output in dict.fromkeys(outputs)}
    return [readings[output] for output in outputs]


def read_sentence(text: str, label: str = "") -> Sentence:
    """One statement on its own."""
    return Sentence(text, label, parse(f"{label} {text}" if label else text))


def _read(output: str, known: dict[str, Parsed]) -> Reading:
    claims = [(claim.text, claim.key) for claim in split_claims(output)]
    if not claims:
        claims = [(clean(output[start:end]), "") for start, end in split_sentences(output)]
    sentences = []
    stems: set[str] = set()
    values: dict[Value, None] = {}
    for text, label in claims:
        whole = f"{label} {text}" if label else text
        parsed = known.get(whole)
        if parsed is None:
            parsed = known[whole] = parse(whole)
        sentences.append(Sentence(text, label, parsed))
        stems.update(parsed.content)
        if len(values) < MOST_VALUES:
            values.update(dict.fromkeys(values_of(parsed)))
    return Reading(output, tuple(sentences), frozenset(stems), tuple(values)[:MOST_VALUES])
