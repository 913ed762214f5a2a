"""Pure: measures of a scorer on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence


def auc(labels: Sequence[bool], scores: Sequence[float]) -> float | None:
    """The probability that a positive row scores higher than a negative one, ties counting half (Mann and Whitney).

    None when there are no positive or no negative rows.
    """
    positives = sum(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        return None
    order = sorted(range(len(scores)), key=scores.__getitem__)
    rank_sum = 0.0
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and scores[order[end]] == scores[order[at]]:
            end += 1
        mean_rank = (at + 1 + end) / 2
        rank_sum += mean_rank * sum(labels[row] for row in order[at:end])
        at = end
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


def share(flags: Sequence[bool]) -> float | None:
    """The share of true flags; None of nothing."""
    return sum(flags) / len(flags) if flags else None
