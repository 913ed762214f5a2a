"""Pure. UTC times as the API writes them. All inputs are epoch seconds."""

from datetime import UTC, datetime, timedelta

DAY_S = 86_400


def rfc3339(seconds: float) -> str:
    """2026-11-30T12:00:00Z, to the second."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def utc_day(seconds: float) -> str:
    """2026-11-30."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d")


def day_end(seconds: float) -> int:
    """Epoch seconds of the next midnight UTC, at least one second ahead."""
    return (int(seconds) // DAY_S + 1) * DAY_S


def last_days(seconds: float, count: int) -> list[str]:
    """The last `count` UTC days, today first."""
    today = datetime.fromtimestamp(int(seconds), UTC).date()
    return [(today - timedelta(days=back)).isoformat() for back in range(count)]
