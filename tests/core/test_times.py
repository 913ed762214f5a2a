"""Times as the API writes them, with values from a calendar."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.core.times import day_end, last_days, rfc3339, utc_day
from tests.live import NOON

LEAP_DAY = 1_709_164_800  # 2024-02-29T00:00:00Z
SECONDS = st.floats(0, 4_102_444_800, allow_nan=False)


@pytest.mark.promise("http.times")
def test_times_are_in_utc_with_z() -> None:
    assert rfc3339(NOON) == "2026-11-30T12:00:00Z"
    assert rfc3339(0) == "1970-01-01T00:00:00Z"
    assert rfc3339(LEAP_DAY - 0.001) == "2024-02-28T23:59:59Z"
    assert utc_day(LEAP_DAY) == "2024-02-29"
    assert utc_day(LEAP_DAY - 0.1) == "2024-02-28"


def test_the_day_ends_at_the_next_midnight() -> None:
    assert day_end(LEAP_DAY) == LEAP_DAY + 86_400
    assert day_end(LEAP_DAY + 86_399.9) == LEAP_DAY + 86_400
    assert rfc3339(day_end(NOON)) == "2026-12-01T00:00:00Z"


def test_the_last_days_go_back_over_months() -> None:
    assert last_days(LEAP_DAY + 86_400, 3) == ["2024-03-01", "2024-02-29", "2024-02-28"]
    assert len(set(last_days(NOON, 30))) == 30


@given(SECONDS)
def test_written_times_are_read_back(seconds: float) -> None:
    assert datetime.fromisoformat(rfc3339(seconds)) == datetime.fromtimestamp(int(seconds), UTC)
    assert rfc3339(seconds).startswith(utc_day(seconds))
    assert 0 < day_end(seconds) - int(seconds) <= 86_400
    assert utc_day(day_end(seconds)) > utc_day(seconds)
