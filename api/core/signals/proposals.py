"""Pure: what an answer can be said to answer: the keys that it proposes, and the keys of others that it holds too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from api.core.judge.facts import Parsed
from api.core.judge.lexicon import REFUSALS
from api.core.judge.normalise import fold
from api.core.judge.parse import parse
from api.core.signals.options import options, picked
from api.core.signals.phrases import NO, YES
from api.core.signals.polarity import denied, opposed
from api.core.signals.questions import wanted
from api.core.signals.reading import Reading, Sentence, spelled
from api.core.signals.statement import Statement, final_statement
from api.core.signals.values import Value, Values, values_of, written

#: An answer proposes no more keys than this.
MOST_PROPOSED: Final = 32
#: Longest key shown, in code points.
LONGEST_SHOWN: Final = 80
#: How far into the answer a refusal is looked for, in code points.
_HEAD: Final = 300
_BREAKS: Final = ".,;:!?–—)。，、！"
_EDGES: Final = " \t\n.,;:!?*_`\"'()[]{}“”‘’«»。，"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One possible answer key. `kind`: choice, boolean, number, date or text.

    `token`: the letter, "yes" or "no". `value`: the number or date. `stems`: the words of a text. `shown`: its form
    in the result. `parsed`: the whole statement, when that is the key, for what it denies.
    """

    kind: str
    shown: str
    token: str = ""
    value: Value | None = None
    stems: tuple[str, ...] = ()
    parsed: Parsed | None = None

    @property
    def identity(self) -> tuple[str, str]:
        """Equal for proposals that are the same key."""
        if self.value is not None:
            return self.kind, written(self.value)
        turned = sorted(denied(self.parsed)) if self.parsed is not None else ()
        return self.kind, self.token or " ".join((*self.stems, *(f"-{word}" for word in turned)))


@dataclass(frozen=True, slots=True)
class Position:
    """What one answer proposes, the likelier first, and all that it can hold. Without proposals it abstains.
    `parsed`: the statement of an answer that has nothing else."""

    proposals: tuple[Proposal, ...] = ()
    stems: frozenset[str] = field(default=frozenset())
    values: Values = field(default=Values(()))
    parsed: Parsed | None = None

    def holds(self, proposal: Proposal) -> bool:
        """Whether this answer gives that key too."""
        if proposal.token or not self.proposals or self.proposals[0].token:
            return bool(self.proposals) and proposal.identity == self.proposals[0].identity
        if proposal.value is not None:
            return bool(self.values.agreeing(proposal.value))
        if not self.stems.issuperset(proposal.stems):
            return False
        return self.parsed is None or proposal.parsed is None or not opposed(proposal.parsed, self.parsed)


@dataclass(frozen=True, slots=True)
class Question:
    """What the keys are read against. `given`: the stems of the task, which no key repeats unless the answer has
    nothing else; `listed`: the options of the task; `wanted`: the kinds of key that it asks for, empty for any."""

    given: frozenset[str]
    listed: dict[str, str]
    wanted: frozenset[str]


def read_question(task: str) -> Question:
    """The task as a question."""
    return Question(frozenset(parse(task).content), options(task), wanted(task))


def position(reading: Reading, question: Question) -> Position:
    """Where an answer stands."""
    reading = without_refusals(reading)
    if not reading.sentences:
        return Position()
    statement = final_statement(reading)
    token = _token(statement, question.listed)
    if token is not None:
        return Position((token,))
    proposals = _closed(statement, question.given) if statement.closed else _open(statement, reading, question)
    distinct = {proposal.identity: proposal for proposal in reversed(proposals)}
    kept = tuple(reversed(distinct.values()))[:MOST_PROPOSED]
    if not statement.closed:
        return Position(kept, reading.stems, reading.values)
    stems = frozenset(stem for sentence in statement.sentences for stem in sentence.parsed.content)
    values = [value for sentence in statement.sentences for value in values_of(sentence.parsed, loose=True)]
    return Position(kept, stems, Values(values), statement.sentences[0].parsed)


