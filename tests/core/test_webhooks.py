"""Deliveries on paper: the bytes and what signs them, what answers mean, when it is tried again."""

import base64
import hashlib
import hmac
import json
import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks import Webhook

from api.core import webhooks
from api.core.webhooks import BACKOFF_S, GIVE_UP_S, LONGEST_WAIT_S, Verdict

NOW = 1_796_040_000
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
ALERT: dict[str, Any] = {"type": "drift.alert", "id": "alr_1", "rate": 0.35, "ü": [1, None, {"b": 1, "a": 2}]}


@pytest.mark.promise("webhooks.signature")
def test_the_body_is_canonical_json_that_names_its_algorithm() -> None:
    text = webhooks.canonical(ALERT)
    assert text == '{"alg":"HMAC-SHA256","id":"alr_1","rate":0.35,"type":"drift.alert","ü":[1,null,{"a":2,"b":1}]}'
    assert webhooks.canonical(dict(reversed(ALERT.items()))) == text
    assert json.loads(text) == ALERT | {"alg": "HMAC-SHA256"}


@pytest.mark.promise("webhooks.signature")
def test_the_body_signature_is_what_openssl_makes_of_body_and_secret() -> None:
    body = webhooks.canonical(ALERT).encode()
    done = subprocess.run(
        ["openssl", "dgst", "-sha256", "-hmac", SECRET, "-binary"], input=body, capture_output=True, check=True
    )
    signature = webhooks.body_signature(body, SECRET)
    assert signature == base64.urlsafe_b64encode(done.stdout).decode().rstrip("=")
    assert "=" not in signature
    assert len(signature) == 43


@pytest.mark.promise("webhooks.standard")
def test_the_standard_headers_are_taken_by_the_standards_own_library(monkeypatch: pytest.MonkeyPatch) -> None:
    body = webhooks.canonical(ALERT).encode()
    headers = webhooks.headers("alr_1", body, SECRET, NOW)
    now = datetime.fromtimestamp(NOW, UTC)

    class _Then(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "_Then":
            return cls.fromtimestamp(now.timestamp(), tz)

    monkeypatch.setattr("standardwebhooks.webhooks.datetime", _Then)
    assert Webhook(SECRET).verify(body, headers) == json.loads(body)
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    digest = hmac.new(key, b"alr_1.%d." % NOW + body, hashlib.sha256).digest()
    assert headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()
    assert (headers["webhook-id"], headers["webhook-timestamp"]) == ("alr_1", str(NOW))


def test_every_secret_is_new_and_of_the_standards_form() -> None:
    sources = iter((bytes(32), b"\xff" * 32))
    first, second = (webhooks.new_secret(lambda count: next(sources)[:count]) for _ in range(2))
    assert first != second
    for secret in (first, second):
        assert secret.startswith("whsec_")
        assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32


ANSWERS = {
    **dict.fromkeys((200, 201, 202, 204, 299), Verdict("delivered", None)),
    **dict.fromkeys((300, 301, 302, 303, 304, 307, 308), Verdict("retry", "redirect")),
    **dict.fromkeys((400, 401, 403, 404, 418, 500, 502, 504, 599, 600, 999), Verdict("retry", "status")),
    410: Verdict("turn_off", "gone"),
    429: Verdict("retry", "status", waits=True),
    503: Verdict("retry", "status", waits=True),
}


@pytest.mark.promise("webhooks.retries")
@pytest.mark.parametrize("status", ANSWERS)
def test_what_each_answer_means(status: int) -> None:
    assert webhooks.verdict(status) == ANSWERS[status]


@pytest.mark.promise("webhooks.retries")
def test_the_pauses_grow_by_the_table_until_the_last_attempt_24_hours_on() -> None:
    now, failures, times = NOW, 0, []
    while (at := webhooks.next_attempt(failures := failures + 1, now, NOW + GIVE_UP_S, 0.0)) is not None:
        times.append(at - now)
        now = at
    # 5 s, 5 min, 30 min, 2 h, 5 h, 10 h are 17 h 35 min 5 s; what is left of the day is less than 10 h more.
    assert times == [5, 300, 1_800, 7_200, 18_000, 36_000, GIVE_UP_S - 63_305]
    assert now == NOW + GIVE_UP_S
    assert webhooks.next_attempt(1, NOW + GIVE_UP_S + 1, NOW + GIVE_UP_S, 0.0) is None


@pytest.mark.parametrize("failures", range(1, 7))
def test_jitter_makes_a_pause_longer_by_a_fifth_at_most(failures: int) -> None:
    pause, far = BACKOFF_S[failures - 1], NOW * 2
    at = [webhooks.next_attempt(failures, NOW, far, chance) for chance in (0.0, 0.5, 0.999)]
    assert at == [NOW + pause, NOW + round(pause * 1.1), NOW + round(pause * 1.1998)]


def test_a_receiver_can_ask_for_a_longer_pause_within_bounds() -> None:
    far = NOW * 2
    assert webhooks.next_attempt(1, NOW, far, 0.0, 60) == NOW + 60
    assert webhooks.next_attempt(2, NOW, far, 0.0, 60) == NOW + 300, "never a shorter one"
    assert webhooks.next_attempt(1, NOW, far, 0.0, 10**9) == NOW + LONGEST_WAIT_S
    assert webhooks.next_attempt(1, NOW, NOW + 100, 0.0, 3_600) == NOW + 100, "nor beyond the last attempt"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *(("120", 120), (" 7 ", 7), ("0", 0), ("9" * 40, 999_999_999)),
        ("Mon, 30 Nov 2026 12:01:00 GMT", 60),
        ("Monday, 30-Nov-26 12:01:00 GMT", 60),
        ("Mon, 30 Nov 2026 13:01:00 +0100", 60),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0),
        *((value, 0) for value in ("", "-5", "1.5", "soon", "٣", "Mon, 99 Nov 2026 12:01:00 GMT", "x" * 10_000)),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(value: str, seconds: int) -> None:
    assert webhooks.retry_after(value, NOW) == seconds
