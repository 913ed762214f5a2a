"""Pure. What drift counts mean: their rates, the spans that are compared, and when a change is worth an alert.

The rules are those of PRODUCT.md section 8. Totals are whole numbers (fails, or false-consensus risks in halves), so
that every comparison is exact; only what is shown is a float.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

HOUR_S = 3_600
DAY_S = 86_400
WINDOW_HOURS = 24
BASELINE_HOURS = 720
SCORE_UNIT = 10_000
"""Scores are summed in ten-thousandths."""
RISK_UNITS = {"low": 0, "medium": 1, "high": 2}
"""Risks are summed in halves."""

FEWEST_CALLS = 20
"""A window with fewer calls says too little for an alert; also how many of a version's calls are its first."""
FACTOR = 2
MARGIN = Fraction(1, 10)
"""An alert wants a rate of at least FACTOR times the baseline's and at least MARGIN above it."""

Endpoint = Literal["judge", "consensus"]
Metric = Literal["fail_rate", "false_consensus_risk"]
METRIC_OF: Mapping[Endpoint, Metric] = {"judge": "fail_rate", "consensus": "false_consensus_risk"}
UNIT_OF: Mapping[Metric, int] = {"fail_rate": 1, "false_consensus_risk": 2}
"""What a call adds to the total of a metric at most: one fail, or two halves of risk."""


@dataclass(frozen=True, slots=True)
class Span:
    """Whole hours, as epoch seconds: from the start of the first to the end of the last."""

    start: int
    end: int


def window(now: int) -> Span:
    """The last 24 hourly buckets, the one that `now` falls into included."""
    end = now // HOUR_S * HOUR_S + HOUR_S
    return Span(end - WINDOW_HOURS * HOUR_S, end)


def baseline(now: int) -> Span:
    """The 720 hourly buckets before the window's."""
    end = window(now).start
    return Span(end - BASELINE_HOURS * HOUR_S, end)


def last_30_days(now: int) -> Span:
    """The last 720 hourly buckets, the one that `now` falls into included."""
    end = window(now).end
    return Span(end - BASELINE_HOURS * HOUR_S, end)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many calls of one endpoint, and the total of its metric over them: fails, or risks in halves."""

    calls: int = 0
    total: int = 0

    def rate(self, metric: Metric) -> Fraction | None:
        """The total per call, 0 to 1; None without calls."""
        return Fraction(self.total, self.calls * UNIT_OF[metric]) if self.calls else None


@dataclass(frozen=True, slots=True)
class Counts:
    """Sums over any calls. `score_total` is in ten-thousandths, `risk_total` in halves."""

    judge_calls: int = 0
    passes: int = 0
    fails: int = 0
    retries: int = 0
    score_total: int = 0
    consensus_calls: int = 0
    risk_total: int = 0

    def tally(self, metric: Metric) -> Tally:
        """The part that the metric is about."""
        if metric == "fail_rate":
            return Tally(self.judge_calls, self.fails)
        return Tally(self.consensus_calls, self.risk_total)

    def shown(self) -> dict[str, Any]:
        """The counts as GET /v1/drift shows them. Rates are per judge call, the risk per consensus call; they are None
        where there were no calls, since 0 would be a claim."""
        judged, agreed = self.judge_calls, self.consensus_calls
        return {
            "judge_calls": judged,
            "pass": self.passes,
            "fail": self.fails,
            "retry": self.retries,
            "fail_rate": _ratio(self.fails, judged),
            "retry_rate": _ratio(self.retries, judged),
            "average_score": _ratio(self.score_total, judged * SCORE_UNIT),
            "consensus_calls": agreed,
            "false_consensus_risk": _ratio(self.risk_total, agreed * UNIT_OF["false_consensus_risk"]),
        }


def clears_bar(metric: Metric, seen: Tally, before: Tally) -> bool:
    """Whether a rate has risen enough for an alert: at least 20 calls, at least twice the baseline's rate and at least
    0.10 above it. Both bounds are included.

    Against a rate of 0 the second bar decides alone. Without calls in the baseline there is nothing to compare with,
    and no alert.
    """
    rate, usual = seen.rate(metric), before.rate(metric)
    if rate is None or usual is None or seen.calls < FEWEST_CALLS:
        return False
    return rate >= FACTOR * usual and rate >= usual + MARGIN


@dataclass(frozen=True, slots=True)
class Firsts:
    """The first calls of a version at one endpoint, 20 at most, between `first_at` and `last_at` in epoch seconds.

    `total` is None when there were more than 20 before they were recorded: their total can't be told any more.
    """

    version: str
    endpoint: Endpoint
    first_at: int
    last_at: int
    calls: int
    total: int | None


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version that is to be compared: its first calls at one endpoint, and the version before it."""

    firsts: Firsts
    previous: str


def version_starts(firsts: Iterable[Firsts]) -> dict[str, int]:
    """When each version of one agent was first called, at whichever endpoint."""
    starts: dict[str, int] = {}
    for one in firsts:
        starts[one.version] = min(one.first_at, starts.get(one.version, one.first_at))
    return starts


def new_versions(firsts: Sequence[Firsts], now: int) -> list[NewVersion]:
    """Which of one agent's versions are to be compared at `now`, the one that began first coming first.

    A version is new for 24 hours from its first call, at whichever endpoint that was, and is compared at each endpoint
    where its 20 first calls are complete. The version before it is the one that began last among those that began
    earlier. Versions that began within the same second do not precede one another; of several that precede, the one
    whose name sorts last stands. Calls without a version are those of the version "". A version that nothing precedes
    is compared with nothing.
    """
    starts = version_starts(firsts)
    found = []
    for one in sorted(firsts, key=lambda each: (starts[each.version], each.version)):
        began = starts[one.version]
        earlier = [(start, version) for version, start in starts.items() if start < began]
        if began > now - DAY_S and one.calls >= FEWEST_CALLS and one.total is not None and earlier:
            found.append(NewVersion(one, max(earlier)[1]))
    return found


def _ratio(total: int, of: int) -> float | None:
    return float(Fraction(total, of)) if of else None
