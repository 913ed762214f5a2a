"""Pure: answers that repeat one another word for word over long stretches (shingling: Broder, 1997)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from api.core.judge.normalise import fold
from api.core.judge.words import UNSPACED, look_up, tokenise
from api.core.signals.overlap import rounded

#: Words in a shingle. A shorter answer has none: two agents that both say "Paris" have not copied.
WIDTH: Final = 5
#: The share of the shorter answer's shingles that the longer one must have too, in per cent.
COPIED: Final = 80


def copies(outputs: Sequence[str], ids: Sequence[str]) -> list[dict[str, object]]:
    """The pairs of answers of which one contains at least 80% of the shorter one's 5-word shingles.

    Words are compared in lower case without accents, function words and numbers included, punctuation left out; in
    scripts without blanks every character is a word. `containment` has four decimals, rounded half up.
    """
    numbers = _Numbers()
    known = {output: _shingles(output, numbers) for output in dict.fromkeys(outputs)}
    found: list[dict[str, object]] = []
    for a, b in combinations(range(len(outputs)), 2):
        small, large = sorted((known[outputs[a]], known[outputs[b]]), key=len)
        if not small:
            continue
        shared = len(small) if small is large else len(small & large)
        if shared * 100 >= len(small) * COPIED:
            found.append({"agent_ids": [ids[a], ids[b]], "answers": [a, b], "containment": rounded(shared, len(small))})
    return found


class _Numbers(dict[str, int]):
    """A number for each word, the same for words that differ in case and accents only."""

    def __missing__(self, word: str) -> int:
        folded = fold(word)
        number = len(self) if folded == word else self[folded]
        self[word] = number
        return number


def _shingles(text: str, numbers: _Numbers) -> frozenset[tuple[int, ...]]:
    """The distinct runs of WIDTH words."""
    tokens = tokenise(text)
    if not text.isascii():
        tokens = [word for token in tokens for word in (token if look_up(token).kind == UNSPACED else (token,))]
    words = [numbers[token] for token in tokens]
    return frozenset(zip(*(words[start:] for start in range(WIDTH)), strict=False))
