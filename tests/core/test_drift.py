"""The drift rules, with the arithmetic done by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.core import drift
from api.core.drift import DAY_S, HOUR_S, Counts, Endpoint, Firsts, Metric, Span, Tally

NOON = 1_796_040_000
"""2026-11-30T12:00:00Z."""


@pytest.mark.parametrize("now", [NOON, NOON + 1, NOON + HOUR_S - 1])
def test_the_window_is_24_buckets_with_the_current_one(now: int) -> None:
    """At any time from 12:00 to 12:59 it is 13:00 of the day before to 13:00; the baseline is the 30 days before."""
    assert drift.window(now) == Span(NOON - 23 * HOUR_S, NOON + HOUR_S)
    assert drift.baseline(now) == Span(NOON - 743 * HOUR_S, NOON - 23 * HOUR_S)
    assert drift.last_30_days(now) == Span(NOON - 719 * HOUR_S, NOON + HOUR_S)


CASES: list[tuple[str, Metric, Tally, Tally, bool]] = [
    # 4/20 = 0.20 = 2 x 0.10 = 0.10 + 0.10: both bars exactly.
    ("both bars exactly", "fail_rate", Tally(20, 4), Tally(100, 10), True),
    # 199/1000 = 0.199 < 2 x 0.10.
    ("just below twice", "fail_rate", Tally(1_000, 199), Tally(100, 10), False),
    # 3/20 = 0.15 = 3 x 0.05, and 0.05 + 0.10 = 0.15: a float sum says 0.15000000000000002.
    ("a margin that floats get wrong", "fail_rate", Tally(20, 3), Tally(20, 1), True),
    # 0.6 >= 0.3 x 2 exactly, where 3 x 0.1 as floats is more than 0.3.
    ("twice three tenths", "fail_rate", Tally(20, 12), Tally(10, 3), True),
    # 0.14 = 7 x 0.02, and 0.12 above it.
    ("far above both", "fail_rate", Tally(50, 7), Tally(50, 1), True),
    ("twice, but only 0.05 above", "fail_rate", Tally(20, 2), Tally(20, 1), False),
    ("0.10 above, but not twice", "fail_rate", Tally(20, 14), Tally(20, 10), False),
    # 2/20 = 0.10 is 0.10 above 0.
    ("a baseline of nothing bad", "fail_rate", Tally(20, 2), Tally(1, 0), True),
    ("below 0.10 against nothing bad", "fail_rate", Tally(21, 2), Tally(1, 0), False),
    ("nothing bad at all", "fail_rate", Tally(20, 0), Tally(20, 0), False),
    ("19 calls", "fail_rate", Tally(19, 19), Tally(100, 0), False),
    ("no calls", "fail_rate", Tally(), Tally(100, 0), False),
    ("no baseline", "fail_rate", Tally(20, 20), Tally(), False),
    # 8 halves over 20 calls are 4/20 = 0.20 against 20/2/100 = 0.10.
    ("risks in halves, both bars exactly", "false_consensus_risk", Tally(20, 8), Tally(100, 20), True),
    ("a half below", "false_consensus_risk", Tally(20, 7), Tally(100, 20), False),
]


@pytest.mark.parametrize(
    ("metric", "seen", "before", "clears"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_the_bar(metric: Metric, seen: Tally, before: Tally, clears: bool) -> None:
    assert drift.clears_bar(metric, seen, before) is clears


TALLIES = st.integers(1, 10**6).flatmap(lambda calls: st.tuples(st.just(calls), st.integers(0, calls)))


@given(seen=TALLIES, before=TALLIES)
def test_the_bar_is_the_two_inequalities_in_whole_numbers(seen: tuple[int, int], before: tuple[int, int]) -> None:
    """Cross-multiplied: r/n >= 2 s/m is r m >= 2 s n, and r/n >= s/m + 1/10 is 10 r m >= 10 s n + n m."""
    (n, r), (m, s) = seen, before
    expected = n >= 20 and r * m >= 2 * s * n and 10 * r * m >= 10 * s * n + n * m
    assert drift.clears_bar("fail_rate", Tally(n, r), Tally(m, s)) is expected


def test_rates_are_per_call_of_their_endpoint_and_null_without_calls() -> None:
    """40 judge calls: 18 fails are 0.45, 4 retries 0.1; scores of 19.2 together are 0.48 each. 10 consensus calls with
    3 halves are 0.15."""
    shown = Counts(40, 18, 18, 4, 192_000, 10, 3).shown()
    assert shown == {
        "judge_calls": 40,
        "pass": 18,
        "fail": 18,
        "retry": 4,
        "fail_rate": 0.45,
        "retry_rate": 0.1,
        "average_score": 0.48,
        "consensus_calls": 10,
        "false_consensus_risk": 0.15,
    }
    empty = Counts().shown()
    assert [name for name, value in empty.items() if value is None] == [
        "fail_rate",
        "retry_rate",
        "average_score",
        "false_consensus_risk",
    ]
    assert all(value in (0, None) for value in empty.values())


def test_a_metric_is_about_its_own_part_of_the_counts() -> None:
    assert Counts(40, 1, 18, 0, 0, 10, 3).tally("fail_rate") == Tally(40, 18)
    assert Counts(40, 1, 18, 0, 0, 10, 3).tally("false_consensus_risk") == Tally(10, 3)
    assert Tally(10, 3).rate("false_consensus_risk") == Fraction(3, 20)


def first(version: str, first_at: int, calls: int = 20, endpoint: Endpoint = "judge", total: int | None = 5) -> Firsts:
    return Firsts(version, endpoint, first_at, first_at + 60, calls, total)


def compared(*firsts: Firsts, now: int = NOON) -> list[tuple[str, str, str]]:
    return [(new.firsts.version, new.firsts.endpoint, new.previous) for new in drift.new_versions(firsts, now)]


def test_a_new_version_is_compared_with_the_one_that_began_last_before_it() -> None:
    old, older = first("9", NOON - 5 * DAY_S), first("8", NOON - 6 * DAY_S)
    assert compared(old, first("10", NOON - HOUR_S), older) == [("10", "judge", "9")]


@pytest.mark.parametrize(
    ("ago", "new"), [(0, True), (DAY_S - 1, True), (DAY_S, False), (DAY_S + 1, False), (-HOUR_S, True)]
)
def test_a_version_is_new_for_24_hours(ago: int, new: bool) -> None:
    """One from the future too: the clock has stepped back."""
    assert bool(compared(first("1", NOON - 9 * DAY_S), first("2", NOON - ago))) is new


def test_a_version_is_looked_at_once_it_has_20_calls_whose_total_is_known() -> None:
    old = first("1", NOON - 9 * DAY_S)
    assert compared(old, first("2", NOON - 60, calls=19)) == []
    assert compared(old, first("2", NOON - 60, total=None)) == []
    assert compared(old, first("2", NOON - 60, total=0)) == [("2", "judge", "1")]


def test_the_first_call_of_a_version_is_at_whichever_endpoint() -> None:
    """Version 2 began at consensus two days ago, so its first judge calls of today are not those of a new version. For
    version 3 it is the one before: its consensus calls began after 1's, and before 3's."""
    old = first("1", NOON - 9 * DAY_S)
    two = (first("2", NOON - 2 * DAY_S, endpoint="consensus"), first("2", NOON - HOUR_S))
    assert compared(old, *two) == []
    assert compared(old, *two, first("3", NOON - 2 * HOUR_S)) == [("3", "judge", "2")]


def test_both_endpoints_of_a_new_version_are_compared() -> None:
    both = (first("2", NOON - 60), first("2", NOON - 90, endpoint="consensus"))
    assert sorted(compared(first("1", NOON - DAY_S), *both)) == [("2", "consensus", "1"), ("2", "judge", "1")]


def test_versions_of_the_same_second_do_not_precede_one_another() -> None:
    old, twins = first("1", NOON - 9 * DAY_S), (first("b", NOON - 60), first("a", NOON - 60))
    assert compared(old, *twins) == [("a", "judge", "1"), ("b", "judge", "1")]
    assert compared(*twins) == []
    assert compared(*twins, first("c", NOON - 30)) == [("c", "judge", "b")]


def test_calls_without_a_version_are_those_of_the_version_with_no_name() -> None:
    assert compared(first("", NOON - 9 * DAY_S), first("1", NOON - 60)) == [("1", "judge", "")]
    assert compared(first("1", NOON - 9 * DAY_S), first("", NOON - 60)) == [("", "judge", "1")]
    assert compared(first("", NOON - 60)) == []