def without_refusals(reading: Reading) -> Reading:
    """The answer without the sentences at its beginning that decline or disclaim ("As an AI language model, ...")."""
    kept, seen = list(reading.sentences), 0
    while kept and seen < _HEAD and _declines(kept[0].text):
        seen += len(kept[0].text)
        del kept[0]
    if len(kept) == len(reading.sentences) or not kept:
        return replace(reading, sentences=tuple(kept))
    at = reading.output.find(kept[0].text)
    return replace(reading, sentences=tuple(kept), output=reading.output[max(0, at) :])


def _declines(sentence: str) -> bool:
    head = fold(sentence[:_HEAD])
    return any(phrase in head for phrase in REFUSALS)


def _token(statement: Statement, listed: dict[str, str]) -> Proposal | None:
    """A letter, yes or no. In prose only yes and no, as its first word."""
    letter = picked(statement.shown, listed) if statement.closed else ""
    if letter:
        return Proposal("choice", letter, token=letter)
    text = fold(statement.shown[:LONGEST_SHOWN]).lstrip(_EDGES)
    cut = next((at for at, sign in enumerate(text) if sign.isspace() or sign in _BREAKS), len(text))
    word, rest = text[:cut], text[cut:].lstrip()
    for words, meaning in ((YES, "yes"), (NO, "no")):
        if word in words and (not rest or rest[0] in _BREAKS or rest[0] == "-"):
            return Proposal("boolean", meaning, token=meaning)
    return None


def _closed(statement: Statement, given: frozenset[str]) -> list[Proposal]:
    """The key of a statement: its last date or number, or its words. A number in a name (Apollo 11) is a word."""
    for sentence in reversed(statement.sentences):
        parsed = sentence.parsed
        values = [value for value in values_of(parsed, loose=True) if not _named(value, parsed)]
        dates = [value for value in values if value.date is not None]
        if values:
            return [_of_value((dates or values)[-1])]
        if parsed.content:
            stems = _novel(parsed.content, given) or parsed.content
            return [Proposal("text", _named_or_all(sentence, stems), stems=tuple(stems), parsed=parsed)]
    return []


def _named_or_all(sentence: Sentence, stems: list[str]) -> str:
    """The name that the stems are, as written; else the whole sentence."""
    names = (name.shown for name in sentence.names if set(stems) <= set(name.stems))
    return _short(next(names, sentence.text))


def _named(value: Value, parsed: Parsed) -> bool:
    """Whether a number stands right behind a name."""
    number = value.number
    return number is not None and not number.unit and any(name.at == number.at - 1 for name in parsed.names)


def _open(statement: Statement, reading: Reading, question: Question) -> list[Proposal]:
    """The names, dates and numbers of the leading sentence, only the kinds that are asked for when there are such;
    without any, those of the whole answer; without any at all, each word of the leading sentence."""
    given = question.given
    if reading.stems <= given:
        stems = tuple(dict.fromkeys(stem for sentence in statement.sentences for stem in sentence.parsed.content))
        return [Proposal("text", _short(statement.shown), stems=stems)] if stems else []
    for sentences in (statement.sentences, reading.sentences):
        facts = list(_facts(sentences, given))
        if facts:
            return [one for one in facts if one.kind in question.wanted] or facts
    return [
        Proposal("text", spelled(stem, sentence.text), stems=(stem,))
        for sentence in statement.sentences
        for stem in _novel(sentence.parsed.content, given)[:MOST_PROPOSED]
    ]


def _facts(sentences: Iterable[Sentence], given: frozenset[str]) -> Iterator[Proposal]:
    for sentence in sentences:
        for name in sentence.names:
            stems = tuple(stem for stem in name.stems if stem not in given)
            if stems and not name.opening:
                yield Proposal("text", _short(name.shown), stems=stems)
        for value in values_of(sentence.parsed):
            if value.date is not None or f"#{written(value)}" not in given:
                yield _of_value(value)


def _of_value(value: Value) -> Proposal:
    return Proposal(value.kind, written(value), value=value)


def _novel(stems: Iterable[str], given: frozenset[str]) -> list[str]:
    return [stem for stem in dict.fromkeys(stems) if stem not in given]


def _short(text: str) -> str:
    return " ".join(text.split())[:LONGEST_SHOWN].strip(_EDGES)
