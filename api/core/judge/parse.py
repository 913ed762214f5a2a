"""Pure: one sentence to the facts that the judge compares: content stems in order, numbers, names, negations."""

from __future__ import annotations

from api.core.judge.cjk import counted
from api.core.judge.facts import MOST_KEPT, Name, Number, Parsed, number_key
from api.core.judge.quantities import read_quantity
from api.core.judge.words import CONTENT, LITERAL, NEGATION, STOP, UNSPACED, known, look_up, tokenise


def parse(text: str) -> Parsed:
    """Reads one sentence. Never raises; text without words gives an empty result."""
    tokens = tokenise(text)
    content: list[str] = []
    parsed = Parsed(content, [], [], [], [], [], len(tokens))
    names, negated, polar = parsed.names, parsed.negated, parsed.polar
    table = known()
    resume = 0
    for index, token in enumerate(tokens):
        if index < resume:
            continue
        word = table.get(token) or look_up(token)
        kind = word[0]
        if kind == CONTENT:
            if word[3]:
                opening = index == 0 and word[3] == 1 and not _followed_by_name(tokens)
                names.append(Name(word[2], token, len(content), index, opening))
            content.append(word[2])
            if word[7]:
                negated.append(len(content))
        elif kind == STOP:
            if word[6]:
                polar.append(word[1])
        elif kind == NEGATION:
            negated.append(len(content))
        elif kind == UNSPACED:
            _unspaced(word[1], parsed)
        elif kind == LITERAL:
            names.append(Name(word[2], token, len(content), index))
            content.append(word[2])
        else:
            if word[6]:
                polar.append(word[1])
            resume = read_quantity(tokens, index, word, parsed)
    if len(tokens) > MOST_KEPT:
        for kept in (names, negated, parsed.numbers, parsed.dates):
            del kept[MOST_KEPT:]
    return parsed


def _unspaced(run: str, parsed: Parsed) -> None:
    """Adds a run of text without blanks: its pairs of characters, and its counted numerals as numbers."""
    done = 0
    for start, end, value in counted(run):
        _pairs(run[done:start], parsed.content)
        parsed.numbers.append(Number((float(value),), len(parsed.content), run[start:end]))
        parsed.content.append(number_key(value))
        done = end
    _pairs(run[done:], parsed.content)


def _pairs(run: str, content: list[str]) -> None:
    if len(run) == 1:
        content.append(run)
    else:
        content.extend(run[i : i + 2] for i in range(len(run) - 1))


def _followed_by_name(tokens: list[str]) -> bool:
    """Whether the second word has a capital too: then the first one is part of a name, not just an opening."""
    return len(tokens) > 1 and tokens[1][0].isupper() and look_up(tokens[1]).kind == CONTENT
