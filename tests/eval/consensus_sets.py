"""Labelled sets for consensus: one JSON object a line with `task` and `answers` [{agent_id, output, correct}].

What is measured is whether agreement tells right from wrong. `auc`: of the correctness of the first answer that gives
the winning answer key, by that key's share of the answers; `accuracy`: how often that answer is right. Beside them the
same by clusters of words: `token_auc` by agreement_score, `token_accuracy` of consensus_answer.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.core.consensus import Answer, consensus
from api.core.signals import consensus_signals
from tests.eval.judge_sets import read
from tests.eval.measures import auc, share


@dataclass(frozen=True, slots=True)
class Agreed:
    """One question: how far the answers agree and whether the agreed one is right, by key and by words; the time."""

    share: float
    right: bool
    token_share: float
    token_right: bool
    ms: float


def evaluate(path: Path, clock: Callable[[], float] = time.perf_counter) -> dict[str, Any]:
    """The row of the table for one set. `ms` is the median time per question of consensus and signals together."""
    rows = [_agree(row, clock) for row in read(path) if len(row["answers"]) > 1]
    return {"set": path.stem, **measure(rows)}


def measure(rows: list[Agreed]) -> dict[str, Any]:
    """All measures; null where there is nothing to measure."""
    return {
        "n": len(rows),
        "auc": auc([row.right for row in rows], [row.share for row in rows]),
        "accuracy": share([row.right for row in rows]),
        "ms": statistics.median(row.ms for row in rows) if rows else None,
        "token_auc": auc([row.token_right for row in rows], [row.token_share for row in rows]),
        "token_accuracy": share([row.token_right for row in rows]),
    }


def _agree(row: dict[str, Any], clock: Callable[[], float]) -> Agreed:
    answers = [Answer(answer["output"], answer.get("agent_id")) for answer in row["answers"]]
    start = clock()
    result = consensus(answers)
    signals = consensus_signals(result, row.get("task") or "")
    ms = 1000 * (clock() - start)
    key = signals["answer_keys"][0]
    chosen = result.winner.members[0]
    return Agreed(
        share=key["share"],
        right=row["answers"][key["answers"][0]]["correct"],
        token_share=len(result.winner.members) / len(answers),
        token_right=row["answers"][chosen]["correct"],
        ms=ms,
    )
