"""Pure: what in the evidence contradicts a claim, and what of it the evidence does not have.

Hard: a number, date, unit or name that the best sentence states otherwise in the same place, a negation that one side
has and the other has not, an opposite word. Soft: a number or a name that is nowhere in the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from api.core.judge.align import Alignment
from api.core.judge.bindings import exchanged, other_subject, quantified, same_part, turned_round
from api.core.judge.compare import dimension, found_in, same_number
from api.core.judge.datebook import Datebook
from api.core.judge.facts import EXACT, Name, Number, Parsed
from api.core.judge.index import Evidence, Sentence
from api.core.judge.polarity import opposites, turned
from api.core.judge.slots import best_rival, full_name

#: How much of the claim the best sentence must have before a number, a name or an opposite in it can contradict ...
NUMBER_FROM: Final = 0.35
NAME_FROM: Final = 0.45
OPPOSITE_FROM: Final = 0.40
#: ... what is needed when the word does stand elsewhere in the evidence ...
STRONG_FROM: Final = 0.75
PAIRS_FROM: Final = 0.50
#: ... or all but that word must be there, and this many other stems of it ...
_COPY_FROM: Final = 0.85
_COPY_STEMS: Final = 3
#: ... and for a negation.
NEGATION_FROM: Final = 0.80
#: From here on the numbers near the best sentence do not count, only its own.
_OWN_NUMBERS_FROM: Final = 0.70


@dataclass(slots=True)
class Faults:
    """`hard`: phrases such as "5 is not 4". `soft`: what was not found, as the claim writes it."""

    hard: list[str] = field(default_factory=list)
    soft: list[str] = field(default_factory=list)


def find_faults(
    text: str, parsed: Parsed, alignment: Alignment, evidence: Evidence, derived: frozenset[float]
) -> Faults:
    """Compares the facts of a claim with the sentences it is aligned to. `derived`: results of the output's own
    true equations, which the evidence need not have."""
    faults = Faults()
    sentence = alignment.sentence
    if sentence is None:
        faults.soft = [number.shown for number in parsed.numbers if not number.loose]
        faults.soft += [name.shown for name in parsed.names if not name.opening]
        faults.hard = [what for number in parsed.numbers if (what := _slip(number, evidence))]
        return faults
    strong = alignment.best >= STRONG_FROM and alignment.pairs >= PAIRS_FROM
    if parsed.dates:
        _dates(parsed, alignment, sentence, evidence, faults, strong)
    if parsed.numbers:
        _numbers(parsed, alignment, sentence, evidence, derived, faults, strong)
    if parsed.names:
        _names(parsed, alignment, sentence, evidence, faults, strong)
    _polarity(text, parsed, alignment, sentence, faults)
    return faults


def _numbers(
    parsed: Parsed, alignment: Alignment, sentence: Sentence, evidence: Evidence, derived: frozenset[float],
    faults: Faults, strong: bool,
) -> None:  # fmt: skip
    here = sentence.parsed.numbers
    near = here if alignment.best >= _OWN_NUMBERS_FROM else [n for one in alignment.used for n in one.parsed.numbers]
    rivals: list[Number] | None = None
    for number in parsed.numbers:
        if elsewhere_bound := other_subject(parsed, number, alignment.content, evidence):
            said, rival_number = elsewhere_bound
            alignment.used.insert(0, said)
            faults.hard.append(_differs(number, rival_number))
            continue
        if number.dated or found_in(number, near) or any(value in derived for value in number.readings):
            continue
        if rivals is None:
            rivals = [other for other in here if _unstated(other, parsed)]
        rival = _rival_number(number, rivals, alignment, sentence)
        if number.loose:
            if rival and strong and evidence.figures.match(number) is None:
                faults.hard.append(_differs(number, rival))
            continue
        elsewhere = evidence.figures.match(number) is not None
        copied = strong or _copied(alignment.content[number.at], alignment, sentence)
        if rival and (copied if elsewhere else alignment.best >= NUMBER_FROM or _twin(alignment, sentence)):
            faults.hard.append(_differs(number, rival))
        elif copied or not elsewhere:
            faults.soft.append(number.shown)


def _rival_number(number: Number, unstated: list[Number], alignment: Alignment, sentence: Sentence) -> Number | None:
    """The number of the sentence that stands in the place of `number`: of those that the claim does not state, one of
    the same kind, with a neighbour or a unit in common, or with nearly the whole sentence in common."""
    content, theirs = alignment.content, sentence.parsed.content
    rivals = [other for other in unstated if _same_kind(number, other)]
    if number.loose or any(other.loose for other in rivals):
        counted = content[number.at + (not number.loose) :][:1]
        rivals = [
            other
            for other in rivals
            if not (number.loose or other.loose) or theirs[other.at + (not other.loose) :][:1] == counted != []
        ]
    if not rivals:
        return None
    rival, common = best_rival(content, number.at, theirs, rivals)
    unit = bool(number.unit) and dimension(number.unit) == dimension(rival.unit)
    return rival if common or unit or alignment.best >= STRONG_FROM else None


def _same_kind(number: Number, other: Number) -> bool:
    one, two = dimension(number.unit), dimension(other.unit)
    clocks = (number.unit == "clock") + (other.unit == "clock")
    return not other.dated and clocks != 1 and (one == two or not one or not two)


def _unstated(other: Number, parsed: Parsed) -> bool:
    return not any(same_number(mine, other) for mine in parsed.numbers)


def _slip(number: Number, evidence: Evidence) -> str:
    """What a number that stands alone is a slip for (1294.50 for 1249.50), "" for none."""
    meant = evidence.figures.transposed(number)
    return _differs(number, meant) if meant else ""


def _differs(number: Number, rival: Number) -> str:
    one, other = (shown if n.bound == EXACT else f"{n.bound} {shown}" for n, shown in _shown(number, rival))
    return f"{one} is not {other}"


def _shown(number: Number, rival: Number) -> list[tuple[Number, str]]:
    units = number.shown == rival.shown
    return [(n, f"{n.shown} {n.unit}" if units and n.unit else n.shown) for n in (number, rival)]


def _copied(stem: str, alignment: Alignment, sentence: Sentence) -> bool:
    """Whether the claim is the sentence but for this stem."""
    others = sum(other in sentence.stems for other in alignment.weights if other != stem)
    return others >= _COPY_STEMS and alignment.best_without(stem) >= _COPY_FROM


def _brought(stem: str, alignment: Alignment) -> bool:
    """Whether a further sentence that supports the claim has the stem, and more of the claim than that: the claim is
    made of two sentences. One that brings nothing else only happens to have the word."""
    first = alignment.used[0].stems
    return any(
        stem in other.stems and sum(word in other.stems and word not in first for word in alignment.weights) > 1
        for other in alignment.used[1:]
    )


def _dates(
    parsed: Parsed, alignment: Alignment, sentence: Sentence, evidence: Evidence, faults: Faults, strong: bool
) -> None:
    mine = Datebook(dated.date for dated in parsed.dates)
    rivals = [other for other in sentence.parsed.dates if mine.match(other.date) is None]
    for dated in dict.fromkeys(parsed.dates):
        if any(one.dates.match(dated.date) for one in alignment.used):
            continue
        if dated.date.year and not dated.date.month and evidence.figures.match(dated.as_number()):
            continue
        elsewhere = evidence.dates.match(dated.date) is not None
        if rivals and (strong if elsewhere else alignment.best >= NUMBER_FROM):
            faults.hard.append(f"{dated.shown} is not {rivals[0].shown}")
        elif not elsewhere:
            faults.soft.append(dated.shown)


def _names(
    parsed: Parsed, alignment: Alignment, sentence: Sentence, evidence: Evidence, faults: Faults, strong: bool
) -> None:
    stems = set(alignment.content)
    theirs = sentence.parsed.names
    rivals = [name for name in theirs if name.stem not in stems and name.stem[0] != "#"]
    seen: set[str] = set()
    for name in parsed.names:
        stem = alignment.content[name.at]
        if stem in seen or stem in sentence.stems:
            continue
        seen.add(stem)
        known = stem in evidence.postings
        if name.opening and not (rivals and strong):
            continue
        rival: Name | None = None
        common = 0
        if rivals:
            rival, common = best_rival(alignment.content, name.at, sentence.parsed.content, rivals)
        copied = _copied(stem, alignment, sentence)
        if rival and (strong or (copied and common) or (not known and alignment.best >= NAME_FROM)):
            faults.hard.append(f"{full_name(parsed.names, name)} is not {full_name(theirs, rival)}")
        elif not known or ((strong or copied) and not _brought(stem, alignment)):
            faults.soft.append(name.shown)


def _all_but_one(alignment: Alignment, sentence: Sentence) -> bool:
    """Whether the sentence has every stem of a short claim but one: then that one weighs so much that `best` is low."""
    stems = set(alignment.content)
    return len(stems) > 1 and len(stems - sentence.stems) == 1


def _twin(alignment: Alignment, sentence: Sentence) -> bool:
    """Whether a short claim and its sentence are the same but for one stem: "3 pm" for "3 am"."""
    return _all_but_one(alignment, sentence) and len(sentence.stems) <= len(set(alignment.content))


def _polarity(text: str, parsed: Parsed, alignment: Alignment, sentence: Sentence, faults: Faults) -> None:
    """Opposites and negations."""
    aligned = alignment.best >= OPPOSITE_FROM or _all_but_one(alignment, sentence)
    opposed = opposites(parsed, sentence.parsed, text, sentence.text) if aligned else []
    if alignment.best >= NEGATION_FROM and alignment.pairs >= PAIRS_FROM and not same_part(text, sentence.text):
        faults.hard += turned(alignment.content, parsed.negated, sentence.parsed, text, sentence.text)
    if aligned:
        _rebound(text, parsed, sentence, faults)
    faults.hard += opposed


def _rebound(text: str, parsed: Parsed, sentence: Sentence, faults: Faults) -> None:
    """Numbers, names and quantifiers that both have, bound otherwise."""
    if len(parsed.numbers) > 1 and (what := turned_round(text, sentence.text)):
        faults.hard.append(what)
    if len(parsed.names) == 2 and (what := exchanged(parsed, text, sentence.parsed, sentence.text)):
        faults.hard.append(what)
    if what := quantified(text, sentence.text):
        faults.hard.append(what)
