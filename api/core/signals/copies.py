"""Pure: answers that repeat one another word for word over long stretches (shingling: Broder, 1997)."""

from __future__ import annotations

from collections import Counter
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
    signs = _Signs()
    known = {output: _shingles(output, signs) for output in dict.fromkeys(outputs)}
    shingles = [known[output] for output in outputs]
    shared = _shared(shingles)
    found: list[dict[str, object]] = []
    for a, b in combinations(range(len(outputs)), 2):
        size, common = min(len(shingles[a]), len(shingles[b])), shared[a, b]
        if size and common * 100 >= size * COPIED:
            found.append({"agent_ids": [ids[a], ids[b]], "answers": [a, b], "containment": rounded(common, size)})
    return found


def _shared(shingles: Sequence[frozenset[str]]) -> Counter[tuple[int, int]]:
    """How many shingles each pair of answers has in common. One pass over all of them: most are in one answer only."""
    owners: dict[str, int] = {}
    for index, own in enumerate(shingles):
        bit = 1 << index
        for shingle in own:
            owners[shingle] = owners.get(shingle, 0) | bit
    shared: Counter[tuple[int, int]] = Counter()
    for mask, count in Counter(owners.values()).items():
        members = [index for index in range(len(shingles)) if mask >> index & 1]
        for pair in combinations(members, 2):
            shared[pair] += count
    return shared


class _Signs(dict[str, str]):
    """One character for each word, the same for words that differ in case and accents only: a text becomes a string
    and a shingle a slice of it. Which character is of no meaning."""

    def __missing__(self, word: str) -> str:
        folded = fold(word)
        sign = chr(len(self)) if folded == word else self[folded]
        self[word] = sign
        return sign


def _shingles(text: str, signs: _Signs) -> frozenset[str]:
    """The distinct runs of WIDTH words."""
    tokens = tokenise(text)
    if not text.isascii():
        tokens = [word for token in tokens for word in (token if look_up(token).kind == UNSPACED else (token,))]
    line = "".join([signs[token] for token in tokens])
    return frozenset(line[start : start + WIDTH] for start in range(len(line) - WIDTH + 1))
