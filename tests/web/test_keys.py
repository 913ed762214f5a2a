"""Keys over a real socket: created, read, rotated, deleted, and counted."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from api.core.secrets import looks_right
from tests.examples import example
from tests.live import NOON, Live, live_server


@pytest.mark.promise("keys.create")
def test_the_secret_is_shown_once_and_has_its_documented_shape(live: Live) -> None:
    answer = live.request("POST", "/v1/keys", example("create_key"))
    assert answer.status == 201
    key = answer.json
    assert list(key) == ["key", "id", "name", "prefix", "created_at"]
    assert looks_right(key["key"])
    assert len(key["key"]) == 46
    assert key["prefix"] == key["key"][:12]
    assert key["created_at"] == "2026-11-30T12:00:00Z"
    read = live.request("GET", "/v1/keys/me", key=key["key"])
    assert key["key"] not in read.body.decode()
    assert read.json["id"] == key["id"]


@pytest.mark.promise("keys.hash_only")
def test_the_secret_is_nowhere_in_the_database_files(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        secret = live.new_key()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"dev@example.com" in stored
    assert secret.encode() not in stored
    assert secret[12:].encode() not in stored


@pytest.mark.promise("facts.keys_per_email")
@pytest.mark.promise("keys.cap")
def test_an_email_gets_three_keys_even_when_forty_are_asked_for_at_once(live: Live) -> None:
    with ThreadPoolExecutor(40) as pool:
        bodies = [{"email": "Dev@Example.com", "name": f"key {n}"} for n in range(40)]
        answers = list(pool.map(lambda body: live.request("POST", "/v1/keys", body), bodies))
    assert sorted(answer.status for answer in answers) == [201] * 3 + [429] * 37
    refused = next(answer for answer in answers if answer.status == 429)
    assert refused.json["code"] == "key_limit_reached"
    assert live.request("POST", "/v1/keys", {"email": "other@example.com", "name": "x"}).status == 201


@pytest.mark.promise("ops.signup_setting")
@pytest.mark.promise("keys.signup_limit")
def test_an_address_makes_a_limited_number_of_keys_an_hour(tmp_path: Path) -> None:
    with live_server(tmp_path, SIGNUPS_PER_HOUR="2") as live:
        for n in range(2):
            live.new_key(f"dev{n}@example.com")
        refused = live.request("POST", "/v1/keys", {"email": "dev3@example.com", "name": "x"})
        assert (refused.status, refused.json["code"]) == (429, "rate_limited")
        assert refused.headers["retry-after"] == "3600"
        live.clock.now += 3_599
        assert (
            live.request("POST", "/v1/keys", {"email": "dev3@example.com", "name": "x"}).headers["retry-after"] == "1"
        )
        live.clock.now += 1
        assert live.request("POST", "/v1/keys", {"email": "dev3@example.com", "name": "x"}).status == 201


@pytest.mark.promise("ops.signup_setting")
def test_the_signup_limit_survives_a_restart(tmp_path: Path) -> None:
    with live_server(tmp_path, SIGNUPS_PER_HOUR="1") as live:
        live.new_key()
    with live_server(tmp_path, SIGNUPS_PER_HOUR="1") as live:
        assert live.request("POST", "/v1/keys", {"email": "b@example.com", "name": "x"}).status == 429


@pytest.mark.promise("keys.read")
def test_usage_lists_thirty_days_newest_first(live: Live) -> None:
    key = live.new_key()
    live.request("POST", "/v1/judge", example("judge"), key=key)
    live.clock.now += 86_400
    live.request("POST", "/v1/consensus", example("consensus"), key=key)
    read = live.request("GET", "/v1/keys/me", key=key).json
    assert read["free_calls"] == {"limit": 100, "used": 1, "remaining": 99, "resets_at": "2026-12-02T00:00:00Z"}
    assert read["credits"] == 0
    assert len(read["usage"]) == 30
    assert read["usage"][0] == {"date": "2026-12-01", "calls": 1, "judge": 0, "consensus": 1}
    assert read["usage"][1] == {"date": "2026-11-30", "calls": 1, "judge": 1, "consensus": 0}
    assert read["usage"][2]["calls"] == 0


@pytest.mark.promise("keys.rotate")
def test_rotation_ends_the_old_secret_and_keeps_the_counts(live: Live) -> None:
    old = live.new_key()
    live.request("POST", "/v1/judge", example("judge"), key=old)
    rotated = live.request("POST", "/v1/keys/me/rotate", key=old)
    assert rotated.status == 200
    assert live.request("GET", "/v1/keys/me", key=old).status == 401
    read = live.request("GET", "/v1/keys/me", key=rotated.json["key"]).json
    assert (read["id"], read["free_calls"]["used"]) == (rotated.json["id"], 1)


@pytest.mark.promise("keys.delete")
def test_a_deleted_key_is_dead_and_leaves_nothing_in_the_files(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key("marker@example.com", "marker name")
        live.request("POST", "/v1/judge", example("judge"), key=key)
        gone = live.request("DELETE", "/v1/keys/me", key=key)
        assert (gone.status, gone.json["deleted"]) == (200, True)
        assert live.request("POST", "/v1/judge", example("judge"), key=key).status == 401
        for path in tmp_path.iterdir():
            content = path.read_bytes()
            assert b"marker" not in content, path
            assert gone.json["id"].encode() not in content, path


@pytest.mark.promise("charging.free_exact")
def test_150_concurrent_calls_with_a_new_key_give_100_answers_and_50_refusals(live: Live) -> None:
    key = live.new_key()
    with ThreadPoolExecutor(150) as pool:
        calls = [pool.submit(live.request, "POST", "/v1/consensus", example("consensus"), key=key) for _ in range(150)]
        answers = [call.result() for call in calls]
    assert sorted(answer.status for answer in answers) == [200] * 100 + [429] * 50
    refused = next(answer for answer in answers if answer.status == 429)
    assert refused.json["code"] == "quota_exceeded"
    assert refused.headers["retry-after"] == "43200"
    assert "payment-required" in refused.headers
    assert live.request("GET", "/v1/keys/me", key=key).json["free_calls"]["remaining"] == 0
    live.clock.now = NOON + 43_200
    assert live.request("POST", "/v1/consensus", example("consensus"), key=key).status == 200


@pytest.mark.promise("charging.errors_free")
def test_errors_are_not_charged(live: Live) -> None:
    key = live.new_key()
    assert live.request("POST", "/v1/judge", {"task": ""}, key=key).status == 400
    assert live.request("POST", "/v1/judge", b"{", key=key).status == 400
    assert (
        live.request("POST", "/v1/judge", example("judge"), key=key, headers={"Content-Type": "text/plain"}).status
        == 415
    )
    assert live.request("GET", "/v1/keys/me", key=key).json["free_calls"]["used"] == 0


@pytest.mark.promise("http.rate_limit")
def test_a_key_that_calls_too_fast_is_told_to_wait(tmp_path: Path) -> None:
    with live_server(tmp_path, KEY_REQUESTS_PER_SECOND="2") as live:
        key = live.new_key()
        for _ in range(8):
            assert live.request("GET", "/v1/keys/me", key=key).status == 200
        refused = live.request("GET", "/v1/keys/me", key=key)
        assert (refused.status, refused.json["code"], refused.headers["retry-after"]) == (429, "rate_limited", "1")
        live.clock.now += 0.5
        assert live.request("GET", "/v1/keys/me", key=key).status == 200
