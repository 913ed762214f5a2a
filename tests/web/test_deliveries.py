"""Deliveries of alerts from a whole server to a real receiver: signed, tried again, given up, cancelled, begun anew."""

import asyncio
import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from api.core.webhooks import GIVE_UP_S
from api.service import drift_watch
from api.store import drift
from api.store.drift import Observation
from tests.examples import the_contract
from tests.fakes.webhook_receiver import BROKEN, WORDY, Received, Receiver, webhook_receiver
from tests.live import NOON, Live
from tests.problem_checks import assert_problem
from tests.web.hooks import Hooked, hooked_server
from tests.web.ledger import OPERATOR, in_store, operator, places_with, total
from tests.web.test_webhook_sender import Dns

HOUR = 3_600


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook_receiver() as running:
        yield running


@pytest.fixture
def hooked(tmp_path: Path, database_url: str, receiver: Receiver) -> Iterator[Hooked]:
    with hooked_server(tmp_path, database_url, receiver) as server:
        yield server


def is_signed(received: Received, secret: str) -> bool:
    """Whether both signatures are right, by code that shares nothing with the product's."""
    body, headers = received.body, received.headers
    own = base64.urlsafe_b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode().rstrip("=")
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.partition("_")[2])
    standard = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return (headers["x-screwtape-signature"], headers["webhook-signature"]) == (own, f"v1,{standard}")


@pytest.mark.promise("webhooks.signature", "webhooks.standard")
def test_an_alert_is_delivered_once_and_signed_both_ways(hooked: Hooked, receiver: Receiver) -> None:
    assert hooked.raise_alert("alr_1")
    assert hooked.deliver() == "1 delivered"
    assert hooked.deliver(HOUR) == ""
    (received,) = receiver.received
    assert is_signed(received, hooked.secret)
    assert not is_signed(received, hooked.secret + "x")
    assert received.path == "/in"
    assert received.headers["content-type"] == "application/json"
    assert received.headers["webhook-id"] == "alr_1"
    assert received.headers["webhook-timestamp"] == str(int(NOON))
    alert = json.loads(received.body)
    assert (alert["id"], alert["alg"]) == ("alr_1", "HMAC-SHA256")
    assert received.body == json.dumps(alert, sort_keys=True, separators=(",", ":")).encode()
    assert hooked.shown("alr_1") == {
        "id": "alr_1",
        "key_id": hooked.key_id,
        "created_at": "2026-11-30T12:00:00Z",
        "status": "delivered",
        "attempts": 1,
        "last_attempt_at": "2026-11-30T12:00:00Z",
        "next_attempt_at": None,
        "last_status": 200,
        "last_error": None,
        "delivered_at": "2026-11-30T12:00:00Z",
    }


@pytest.mark.promise("alerts.list", "webhooks.signature")
def test_an_alert_of_drift_is_delivered_and_listed_with_what_became_of_it(hooked: Hooked, receiver: Receiver) -> None:
    drifts(hooked)
    (listed,) = alerts_of(hooked)
    assert listed["delivery"] == {
        "status": "pending",
        "attempts": 0,
        "last_attempt_at": None,
        "next_attempt_at": "2026-11-30T12:00:00Z",
        "last_status": None,
        "last_error": None,
        "delivered_at": None,
    }
    receiver.answer = 500
    assert hooked.deliver() == "1 retried"
    (listed,) = alerts_of(hooked)
    assert (listed["delivery"]["status"], listed["delivery"]["last_error"]) == ("pending", "status")
    receiver.answer = 200
    assert hooked.deliver(7) == "1 delivered"
    (listed,) = alerts_of(hooked)
    delivery = listed.pop("delivery")
    assert (delivery["status"], delivery["attempts"], delivery["last_status"]) == ("delivered", 2, 200)
    assert delivery["delivered_at"] == "2026-11-30T12:00:07Z"
    received = receiver.received[-1]
    assert is_signed(received, hooked.secret)
    assert json.loads(received.body) == listed, "what is posted is the alert as it is listed"
    assert received.body == rfc8785.dumps(listed)
    assert received.headers["webhook-id"] == listed["id"]
    shown = hooked.live.request("GET", "/v1/drift?agent_id=planner", key=hooked.key).json
    assert shown["alerts"] == [listed | {"delivery": delivery}]


