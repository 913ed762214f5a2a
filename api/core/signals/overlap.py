"""Pure: how alike the answers are, and how many independent ones they amount to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from api.core.consensus import Similarities

_PLACES: Final = 10_000


Pairs = dict[tuple[int, int], tuple[int, int]]
"""(a, b) with a < b, to the similarity of answers a and b as (size of the intersection, size of the union)."""


def pairs(outputs: Sequence[str]) -> Pairs:
    """The token Jaccard similarity of every two answers, by which PRODUCT.md section 6 clusters them."""
    similarities = Similarities(outputs)
    return {(a, b): similarities.of(a, b) for a, b in combinations(range(len(outputs)), 2)}


def matrix(size: int, similar: Pairs) -> list[list[int | float]]:
    """Row i, column j is the similarity of answers i and j, 0..1: symmetric, 1 on the diagonal, four decimals rounded
    half up from the exact fraction, an int when whole."""
    rows: list[list[int | float]] = [[1] * size for _ in range(size)]
    for (a, b), (shared, union) in similar.items():
        rows[a][b] = rows[b][a] = rounded(shared, union)
    return rows


def rounded(part: int, whole: int) -> int | float:
    """part / whole to four decimals, halves up; an int when that is whole, so that it prints as `1`."""
    tens = (2 * _PLACES * part + whole) // (2 * whole)
    return tens // _PLACES if tens % _PLACES == 0 else tens / _PLACES


def plain(value: float, places: int) -> int | float:
    """`value` to that many decimals; an int when whole."""
    short = round(value, places)
    return int(short) if short == int(short) else short


def effective_agents(size: int, similar: Pairs) -> int | float:
    """n / (1 + (n - 1) m) to two decimals, with m the mean similarity of all pairs: n for answers that share nothing,
    1 for answers that are all alike. It is the effective sample size under a design effect (Kish, 1965), similarity
    standing in for the correlation between agents."""
    mean = math.fsum(shared / union for shared, union in similar.values()) / max(1, len(similar))
    return plain(size / (1 + (size - 1) * mean), 2)
