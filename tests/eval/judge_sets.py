"""Labelled sets for the judge: one JSON object a line with `task`, `agent_output`, `evidence` and `label`.

`label` is "supported" or "unsupported". Three ways to run a set, chosen by its name and rows:
- with evidence: the evidence is evidence; the judge is right when it passes what is supported and nothing else;
- as criteria (`evouna_*`): the gold answers in `evidence` are the alternatives of one criterion; it is right when the
  criterion is met by supported answers and by no others;
- without evidence (`gsm8k_solutions`): only what contradicts itself or states a false sum can be told; it is right when
  it fails what is unsupported and nothing else.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from api.core.judge import Judgement, judge
from tests.eval.measures import auc, share

#: Sets whose evidence is gold answers.
AS_CRITERIA: Final = ("evouna_",)


@dataclass(frozen=True, slots=True)
class Judged:
    """One row after judging: its label, the judgement, whether the judge took it for supported, and the time."""

    supported: bool
    judgement: Judgement
    accepted: bool
    ms: float


def evaluate(path: Path, clock: Callable[[], float] = time.perf_counter) -> dict[str, Any]:
    """The row of the table for one set. `ms` is the median time per item, `base` the share of unsupported rows."""
    as_criteria = path.stem.startswith(AS_CRITERIA)
    rows = [_judge(row, as_criteria, clock) for row in read(path)]
    return {"set": path.stem, **measure(rows)}


def measure(rows: list[Judged]) -> dict[str, Any]:
    """All measures of judged rows; null where there is nothing to measure."""
    verdicts = [row.judgement.verdict for row in rows]
    return {
        "n": len(rows),
        "auc": auc([row.supported for row in rows], [row.judgement.score for row in rows]),
        "accuracy": share([row.accepted == row.supported for row in rows]),
        **{name: share([verdict == name for verdict in verdicts]) for name in ("pass", "retry", "fail")},
        "p_sup_pass": share([row.supported for row in rows if row.judgement.verdict == "pass"]),
        "p_unsup_fail": share([not row.supported for row in rows if row.judgement.verdict == "fail"]),
        "base": share([not row.supported for row in rows]),
        "ms": statistics.median(row.ms for row in rows) if rows else None,
    }


def read(path: Path) -> Iterable[dict[str, Any]]:
    """The rows of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _judge(row: dict[str, Any], as_criteria: bool, clock: Callable[[], float]) -> Judged:
    evidence = row["evidence"]
    criteria = [" | ".join(evidence)] if as_criteria and evidence else []
    start = clock()
    judgement = judge(row.get("task") or "", row["agent_output"], [] if criteria else evidence, criteria)
    ms = 1000 * (clock() - start)
    if criteria:
        accepted = judgement.criteria[0].met
    else:
        accepted = judgement.verdict == "pass" if evidence else judgement.verdict != "fail"
    return Judged(row["label"] == "supported", judgement, accepted, ms)
