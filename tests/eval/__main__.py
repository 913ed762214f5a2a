"""`python -m tests.eval DATA_DIR [--json FILE] [--page FILE]`: how well the engines do on a directory of labelled sets.

Prints one line per JSONL set; --json also writes them as a list of objects, one per set, --page as the tables of
/docs/judge.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, Final

from tests.eval import consensus_sets, judge_sets
from tests.eval.page import page

Evaluator = Callable[[Path], dict[str, Any]]

#: (prefix of the set's name, what measures such sets), first match wins; None: such sets are named and left out.
#: An evaluator returns at least {"set", "n"}; keys that are no COLUMNS are printed behind them.
EVALUATORS: Final[tuple[tuple[str, Evaluator | None], ...]] = (
    ("consensus_", consensus_sets.evaluate),
    ("", judge_sets.evaluate),
)
COLUMNS: Final = ("set", "n", "auc", "accuracy", "pass", "retry", "fail", "p_sup_pass", "p_unsup_fail", "base", "ms")
_WIDTHS: Final = {"set": 24, "p_unsup_fail": 13, "p_sup_pass": 11}
_WIDTH: Final = 9


def evaluator(name: str) -> Evaluator | None:
    """What measures the set of this name."""
    return next(found for prefix, found in EVALUATORS if name.startswith(prefix))


def shown(value: object) -> str:
    """A cell of the table."""
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def line(row: dict[str, Any]) -> str:
    """One line of the table."""
    cells = [shown(row.get(column)).ljust(_WIDTHS.get(column, _WIDTH)) for column in COLUMNS]
    extra = [f"{key} {shown(value)}" for key, value in row.items() if key not in COLUMNS]
    return " ".join([*cells, *extra]).rstrip()


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0; 2 when the directory has no JSONL file."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--page", type=Path, metavar="FILE")
    parser.add_argument("--date", default=date.today().isoformat(), help="the day that --page names (default: today)")
    options = parser.parse_args(arguments)
    paths = sorted(options.data.glob("*.jsonl"))
    if not paths:
        print(f"{options.data}: no .jsonl file", file=sys.stderr)
        return 2
    rows: list[dict[str, Any]] = []
    print(line({column: column for column in COLUMNS}))
    for path in paths:
        measure = evaluator(path.stem)
        if measure is None:
            print(f"{path.stem}: no measure for such sets", file=sys.stderr)
            continue
        rows.append(measure(path))
        print(line(rows[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if options.page:
        options.page.write_text(page(rows, options.date), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
