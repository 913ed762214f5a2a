"""Pure: what in the evidence contradicts a claim, and what of it the evidence does not have.

Hard: a number, date, unit or name that the best sentence states otherwise in the same place, a negation that one side
has and the other has not, an opposite word. Soft: a number or a name that is nowhere in the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from api.core.judge.align import Alignment
from api.core.judge.antonyms import OPPOSITES
from api.core.judge.compare import compatible, dimension, found_in, same_number
from api.core.judge.facts import Dated, Number, Parsed
from api.core.judge.index import Evidence, Sentence

#: How much of the claim the best sentence must have before it can contradict ...
NUMBER_FROM: Final = 0.35
NAME_FROM: Final = 0.45
ANTONYM_FROM: Final = 0.40
#: ... and what is needed when the word does stand elsewhere in the evidence, or for a negation.
ELSEWHERE_FROM: Final = 0.75
NEGATION_FROM: Final = 0.80
PAIRS_FROM: Final = 0.50


@dataclass(slots=True)
class Faults:
    """`hard`: phrases such as "5 is not 4". `soft`: what was not found, as the claim writes it."""

    hard: list[str] = field(default_factory=list)
    soft: list[str] = field(default_factory=list)


def find_faults(parsed: Parsed, alignment: Alignment, evidence: Evidence, derived: frozenset[float]) -> Faults:
    """Compares the facts of a claim with the sentences it is aligned to. `derived`: results of the output's own
    true equations, which the evidence need not have."""
    faults = Faults()
    sentence = alignment.sentence
    if sentence is None:
        faults.soft = [number.shown for number in parsed.numbers if number.value > 1]
        faults.soft += [name.shown for name in parsed.names if not name.opening]
        return faults
    if parsed.numbers or parsed.dates:
        _dates(parsed, alignment, sentence, evidence, faults)
        _numbers(parsed, alignment, sentence, evidence, derived, faults)
    if parsed.names:
        _names(parsed, alignment, sentence, evidence, faults)
    opposed = _opposites(parsed, alignment, sentence)
    if alignment.best >= NEGATION_FROM and alignment.pairs >= PAIRS_FROM:
        turned = _turned(parsed, alignment, sentence)
        if bool(turned) != bool(opposed):
            faults.hard += turned or opposed
    else:
        faults.hard += opposed
    return faults


def _numbers(
    parsed: Parsed, alignment: Alignment, sentence: Sentence, evidence: Evidence, derived: frozenset[float],
    faults: Faults,
) -> None:  # fmt: skip
    here = sentence.parsed.numbers
    near = here if alignment.best >= 0.7 else [n for one in alignment.used for n in one.parsed.numbers]
    for number in parsed.numbers:
        if number.dated or (number.value <= 1 and not number.unit) or found_in(number, near):
            continue
        if any(value in derived for value in number.readings):
            continue
        rivals = [other for other in here if _rival(number, other, parsed.numbers)]
        elsewhere = any(found_in(number, one.parsed.numbers) for one in _having(number, evidence))
        strong = alignment.best >= ELSEWHERE_FROM and alignment.pairs >= PAIRS_FROM
        if rivals and (strong if elsewhere else alignment.best >= NUMBER_FROM):
            faults.hard.append(f"{number.shown} is not {rivals[0].shown}")
        elif not elsewhere:
            faults.soft.append(number.shown)


def _rival(number: Number, other: Number, claimed: list[Number]) -> bool:
    """Whether `other` can stand in the place of `number`: same kind, and the claim does not state it too."""
    if (other.value <= 1 and not other.unit) or other.dated:
        return False
    one, two = dimension(number.unit), dimension(other.unit)
    return (one == two or not one or not two) and not any(same_number(mine, other) for mine in claimed)


def _having(number: Number, evidence: Evidence) -> list[Sentence]:
    return [one for one in evidence.sentences if one.parsed.numbers]


def _dates(parsed: Parsed, alignment: Alignment, sentence: Sentence, evidence: Evidence, faults: Faults) -> None:
    for dated in parsed.dates:
        if any(compatible(dated.date, other.date) for one in alignment.used for other in one.parsed.dates):
            continue
        elsewhere = any(compatible(dated.date, o.date) for one in evidence.sentences for o in one.parsed.dates)
        rivals = [other for other in sentence.parsed.dates if not _stated(other, parsed.dates)]
        strong = alignment.best >= ELSEWHERE_FROM and alignment.pairs >= PAIRS_FROM
        if rivals and (strong if elsewhere else alignment.best >= NUMBER_FROM):
            faults.hard.append(f"{dated.shown} is not {rivals[0].shown}")
        elif not elsewhere:
            faults.soft.append(dated.shown)


def _stated(dated: Dated, claimed: list[Dated]) -> bool:
    return any(compatible(mine.date, dated.date) for mine in claimed)


def _names(parsed: Parsed, alignment: Alignment, sentence: Sentence, evidence: Evidence, faults: Faults) -> None:
    stems = set(alignment.content)
    rivals = [n for n in sentence.parsed.names if n.stem not in stems and n.stem[0] != "#"]
    strong = alignment.best >= ELSEWHERE_FROM and alignment.pairs >= PAIRS_FROM
    seen: set[str] = set()
    for name in parsed.names:
        stem = alignment.content[name.at]
        if stem in seen or stem in sentence.stems:
            continue
        seen.add(stem)
        known = stem in evidence.counts
        if not known:
            if name.opening and not (rivals and strong):
                continue
            if rivals and alignment.best >= NAME_FROM:
                faults.hard.append(f"{name.shown} is not {rivals[0].shown}")
            else:
                faults.soft.append(name.shown)
        elif rivals and strong:
            faults.hard.append(f"{name.shown} is not {rivals[0].shown}")


def _opposites(parsed: Parsed, alignment: Alignment, sentence: Sentence) -> list[str]:
    if alignment.best < ANTONYM_FROM:
        return []
    found: list[str] = []
    theirs = sentence.stems.union(sentence.parsed.polar)
    mine = set(alignment.content).union(parsed.polar)
    for word in [*dict.fromkeys(parsed.content), *parsed.polar]:
        if word in theirs:
            continue
        for opposite in OPPOSITES.get(word, ()):
            if opposite in theirs and opposite not in mine:
                found.append(f"{word} is the opposite of {opposite}")
                break
    return found


def _turned(parsed: Parsed, alignment: Alignment, sentence: Sentence) -> list[str]:
    """Negations that only one side has, compared by the word that they govern."""
    mine = _governed(alignment.content, parsed.negated)
    theirs = _governed(sentence.parsed.content, sentence.parsed.negated)
    found: list[str] = []
    for word, count in mine.items():
        if count % 2 and not theirs.get(word, 0) % 2 and (word in sentence.stems or not theirs):
            found.append(f'the claim negates "{word}", the evidence does not')
    for word, count in theirs.items():
        if count % 2 and not mine.get(word, 0) % 2 and word in alignment.content and len(mine) < len(theirs):
            found.append(f'the evidence negates "{word}", the claim does not')
    return found


def _governed(content: list[str], negated: list[int]) -> dict[str, int]:
    """How many negations govern each stem: the one right behind the negation, or the last one before it."""
    counts: dict[str, int] = {}
    for place in negated:
        if content:
            word = content[min(place, len(content) - 1)]
            counts[word] = counts.get(word, 0) + 1
    return counts