@pytest.mark.promise("alerts.list")
def test_an_alert_raised_without_a_webhook_has_no_delivery(tmp_path: Path, database_url: str) -> None:
    with hooked_server(tmp_path, database_url, None) as hooked:
        drifts(hooked)
        (listed,) = alerts_of(hooked)
        assert listed["delivery"] is None
        assert hooked.deliver() == ""


def drifts(hooked: Hooked) -> None:
    """The key's agent "planner" fails as it did not before, and the job that looks for drift runs."""
    services, now = hooked.live.app.services, int(hooked.live.clock())
    key_id = hooked.key_id
    passed = Observation("planner", "1", "judge", verdict="pass", score=0.9)
    failed = Observation("planner", "1", "judge", verdict="fail", score=0.1)
    for seen, at in ((passed, now - 10 * 24 * HOUR), (failed, now)):
        adding = services.database.write(drift.add_all, [(key_id, seen)] * 25, at)
        asyncio.run_coroutine_threadsafe(adding, hooked.live.loop).result(30)
    assert in_store(hooked.live, lambda _: drift_watch.raise_alerts(services, now)) == "1 raised"


def alerts_of(hooked: Hooked) -> list[Any]:
    answer = hooked.live.request("GET", "/v1/alerts", key=hooked.key)
    assert the_contract().body_schema("AlertPage").faults(answer.json) == []
    return list(answer.json["data"])


def test_without_a_webhook_nothing_is_queued(tmp_path: Path, database_url: str) -> None:
    with hooked_server(tmp_path, database_url, None) as hooked:
        assert not hooked.raise_alert("alr_1")
        assert hooked.deliver() == ""
        assert operator(hooked.live, "GET", "/deliveries").json == {"data": [], "next_cursor": None}


