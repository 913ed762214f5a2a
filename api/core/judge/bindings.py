"""Pure: the same words and numbers bound otherwise: a number that belongs to another subject, "from 15 to 10" for "from
10 to 15", "Acme acquired Globex" for "Globex acquired Acme", "only some" for "all".

Only clear cases count: word order in general proves nothing.
"""

from __future__ import annotations

import re
from typing import Final

from api.core.judge.compare import dimension, found_in
from api.core.judge.facts import EXACT, Number, Parsed, number_key
from api.core.judge.index import Evidence, Sentence
from api.core.judge.parse import parse
from api.core.judge.stem import stem
from api.core.judge.words import CONTENT, look_up, tokenise

#: A claim needs this many stems besides its numbers to show whose number it is.
_FEWEST_STEMS: Final = 2
#: So many sentences about the subject are read.
_MOST_READ: Final = 40
#: A sentence that opens with one of these is about something named before it.
_PRONOUNS: Final = frozenset(
    "it they he she we i you this that these those its their his her both each there er sie es il elle ils".split()
)


def other_subject(
    parsed: Parsed, number: Number, content: list[str], evidence: Evidence
) -> tuple[Sentence, Number] | None:
    """The sentence that says all of the claim but its number, and the number it has instead, when the claim's number
    stands only in sentences about another subject; None otherwise."""
    if number.bound != EXACT or number.ordinal or number.loose or number.dated or number.at == 0:
        return None
    subject, figure = content[0], content[number.at]
    holders = [evidence.sentences[place] for place in evidence.postings.get(figure, ())]
    if not holders or any(subject in one.stems for one in holders) or any(_leans(one) for one in holders):
        return None
    wanted = set(content) - {figure}
    if len(wanted) < _FEWEST_STEMS:
        return None
    rivals: list[tuple[Sentence, Number]] = []
    fits = [place for place in evidence.places(subject, _MOST_READ) if wanted <= evidence.sentences[place].stems]
    for place in sorted(fits, key=evidence.order.__getitem__):
        sentence = evidence.sentences[place]
        numbers = sentence.parsed.numbers
        if found_in(number, numbers):
            return None
        rivals += [
            (sentence, other)
            for other in numbers
            if other.bound == EXACT and not (other.dated or other.loose or other.ordinal)
            and dimension(other.unit) == dimension(number.unit) and not found_in(other, parsed.numbers)
        ]  # fmt: skip
    return rivals[0] if len({rival.readings for _, rival in rivals}) == 1 else None


def _leans(sentence: Sentence) -> bool:
    first = next(iter(tokenise(sentence.text)), "")
    return look_up(first).folded in _PRONOUNS if first else True


_FROM_TO: Final = re.compile(r"\bfrom\s+(\S{1,20})(?:\s+[^\s.;]{1,20}){0,3}?\s+to\s+(\S{1,20})", re.IGNORECASE)


def turned_round(text: str, other: str) -> str:
    """What of "from A to B" the other text has the other way round, "" for nothing."""
    if "rom " not in text or "rom " not in other:
        return ""
    theirs = [(a, b) for one, two in _FROM_TO.findall(other) if (a := _key(one)) and (b := _key(two))]
    for one, two in _FROM_TO.findall(text) if theirs else ():
        a, b = _key(one), _key(two)
        if a and b and a != b and (b, a) in theirs and (a, b) not in theirs:
            return f"from {one} to {two.rstrip('.,;:')} is the other way round"
    return ""


def _key(word: str) -> str:
    numbers = parse(word.strip(".,;:")).numbers
    return number_key(numbers[0].value) if len(numbers) == 1 else ""


#: Verbs that say the same in both directions.
_MUTUAL: Final = frozenset(
    stem(verb) for verb in
    "met meets married marries equals resembles borders borders joined faced faces fought versus plus and dated".split()
)  # fmt: skip


def exchanged(claim: Parsed, text: str, other: Parsed, other_text: str) -> str:
    """The subject and object that the other sentence has the other way round about the same verb, "" for none."""
    if len(claim.names) != 2 or len(other.names) != 2:
        return ""
    mine, theirs = _deed(claim, text), _deed(other, other_text)
    if mine is None or theirs is None or mine[1] != theirs[1] or mine[1] in _MUTUAL:
        return ""
    if (mine[0], mine[2]) != (theirs[2], theirs[0]):
        return ""
    shown = " ".join(tokenise(text)[claim.names[0].nth : claim.names[1].nth + 1])
    return f'"{shown}" is the other way round'


def _deed(parsed: Parsed, text: str) -> tuple[str, str, str] | None:
    """Subject, verb and object of a sentence whose only two names stand right before and behind one word."""
    if parsed.negated:
        return None
    one, two = parsed.names
    if two.nth != one.nth + 2 or two.at != one.at + 2 or one.stem == two.stem:
        return None
    verb = look_up(tokenise(text)[one.nth + 1])
    return (one.stem, verb.stem, two.stem) if verb.kind == CONTENT and not verb.entity else None


_ALL: Final = re.compile(r"(?<!not )\b(?:all|every|each)(?: of)?(?: the)? ([^\W\d_]{2,30})", re.IGNORECASE)
_PART: Final = re.compile(
    r"\b(?:(?:only|just) (?:some|a few|few|a part|part|half)|not (?:all|every))(?: of)?(?: the)? ([^\W\d_]{2,30})",
    re.IGNORECASE,
)


def same_part(text: str, other: str) -> bool:
    """Whether both texts say "not all" or "only some" of the same word: then a "not" of one is no denial."""
    if "ot all " not in text and "ot all " not in other:
        return False
    mine, theirs = ({stem(word.lower()) for word in _PART.findall(side)} for side in (text, other))
    return not mine.isdisjoint(theirs)


def quantified(text: str, other: str) -> str:
    """The word of which one text says all and the other only some, "" for none."""
    if "nly " not in text and "nly " not in other and "ust " not in text and "ust " not in other:
        return ""
    for one, two, said in ((_ALL, _PART, "all is not only some"), (_PART, _ALL, "only some is not all")):
        theirs = {stem(word.lower()) for word in two.findall(other)}
        for word in one.findall(text) if theirs else ():
            if stem(word.lower()) in theirs:
                return f'{said} of "{word}"'
    return ""
