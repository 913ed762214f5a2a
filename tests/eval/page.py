"""The measured table of /docs/judge, as Markdown: what was measured, when, and the figures, nothing typed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

#: What a row of each set is, for readers who do not know it.
SETS: Final[Mapping[str, str]] = {
    "dialfact": "dialogue replies against Wikipedia",
    "evouna_nq": "answers of five systems, the gold answers as one criterion",
    "factcheckgpt": "claims against web snippets",
    "gsm8k_solutions": "worked solutions without evidence: sums only",
    "halueval_qa": "right and invented answers",
    "summedits": "minimally edited summaries",
    "wice": "Wikipedia claims against cited texts",
    "consensus_gsm8k": "four agents on 500 sums",
    "consensus_evouna_nq": "up to five systems on 1,200 questions",
}
#: Sets whose rows have no evidence to be held against.
WITHOUT_EVIDENCE: Final = ("evouna_nq", "gsm8k_solutions")
_JUDGE: Final = ("auc", "accuracy", "pass", "retry", "fail", "p_sup_pass", "p_unsup_fail", "base")


def page(rows: Sequence[Mapping[str, Any]], date: str) -> str:
    """Two tables, judge sets and consensus sets, under a line that says when they were measured."""
    judge = [row for row in rows if "p_sup_pass" in row]
    consensus = [row for row in rows if "token_auc" in row]
    parts = [
        f"Measured on {date} with `make eval`, every row of each set once.",
        "| set | rows | AUC | accuracy | pass | retry | fail "
        "| supported, of pass | unsupported, of fail | unsupported, of all |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(f"| {_name(row)} | {row['n']:,} | {' | '.join(_cell(row[name]) for name in _JUDGE)} |" for row in judge),
    ]
    lines = [parts[0], "", *parts[1:], "", _pooled([row for row in judge if row["set"] not in WITHOUT_EVIDENCE])]
    if consensus:
        lines += [
            "",
            "For consensus: whether agreement tells right answers from wrong ones, by answer key (`signals`) and by",
            "words (`agreement_score`).",
            "",
            "| set | questions | AUC by answer key | AUC by words | right, by answer key | right, by words |",
            "|---|---|---|---|---|---|",
        ]
        names = ("auc", "token_auc", "accuracy", "token_accuracy")
        lines += [f"| {_name(row)} | {row['n']:,} | {' | '.join(_cell(row[n]) for n in names)} |" for row in consensus]
    return "\n".join(lines) + "\n"


def _pooled(rows: Sequence[Mapping[str, Any]]) -> str:
    """How much of each verdict is supported, over all rows of the evidence sets together."""
    counts = {verdict: sum(row["n"] * row[verdict] for row in rows) for verdict in ("pass", "retry", "fail")}
    supported = {
        "pass": sum(row["n"] * row["pass"] * (row["p_sup_pass"] or 0) for row in rows),
        "fail": sum(row["n"] * row["fail"] * (1 - (row["p_unsup_fail"] or 1)) for row in rows),
    }
    supported["retry"] = sum(row["n"] * (1 - row["base"]) for row in rows) - sum(supported.values())
    shares = {verdict: f"{supported[verdict] / count:.0%}" if count else "none" for verdict, count in counts.items()}
    total = sum(row["n"] for row in rows)
    return (
        f"Over the {total:,} rows of the {len(rows)} evidence sets together, {shares['pass']} of what passed was "
        f"supported, {shares['retry']} of the retries, and {shares['fail']} of what failed."
    )


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['set']}: {SETS[row['set']]}" if row["set"] in SETS else str(row["set"])


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