@pytest.mark.promise("webhooks.retries")
def test_a_receiver_that_fails_for_five_hours_gets_each_alert_and_can_tell_repeats(
    hooked: Hooked, receiver: Receiver
) -> None:
    """It takes a part of the alerts in before it fails, as one does that crashes after its work."""
    receiver.next_answers = []
    moods: list[int | str] = [500, 503, "close", "garbage", 404]
    alerts = [f"alr_{n}" for n in range(8)]
    for number, alert_id in enumerate(alerts):
        assert hooked.raise_alert(alert_id)
        receiver.answer = moods[number % len(moods)]
        hooked.deliver()
    for tick in range(5 * HOUR // 60):
        receiver.answer = moods[tick % len(moods)]
        hooked.deliver(60)
    assert {hooked.shown(alert_id)["status"] for alert_id in alerts} == {"pending"}
    receiver.answer = 200
    receiver.received.clear()
    for _ in range(12):
        hooked.deliver(HOUR)
    assert sorted(receiver.ids) == alerts, "each once more, and not again after its 2xx"
    assert all(json.loads(one.body)["id"] == one.headers["webhook-id"] for one in receiver.received)
    assert {hooked.shown(alert_id)["status"] for alert_id in alerts} == {"delivered"}


@pytest.mark.promise("webhooks.retries")
def test_it_is_tried_at_growing_pauses_for_24_hours_and_then_given_up(hooked: Hooked, receiver: Receiver) -> None:
    receiver.answer = 500
    hooked.raise_alert("alr_1")
    assert hooked.deliver() == "1 retried"
    for attempt, pause in enumerate((5, 300, 1_800, 7_200, 18_000, 36_000), start=1):
        shown = hooked.shown("alr_1")
        assert (shown["status"], shown["attempts"], shown["last_status"]) == ("pending", attempt, 500)
        assert shown["last_error"] == "status"
        assert hooked.deliver(pause - 1) == "", "not before its time"
        # A jitter of a fifth at most.
        assert hooked.deliver(pause * 0.2 + 2) == "1 retried"
    hooked.live.clock.now = NOON + GIVE_UP_S
    assert hooked.deliver() == "1 given_up"
    shown = hooked.shown("alr_1")
    assert (shown["status"], shown["attempts"], shown["next_attempt_at"]) == ("failed", 8, None)
    assert hooked.deliver(30 * 24 * HOUR) == ""
    assert set(receiver.ids) == {"alr_1"}
    assert len(receiver.ids) == 8


def test_a_server_that_was_down_for_days_still_tries_once(hooked: Hooked, receiver: Receiver) -> None:
    hooked.raise_alert("alr_1")
    assert hooked.deliver(3 * 24 * HOUR) == "1 delivered"


@pytest.mark.promise("webhooks.retries")
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured(hooked: Hooked, receiver: Receiver, status: int) -> None:
    receiver.answer, receiver.headers = status, {"Retry-After": "900"}
    hooked.raise_alert("alr_1")
    assert hooked.deliver() == "1 retried"
    assert hooked.shown("alr_1")["next_attempt_at"] == "2026-11-30T12:15:00Z"
    assert hooked.deliver(899) == ""
    receiver.answer = 204
    assert hooked.deliver(1) == "1 delivered"


MISBEHAVIOUR: dict[int | str, tuple[int | None, str]] = {
    301: (301, "redirect"),
    302: (302, "redirect"),
    400: (400, "status"),
    404: (404, "status"),
    500: (500, "status"),
    **dict.fromkeys(BROKEN, (None, "no_answer")),
}


@pytest.mark.promise("webhooks.retries")
def test_only_2xx_is_success_and_no_redirect_is_followed(hooked: Hooked, receiver: Receiver) -> None:
    with webhook_receiver() as metadata:
        receiver.headers = {"Location": f"{metadata.url}/latest/meta-data/"}
        for number, (answer, outcome) in enumerate(MISBEHAVIOUR.items()):
            receiver.answer = answer
            hooked.raise_alert(f"alr_{number}")
            assert hooked.deliver() == "1 retried", answer
            shown = hooked.shown(f"alr_{number}")
            assert (shown["last_status"], shown["last_error"]) == outcome, answer
            assert operator(hooked.live, "GET", "/deliveries?status=pending").json["data"][0] == shown
            receiver.answer = 200
            assert hooked.deliver(6) == "1 delivered", answer
        assert metadata.connections == 0


@pytest.mark.parametrize("answer", [204, *WORDY])
def test_a_2xx_is_success_whatever_follows_it(hooked: Hooked, receiver: Receiver, answer: int | str) -> None:
    receiver.answer = answer
    hooked.raise_alert("alr_1")
    assert hooked.deliver() == "1 delivered"


@pytest.mark.promise("webhooks.retries")
def test_410_turns_the_webhook_off(hooked: Hooked, receiver: Receiver) -> None:
    receiver.answer = 500
    for alert_id in ("alr_1", "alr_2"):
        hooked.raise_alert(alert_id)
    hooked.deliver()
    receiver.next_answers, receiver.answer = [410], 200
    hooked.live.clock.now += 10
    hooked.raise_alert("alr_3")
    # Of the three that are due, one is told to stay away; what is in flight at that moment may still arrive.
    hooked.deliver()
    settings = hooked.live.request("GET", "/v1/account/settings", key=hooked.key).json
    assert settings == {"alert_webhook_url": "", "retention_days": 1}
    rows = operator(hooked.live, "GET", "/deliveries").json["data"]
    (gone,) = [row for row in rows if row["status"] == "failed"]
    assert (gone["last_status"], gone["last_error"]) == (410, "gone")
    assert {row["status"] for row in rows} <= {"failed", "delivered", "cancelled"}
    seen = len(receiver.received)
    assert not hooked.raise_alert("alr_4")
    assert hooked.deliver(HOUR) == ""
    assert len(receiver.received) == seen


@pytest.mark.promise("webhooks.current_secret")
def test_removing_the_webhook_cancels_what_is_pending(hooked: Hooked, receiver: Receiver) -> None:
    hooked.raise_alert("alr_1")
    hooked.deliver()
    receiver.answer = 500
    hooked.raise_alert("alr_2")
    hooked.deliver()
    hooked.raise_alert("alr_3")
    assert hooked.change(alert_webhook_url="").status == 200
    receiver.answer = 200
    assert hooked.deliver(HOUR) == ""
    assert hooked.change(alert_webhook_url=receiver.url).status == 200
    assert hooked.deliver(HOUR) == "", "and a new one does not bring it back"
    assert [hooked.shown(f"alr_{n}")["status"] for n in (1, 2, 3)] == ["delivered", "cancelled", "cancelled"]
    assert receiver.ids == ["alr_1", "alr_2"]


@pytest.mark.promise("webhooks.current_secret")
def test_a_retry_goes_to_the_webhook_of_that_moment_with_its_secret(hooked: Hooked, receiver: Receiver) -> None:
    receiver.answer = 500
    old = hooked.secret
    hooked.raise_alert("alr_1")
    hooked.deliver()
    with webhook_receiver() as newer:
        hooked.change(alert_webhook_url=newer.url)
        assert hooked.secret != old
        assert hooked.deliver(10) == "1 delivered"
        assert is_signed(receiver.received[0], old)
        (received,) = newer.received
        assert is_signed(received, hooked.secret)
        assert not is_signed(received, old)
        assert received.body == receiver.received[0].body
    hooked.change(alert_webhook_url=receiver.url)
    rotated = hooked.live.request("POST", "/v1/keys/me/rotate", key=hooked.key).json["key"]
    hooked.key, receiver.answer = rotated, 200
    hooked.raise_alert("alr_2")
    hooked.deliver()
    assert is_signed(receiver.received[-1], hooked.secret), "a new key secret leaves the webhook's alone"


@pytest.mark.promise("keys.delete_drift")
def test_deleting_the_key_forgets_its_counts_alerts_and_deliveries(
    hooked: Hooked, receiver: Receiver, tmp_path: Path
) -> None:
    receiver.answer = 500
    drifts(hooked)
    hooked.deliver()
    key_id, alert_id = hooked.key_id, alerts_of(hooked)[0]["id"]
    assert {"alerts", "deliveries"} <= set(places_with(hooked.live, tmp_path, alert_id))
    assert {"drift_hours", "drift_days"} <= set(places_with(hooked.live, tmp_path, key_id))
    assert hooked.live.request("DELETE", "/v1/keys/me", key=hooked.key).status == 200
    receiver.answer = 200
    assert hooked.deliver(HOUR) == ""
    assert places_with(hooked.live, tmp_path, alert_id) == []
    assert places_with(hooked.live, tmp_path, key_id) == []
    assert len(receiver.received) == 1


@pytest.mark.promise("webhooks.public_only")
def test_a_name_that_turns_to_the_inside_is_not_followed_there(tmp_path: Path, database_url: str) -> None:
    dns = Dns(["8.8.8.8"], ["127.0.0.1"])
    with hooked_server(tmp_path, database_url, None, dns, WEBHOOK_ALLOW_PRIVATE="0") as hooked:
        assert hooked.change(alert_webhook_url="https://hooks.example.com/in").status == 200
        hooked.raise_alert("alr_1")
        assert hooked.deliver() == "1 retried"
        shown = hooked.shown("alr_1")
        assert (shown["last_status"], shown["last_error"]) == (None, "not_public")


@pytest.mark.promise("webhooks.public_only")
def test_a_name_for_an_address_that_is_not_public_is_a_400_when_saved(tmp_path: Path, database_url: str) -> None:
    dns = Dns(["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::ffff:169.254.169.254"], OSError("no such name"), ["8.8.8.8"])
    with hooked_server(tmp_path, database_url, None, dns, WEBHOOK_ALLOW_PRIVATE="0") as hooked:
        for _ in range(3):
            answer = hooked.change(alert_webhook_url="https://hooks.example.com/in")
            assert_problem(answer, "invalid_request")
            (fault,) = answer.json["errors"]
            assert fault["path"] == "/alert_webhook_url"
            assert "not public, and its name resolves to one" in fault["message"]
        assert hooked.live.request("GET", "/v1/account/settings", key=hooked.key).json["alert_webhook_url"] == ""
        assert hooked.change(alert_webhook_url="https://hooks.example.com/in").status == 200, "does not resolve"
        assert hooked.change(alert_webhook_url="https://hooks.example.com/in").status == 200, "is public"


@pytest.mark.promise("ops.webhook_allow_private")
def test_plain_http_and_loopback_are_for_tests_only(tmp_path: Path, database_url: str, receiver: Receiver) -> None:
    with hooked_server(tmp_path, database_url, receiver) as hooked:
        assert_problem(hooked.change(alert_webhook_url="http://10.0.0.1/"), "invalid_request")
        hooked.raise_alert("alr_1")
    with hooked_server(tmp_path, database_url, None, WEBHOOK_ALLOW_PRIVATE="0") as hooked:
        assert_problem(hooked.change(alert_webhook_url=receiver.url), "invalid_request")
        assert hooked.deliver() == "1 retried", "saved under the setting, and no longer sent to"
        assert hooked.shown("alr_1")["last_error"] == "not_public"
        assert receiver.connections == 0


def test_a_slow_receiver_holds_up_no_other_key(hooked: Hooked, receiver: Receiver) -> None:
    live = hooked.live
    with webhook_receiver() as slow, ThreadPoolExecutor(1) as pool:
        slow.answer = "hang"
        other = Hooked(live, live.new_key())
        other.change(alert_webhook_url=slow.url)
        for n in range(60):
            other.raise_alert(f"alr_slow_{n:03}")
        live.clock.now += 1
        for n in range(20):
            hooked.raise_alert(f"alr_{n:02}")
        running = pool.submit(hooked.deliver)
        assert receiver.wait_for(20)
        assert not running.done(), "the slow one is not waited for"
        assert len(slow.received) <= 4
        slow.over.set()
        slow.answer = 200
        running.result(60)


@pytest.mark.promise("settings.test_webhook")
def test_a_test_delivery_reports_what_came_back(hooked: Hooked, receiver: Receiver) -> None:
    answer = hooked.change(test_alert_webhook=True)
    assert answer.status == 200
    assert the_contract().body_schema("Settings").faults(answer.json) == []
    reported = answer.json["test_delivery"]
    assert {**reported, "ms": 0} == {
        "id": receiver.ids[0],
        "delivered": True,
        "status": 200,
        "error": None,
        "ms": 0,
    }
    (received,) = receiver.received
    assert is_signed(received, hooked.secret)
    assert json.loads(received.body) == {
        "alg": "HMAC-SHA256",
        "created_at": "2026-11-30T12:00:00Z",
        "id": received.headers["webhook-id"],
        "key_id": hooked.key_id,
        "type": "drift.alert.test",
    }
    receiver.answer = 302
    reported = hooked.change(test_alert_webhook=True).json["test_delivery"]
    assert (reported["delivered"], reported["status"], reported["error"]) == (False, 302, "redirect")
    receiver.answer = "close"
    reported = hooked.change(test_alert_webhook=True).json["test_delivery"]
    assert (reported["delivered"], reported["status"], reported["error"]) == (False, None, "no_answer")
    assert hooked.deliver(HOUR) == "", "none is tried again"
    assert operator(hooked.live, "GET", "/deliveries").json["data"] == []
    receiver.answer = 410
    assert hooked.change(test_alert_webhook=True).json["alert_webhook_url"] == receiver.url + "/in"


@pytest.mark.promise("settings.test_webhook")
def test_a_test_goes_to_the_url_saved_with_it(hooked: Hooked, receiver: Receiver) -> None:
    with webhook_receiver() as newer:
        answer = hooked.change(alert_webhook_url=newer.url, test_alert_webhook=True)
        assert answer.json["test_delivery"]["delivered"]
        assert is_signed(newer.received[0], answer.json["alert_webhook_secret"])
        assert "test_delivery" not in hooked.change(test_alert_webhook=False).json
        assert (len(newer.received), receiver.connections) == (1, 0)


@pytest.mark.promise("settings.test_webhook")
def test_a_test_needs_a_webhook(tmp_path: Path, database_url: str) -> None:
    with hooked_server(tmp_path, database_url, None) as hooked:
        for fields in ({}, {"alert_webhook_url": ""}, {"retention_days": 0}):
            answer = hooked.change(test_alert_webhook=True, **fields)
            assert_problem(answer, "invalid_request")
            assert answer.json["errors"][0]["path"] == "/test_alert_webhook"
        settings = hooked.live.request("GET", "/v1/account/settings", key=hooked.key).json
        assert settings["retention_days"] == 1, "nothing was changed"


@pytest.mark.promise("settings.test_webhook")
def test_tests_flood_nobody(hooked: Hooked, receiver: Receiver) -> None:
    for _ in range(3):
        assert hooked.change(test_alert_webhook=True).status == 200
    refused = hooked.change(test_alert_webhook=True, alert_webhook_url="")
    assert_problem(hooked.change(test_alert_webhook=True), "rate_limited")
    assert refused.status == 400
    other = Hooked(hooked.live, hooked.live.new_key())
    limited = other.change(alert_webhook_url=receiver.url, test_alert_webhook=True)
    assert_problem(limited, "rate_limited")
    assert int(limited.headers["retry-after"]) <= 30
    settings = hooked.live.request("GET", "/v1/account/settings", key=other.key).json
    assert settings["alert_webhook_url"] == "", "another key, the same host: nothing saved, nothing sent"
    assert len(receiver.received) == 3
    hooked.live.clock.now += 30
    assert hooked.change(test_alert_webhook=True).status == 200


@pytest.mark.promise("ops.admin_deliveries")
def test_the_operator_lists_deliveries_by_state_and_key(hooked: Hooked, receiver: Receiver) -> None:
    live = hooked.live
    other = Hooked(live, live.new_key())
    other.change(alert_webhook_url=receiver.url)
    for n in range(5):
        live.clock.now = NOON + n // 2
        (other if n == 4 else hooked).raise_alert(f"alr_{n}")
    hooked.deliver()
    receiver.answer = 500
    hooked.raise_alert("alr_5")
    hooked.deliver()

    def listed(query: str) -> list[str]:
        answer = operator(live, "GET", f"/deliveries?{query}")
        assert the_contract().body_schema("AdminDeliveryPage").faults(answer.json) == []
        return [row["id"] for row in answer.json["data"]]

    assert listed("") == ["alr_5", "alr_4", "alr_3", "alr_2", "alr_1", "alr_0"]
    assert listed("status=pending") == ["alr_5"]
    assert listed("status=failed") == []
    assert listed(f"key_id={other.key_id}") == ["alr_4"]
    assert listed(f"key_id={hooked.key_id}&status=delivered") == ["alr_3", "alr_2", "alr_1", "alr_0"]
    assert listed("key_id=key_nobody") == []
    assert_problem(operator(live, "GET", "/deliveries?status=lost"), "invalid_request")
    seen, query = [], "limit=4"
    while query:
        page = operator(live, "GET", f"/deliveries?{query}").json
        seen += [row["id"] for row in page["data"]]
        query = page["next_cursor"] and f"limit=4&cursor={page['next_cursor']}"
    assert seen == listed("")
    whole = operator(live, "GET", "/deliveries").body.decode()
    assert receiver.url not in whole
    assert "whsec" not in whole


@pytest.mark.promise("ops.admin_deliveries")
def test_the_operator_has_a_delivery_sent_again(hooked: Hooked, receiver: Receiver) -> None:
    live = hooked.live
    receiver.answer = 500
    hooked.raise_alert("alr_1")
    while hooked.shown("alr_1")["status"] == "pending":
        hooked.deliver(HOUR)
    receiver.answer = 200
    begun = operator(live, "POST", "/deliveries/alr_1/redeliver")
    assert begun.status == 200
    assert begun.json == hooked.shown("alr_1")
    assert begun.json["status"] == "pending"
    assert hooked.deliver() == "1 delivered"
    attempts = hooked.shown("alr_1")["attempts"]
    assert attempts == len(receiver.received)
    operator(live, "POST", "/deliveries/alr_1/redeliver")
    receiver.answer = 500
    assert hooked.deliver() == "1 retried", "with pauses and a day of its own"
    receiver.answer = 200
    assert hooked.deliver(6) == "1 delivered"
    assert set(receiver.ids) == {"alr_1"}
    assert_problem(operator(live, "POST", "/deliveries/alr_2/redeliver"), "not_found")
    hooked.change(alert_webhook_url="")
    refused = operator(live, "POST", "/deliveries/alr_1/redeliver")
    assert_problem(refused, "invalid_request")
    assert "no webhook" in refused.json["detail"]


def test_attempts_are_counted_by_outcome(hooked: Hooked, receiver: Receiver) -> None:
    receiver.next_answers = [500, 200, 410]
    for alert_id in ("alr_1", "alr_2"):
        hooked.raise_alert(alert_id)
        hooked.deliver()
    hooked.deliver(10)
    text = hooked.live.request("GET", "/metrics", key=OPERATOR).body.decode()
    counted = dict(re.findall(r'^screwtape_deliveries_total\{outcome="(\w+)"\} (\S+)$', text, re.MULTILINE))
    assert counted == {"retried": "1.0", "delivered": "1.0", "turned_off": "1.0"}


def test_a_secret_that_cannot_be_read_any_more_is_said(tmp_path: Path, database_url: str, receiver: Receiver) -> None:
    with hooked_server(tmp_path, database_url, receiver) as hooked:
        hooked.raise_alert("alr_1")
        key = hooked.key
    with hooked_server(tmp_path, database_url, None, SECRET_KEY="another secret key") as hooked:
        assert hooked.deliver() == "1 retried"
        assert hooked.shown("alr_1")["last_error"] == "secret"
        hooked.key = key
        reported = hooked.change(test_alert_webhook=True).json["test_delivery"]
        assert (reported["delivered"], reported["error"]) == (False, "secret")
        assert receiver.connections == 0


def test_nothing_of_a_webhook_is_logged(hooked: Hooked, receiver: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    hooked.change(alert_webhook_url=receiver.url + "/path-that-is-a-secret")
    for answer in (500, "garbage", 200):
        receiver.answer = answer
        hooked.raise_alert(f"alr_{answer}")
        hooked.deliver(1)
    records: list[Any] = [vars(record) for record in caplog.records if record.name.startswith("api")]
    assert "alr_500 status" in str(records)
    for hidden in ("path-that-is-a-secret", hooked.secret, hooked.secret[6:]):
        assert hidden not in str(records)
    assert total(hooked.live, "deliveries", "attempts") == len(receiver.received)


def test_operator_routes_of_deliveries_need_the_token(live: Live) -> None:
    for method, path in (("GET", ""), ("POST", "/alr_1/redeliver")):
        assert_problem(live.request(method, f"/v1/admin/deliveries{path}"), "not_found")
