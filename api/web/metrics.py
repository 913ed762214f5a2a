"""/metrics in Prometheus' text format, behind the operator's token. Names and numbers only, never content or keys.

With several workers prometheus-client keeps each one's values in files of PROMETHEUS_MULTIPROC_DIR, which the
parent makes, and whichever worker is asked adds them up.
"""

from hmac import compare_digest

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from api.service import operator
from api.service.grading import Asked
from api.service.services import Services
from api.web.response import Response

PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LATENCIES = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """What a process counts. One for each composition, with a registry of its own. `merged` True: one of several
    workers."""

    def __init__(self, *, merged: bool) -> None:
        self._merged = merged
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "screwtape_requests", "Answers by operation and status.", ("operation", "status"), registry=self.registry
        )
        self._latency = Histogram(
            "screwtape_request_seconds",
            "Time from the last byte of a request to its answer.",
            ("operation",),
            buckets=_LATENCIES,
            registry=self.registry,
        )
        self._denials = Counter(
            "screwtape_denials", "Refusals and errors by problem code.", ("code",), registry=self.registry
        )
        self._batches = Histogram(
            "screwtape_commit_batch", "Calls that shared a commit.", buckets=_BATCHES, registry=self.registry
        )
        self._asked = Counter(
            "screwtape_model_calls", "Requests to models by outcome.", ("model", "outcome"), registry=self.registry
        )
        self._asked_seconds = Histogram(
            "screwtape_model_seconds",
            "Time that a request to a model took.",
            ("model",),
            buckets=_LATENCIES,
            registry=self.registry,
        )
        self._tokens = Counter(
            "screwtape_model_tokens", "Tokens as the models count them.", ("direction",), registry=self.registry
        )
        self._deliveries = Counter(
            "screwtape_deliveries", "Attempts to deliver an alert by outcome.", ("outcome",), registry=self.registry
        )
        self._in_flight = Gauge(
            "screwtape_in_flight", "Requests being answered.", registry=self.registry, multiprocess_mode="livesum"
        )
        self._waiting = Gauge(
            "screwtape_commit_waiting",
            "Calls that wait for their commit.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Counts one answer. `operation` is an operation's id, or "site", or "unknown"."""
        self._requests.labels(operation, str(status)).inc()
        self._latency.labels(operation).observe(seconds)

    def denied(self, code: str) -> None:
        """Counts one problem."""
        self._denials.labels(code).inc()

    def committed(self, calls: int) -> None:
        """Counts one batch."""
        self._batches.observe(calls)

    def asked(self, asked: Asked) -> None:
        """Counts one request to a model."""
        self._asked.labels(asked.role, asked.outcome).inc()
        self._asked_seconds.labels(asked.role).observe(asked.seconds)
        self._tokens.labels("in").inc(asked.tokens_in)
        self._tokens.labels("out").inc(asked.tokens_out)

    def delivered(self, outcome: str) -> None:
        """Counts one attempt to deliver an alert: delivered, retried, given_up or turned_off."""
        self._deliveries.labels(outcome).inc()

    def levels(self, in_flight: int, waiting: int) -> None:
        """Notes how much is going on at this moment."""
        self._in_flight.set(in_flight)
        self._waiting.set(waiting)

    def text(self) -> bytes:
        """Everything counted, over all workers when there are several."""
        if not self._merged:
            return generate_latest(self.registry)
        merged = CollectorRegistry()
        MultiProcessCollector(merged)  # type: ignore[no-untyped-call]  # the package's own gap
        return generate_latest(merged)


async def answer(metrics: Metrics, services: Services, authorization: str | None) -> Response | None:
    """The response to a request for /metrics; None when it does not exist for this caller, which is a 404."""
    token = (authorization or "").removeprefix("Bearer ").strip()
    if not services.admin_token or not compare_digest(token.encode(), services.admin_token.encode()):
        return None
    ages = await _job_ages(services)
    return Response(200, {"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"}, metrics.text() + ages)


async def _job_ages(services: Services) -> bytes:
    """Read from the store and not counted here: a job runs in one process of many."""
    ages = await operator.job_ages(services)
    lines = [
        "# HELP screwtape_job_age_seconds Time since the job last finished.",
        "# TYPE screwtape_job_age_seconds gauge",
        *(f'screwtape_job_age_seconds{{job="{name}"}} {age}' for name, age in sorted(ages.items())),
    ]
    return "\n".join(lines).encode() + b"\n"
