"""Requests per second of each key: a token bucket, in memory, one a process."""

from collections.abc import Callable
from dataclasses import dataclass

MAX_BUCKETS = 50_000


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


class RateLimiter:
    """Lets each key make `per_second` requests a second on average and `burst` at once. `per_second` 0 means no limit.

    `clock` gives seconds; a clock that steps back adds nothing and takes nothing.
    """

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float]) -> None:
        self.per_second, self.burst, self._clock = per_second, burst, clock
        self._buckets: dict[str, _Bucket] = {}

    def take(self, key: str) -> float | None:
        """Takes one token; None when there was one, else the seconds until there is."""
        if not self.per_second:
            return None
        now = self._clock()
        bucket = self._buckets.get(key)
        if bucket is None:
            self._make_room(now)
            bucket = self._buckets[key] = _Bucket(self.burst, now)
        self._fill(bucket, now)
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / self.per_second
        bucket.tokens -= 1
        return None

    def _fill(self, bucket: _Bucket, now: float) -> None:
        bucket.tokens = min(self.burst, bucket.tokens + max(0.0, now - bucket.filled_at) * self.per_second)
        bucket.filled_at = now

    def _make_room(self, now: float) -> None:
        """Forgets full buckets, which say the same as no bucket, and if that is not enough the oldest half."""
        if len(self._buckets) < MAX_BUCKETS:
            return
        for bucket in self._buckets.values():
            self._fill(bucket, now)
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if bucket.tokens < self.burst}
        for key in list(self._buckets)[: len(self._buckets) - MAX_BUCKETS // 2]:
            del self._buckets[key]
