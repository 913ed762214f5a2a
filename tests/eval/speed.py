"""`python -m tests.eval.speed`: how long one judgement takes on this machine, and how long the worst inputs take.

Times are medians of repeated calls in one warm process, in milliseconds. Nothing here is asserted: figures belong to
a machine.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from api.core.judge import judge
from tests.eval.edits import documents, sentences


class Case(NamedTuple):
    """One request."""

    name: str
    task: str
    output: str
    evidence: Sequence[str]
    criteria: Sequence[str] = ()


#: The request that the API documents.
DOCUMENTED: Final = Case(
    "documented example",
    "State the crew size and launch site.",
    "The crew size was 4. The mission launched from Cape Canaveral.",
    ("The mission launched on 2024-03-01 from Cape Canaveral.", "The crew size was 4."),
    ("crew size", "Cape Canaveral"),
)
_TOTAL: Final = 256_000
_OUTPUT: Final = 64_000
_ITEM: Final = 16_000


def ordinary() -> list[Case]:
    """Requests of the usual size: the documented one, and answers against 2,000 characters of evidence."""
    texts = list(documents().values())
    evidence = " ".join(texts)[:2000]
    found = sentences(texts[0])
    return [
        DOCUMENTED,
        Case("2 kB document, 1 claim", "", found[0], (evidence,)),
        Case("2 kB document, 3 claims", "", " ".join(found[:3]), (evidence,)),
        Case("2 kB document, 3 edited claims", "", " ".join(found[:3]).replace("640", "641"), (evidence,)),
    ]


def largest() -> list[Case]:
    """Requests of the largest accepted size, of kinds that could be slow."""
    prose = " ".join(documents().values())
    digits = "".join(f"{number} " for number in range(_TOTAL // 4))
    pairs = "".join(f"a{number % 7}b. " for number in range(_TOTAL // 4))
    alike = "".join(f"abcdefgh{number:x} " for number in range(_TOTAL // 8))
    kinds = {
        "prose": prose * (_TOTAL // len(prose) + 1),
        "numbers": digits,
        "short sentences": "Ab. " * (_TOTAL // 4),
        "short names": pairs,
        "alike words": alike,
        "names": "Ab Cd Ef. " * (_TOTAL // 10),
        "one word": "a" * _TOTAL,
        "open brackets": "[" * _TOTAL,
        "full stops": "." * _TOTAL,
        "full stops in words": ("." * 30_000 + "x") * (_TOTAL // 30_000),
        "blank lines": "\n \n" * (_TOTAL // 3),
        "equations": "1+1=2 " * (_TOTAL // 6),
        "equal signs": "1=" * (_TOTAL // 2),
        "negations": "not open not shut. " * (_TOTAL // 19),
        "quotes": '"\\' * (_TOTAL // 2),
        "Chinese": "乗組員は四人で発射台から出発した" * (_TOTAL // 16),
        "accents": "é̂" * (_TOTAL // 3),
        "dates": "On 1 May 2001 and 2002-03-04. " * (_TOTAL // 30),
    }
    cases = []
    for name, text in kinds.items():
        rest = text[_OUTPUT : _TOTAL - 25_000]
        items = [rest[at : at + _ITEM] for at in range(0, len(rest), _ITEM)]
        criteria = [text[at : at + 500] for at in range(0, 25_000, 500)]
        cases.append(Case(f"largest: {name}", "", text[:_OUTPUT], items, criteria))
    return cases


def median_ms(case: Case, repeat: int) -> float:
    """The median time of `repeat` calls."""
    return 1000 * statistics.median(_timed(case, repeat))


def _timed(case: Case, repeat: int, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    times = []
    for _ in range(repeat):
        start = clock()
        judge(case.task, case.output, case.evidence, case.criteria)
        times.append(clock() - start)
    return times


def main() -> None:
    """Prints the table: the median and the fastest call, which a busy machine disturbs less."""
    for case in ordinary():
        _timed(case, 50)
        times = _timed(case, 400)
        print(f"{case.name:36} {1000 * statistics.median(times):10.3f} ms, fastest {1000 * min(times):.3f} ms")
    for case in largest():
        print(f"{case.name:36} {median_ms(case, 1):10.1f} ms", flush=True)


if __name__ == "__main__":
    main()
