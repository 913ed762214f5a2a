"""Pure: each answer read once: its sentences, the stems of its words, its numbers and dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from api.core.judge.claims import clean, split_claims
from api.core.judge.facts import Parsed
from api.core.judge.parse import parse
from api.core.judge.sentences import split_sentences
from api.core.judge.words import look_up, tokenise
from api.core.signals.names import WholeName, whole_names
from api.core.signals.values import Values, values_of

#: An answer keeps no more numbers and dates than this: a bound on the work, far above real answers.
MOST_VALUES: Final = 64


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement of an answer. `label`: the key of a JSON member, "" for prose. `parsed` and `names` cover the
    label's words too, in front."""

    text: str
    label: str
    parsed: Parsed
    names: tuple[WholeName, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer. `sentences` in order, repeated ones too; `distinct` without those. `values`: at most MOST_VALUES."""

    output: str
    sentences: tuple[Sentence, ...]
    distinct: tuple[Sentence, ...]
    stems: frozenset[str]
    values: Values


def read_answers(outputs: Sequence[str]) -> list[Reading]:
    """The answers, in order. Equal outputs share one reading, equal sentences one parse."""
    known: dict[tuple[str, str], Sentence] = {}
    readings = {output: _read(output, known) for output in dict.fromkeys(outputs)}
    return [readings[output] for output in outputs]


def read_sentence(text: str, label: str = "") -> Sentence:
    """One statement on its own."""
    whole = f"{label} {text}" if label else text
    parsed = parse(whole)
    return Sentence(text, label, parsed, whole_names(whole, parsed) if parsed.names else ())


def spelled(stem: str, text: str) -> str:
    """The first word of `text` with that stem, as written; the stem itself when there is none."""
    return next((token for token in tokenise(text) if look_up(token).stem == stem), stem)


def _read(output: str, known: dict[tuple[str, str], Sentence]) -> Reading:
    claims = [(claim.text, claim.key) for claim in split_claims(output)]
    if not claims:
        claims = [(clean(output[start:end]), "") for start, end in split_sentences(output)]
    for claim in claims:
        if claim not in known:
            known[claim] = read_sentence(*claim)
    distinct = tuple(known[claim] for claim in dict.fromkeys(claims))
    values = islice((value for sentence in distinct for value in values_of(sentence.parsed)), MOST_VALUES)
    return Reading(
        output,
        tuple(known[claim] for claim in claims),
        distinct,
        frozenset().union(*(sentence.parsed.content for sentence in distinct)),
        Values(values),
    )
