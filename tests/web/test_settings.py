"""A key's settings over real sockets: defaults, changes one by one, a secret shown once, targets that are refused."""

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from api.core.sealing import unseal
from api.service.deliveries import SEAL_PURPOSE
from api.store import settings
from tests.examples import the_contract
from tests.live import Answer, Live
from tests.problem_checks import assert_problem
from tests.web.ledger import SECRET_KEY, id_of, in_store, ledger_server, many, places_with

URL = "https://hooks.example.com/screwtape"
DEFAULTS = {"alert_webhook_url": "", "retention_days": 1}


def read(live: Live, key: str) -> Any:
    answer = live.request("GET", "/v1/account/settings", key=key)
    assert answer.status == 200
    assert the_contract().body_schema("Settings").faults(answer.json) == []
    return answer.json


def change(live: Live, key: str, **fields: Any) -> Answer:
    return live.request("PATCH", "/v1/account/settings", fields, key=key)


def secret_of(answer: Answer) -> str:
    assert answer.status == 200, answer
    return str(answer.json["alert_webhook_secret"])


@pytest.mark.promise("settings.fields")
def test_settings_have_defaults_and_change_one_by_one(ledger: Live) -> None:
    key, other = ledger.new_key(), ledger.new_key()
    assert read(ledger, key) == DEFAULTS
    assert change(ledger, key, retention_days=0).json == DEFAULTS | {"retention_days": 0}
    assert change(ledger, key, alert_webhook_url=URL).json.items() >= {"retention_days": 0}.items()
    assert read(ledger, key) == {"alert_webhook_url": URL, "retention_days": 0}
    assert change(ledger, key, retention_days=1).json == {"alert_webhook_url": URL, "retention_days": 1}
    assert change(ledger, key, alert_webhook_url="", retention_days=0).json == DEFAULTS | {"retention_days": 0}
    assert read(ledger, key) == DEFAULTS | {"retention_days": 0}
    assert read(ledger, other) == DEFAULTS


@pytest.mark.promise("settings.fields")
def test_a_whole_number_is_stored_and_shown_as_one_however_it_is_written(ledger: Live) -> None:
    key = ledger.new_key()
    for written in (b"0.0", b"0e3", b"-0", b"0"):
        answer = ledger.request("PATCH", "/v1/account/settings", b'{"retention_days": ' + written + b"}", key=key)
        assert (answer.status, answer.json) == (200, DEFAULTS | {"retention_days": 0})
        assert b'"retention_days":0}' in answer.body
        assert b'"retention_days":0}' in ledger.request("GET", "/v1/account/settings", key=key).body


BAD: dict[str, tuple[Any, str]] = {
    "nothing to change": ({}, ""),
    "a list": ([], ""),
    "2 days": ({"retention_days": 2}, "/retention_days"),
    "minus 1": ({"retention_days": -1}, "/retention_days"),
    "half a day": ({"retention_days": 0.5}, "/retention_days"),
    "a text": ({"retention_days": "1"}, "/retention_days"),
    "a flag": ({"retention_days": True}, "/retention_days"),
    "null days": ({"retention_days": None}, "/retention_days"),
    "a null URL": ({"alert_webhook_url": None}, "/alert_webhook_url"),
    "a number for a URL": ({"alert_webhook_url": 1}, "/alert_webhook_url"),
    "a URL too long": ({"alert_webhook_url": "https://example.com/" + "x" * 2_000}, "/alert_webhook_url"),
    "a secret of one's own": ({"alert_webhook_url": URL, "alert_webhook_secret": "mine"}, "/alert_webhook_secret"),
    "an unknown field": ({"retention_day": 0}, "/retention_day"),
}


@pytest.mark.promise("settings.fields")
def test_a_setting_that_cannot_be_is_a_400_and_changes_nothing(ledger: Live) -> None:
    key = ledger.new_key()
    change(ledger, key, alert_webhook_url=URL)
    before = read(ledger, key)
    for name, (body, path) in BAD.items():
        answer = ledger.request("PATCH", "/v1/account/settings", body, key=key)
        assert_problem(answer, "invalid_request")
        assert path in [error["path"] for error in answer.json["errors"]], name
    good_and_bad = change(ledger, key, retention_days=0, alert_webhook_url="http://example.com")
    assert_problem(good_and_bad, "invalid_request")
    assert read(ledger, key) == before


HOSTILE = {
    "http://hooks.example.com/": "must begin with https://",
    "ftp://hooks.example.com/": "must begin with https://",
    "hooks.example.com": "must begin with https://",
    " ": "must be an ASCII URL",
    "https://": "has no host",
    "https://127.0.0.1/": "not public",
    "https://localhost/": "public host name",
    "https://169.254.169.254/latest/meta-data/": "not public",
    "https://[::ffff:10.0.0.1]/": "not public",
    "https://[2002:7f00:1::]/": "not public",
    "https://[64:ff9b::a00:1]/": "not public",
    "https://2130706433/": "not public",
    "https://0x7f.1/": "not public",
    "https://0177.0.0.1/": "not public",
    "https://127.1/": "not public",
    "https://10.0.0.1./": "not public",
    "https://metadata.google.internal/": "public host name",
    "https://hooks.example.com@127.0.0.1/": "user name",
    "https://hooks.example.com:8443/": "port 443",
    "https://hooks.example.com\\@127.0.0.1/": "ASCII URL without spaces",
    "https://127.0.0\t.1/": "ASCII URL without spaces",
    "https://hооks.example.com/": "xn-- form",
}


@pytest.mark.promise("settings.fields")
def test_a_target_that_is_not_public_https_is_a_400_that_says_why(ledger: Live) -> None:
    """The whole table is tests/core/test_webhook_target.py's; here that the API asks it."""
    key = ledger.new_key()
    for url, reason in HOSTILE.items():
        answer = change(ledger, key, alert_webhook_url=url)
        assert_problem(answer, "invalid_request")
        (error,) = answer.json["errors"]
        assert error["path"] == "/alert_webhook_url"
        assert reason in error["message"], url
        assert reason in answer.json["detail"], url
    assert read(ledger, key) == DEFAULTS
    for url in ("https://hooks.example.com:443/a?b=c", "https://8.8.8.8/", "https://xn--bcher-kva.example/"):
        assert change(ledger, key, alert_webhook_url=url).json["alert_webhook_url"] == url


@pytest.mark.promise("settings.webhook_secret")
def test_the_webhooks_secret_is_shown_once_and_new_each_time_the_url_is_saved(ledger: Live) -> None:
    key = ledger.new_key()
    secrets = [secret_of(change(ledger, key, alert_webhook_url=URL)) for _ in range(3)]
    assert len(set(secrets)) == 3, "also for the same URL again"
    for secret in secrets:
        assert secret.startswith("whsec_")
        assert len(b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
    assert read(ledger, key) == {"alert_webhook_url": URL, "retention_days": 1}
    other_field = change(ledger, key, retention_days=0)
    assert "alert_webhook_secret" not in other_field.json
    assert "alert_webhook_secret" not in change(ledger, key, alert_webhook_url="").json


@pytest.mark.promise("settings.webhook_secret", "ops.secret_key_postgresql")
def test_the_secret_is_sealed_at_rest_and_gone_when_the_url_is(ledger: Live, tmp_path: Path) -> None:
    key = ledger.new_key()
    key_id = id_of(ledger, key)
    first = secret_of(change(ledger, key, alert_webhook_url=URL))
    second = secret_of(change(ledger, key, alert_webhook_url=URL))
    change(ledger, key, retention_days=0)
    for secret in (first, second):
        for text in (secret, secret.removeprefix("whsec_"), b64decode(secret.removeprefix("whsec_")).hex()):
            assert places_with(ledger, tmp_path, text) == []
    stored = in_store(ledger, lambda database: database.read(settings.read, key_id)).alert_webhook_secret
    assert unseal(SECRET_KEY.encode(), SEAL_PURPOSE, stored) == second, "the last one shown, untouched by other changes"
    change(ledger, key, alert_webhook_url="")
    assert in_store(ledger, lambda database: database.read(settings.read, key_id)).alert_webhook_secret == ""


def test_many_changes_at_once_end_in_one_of_them_whole(ledger: Live) -> None:
    key = ledger.new_key()
    key_id = id_of(ledger, key)

    def one_change(n: int) -> Answer:
        return change(ledger, key, alert_webhook_url=f"{URL}/{n}", retention_days=n % 2)

    answers = many(16, one_change)
    assert {answer.status for answer in answers} == {200}
    saved = read(ledger, key)
    (mine,) = [answer.json for answer in answers if answer.json["alert_webhook_url"] == saved["alert_webhook_url"]]
    assert mine == saved | {"alert_webhook_secret": mine["alert_webhook_secret"]}
    stored = in_store(ledger, lambda database: database.read(settings.read, key_id)).alert_webhook_secret
    assert unseal(SECRET_KEY.encode(), SEAL_PURPOSE, stored) == mine["alert_webhook_secret"]


def test_a_change_of_one_field_keeps_a_change_of_the_other_made_at_the_same_time(ledger: Live) -> None:
    key = ledger.new_key()

    def one_change(n: int) -> Answer:
        return change(ledger, key, alert_webhook_url=URL) if n else change(ledger, key, retention_days=0)

    for _ in range(5):
        change(ledger, key, alert_webhook_url="", retention_days=1)
        assert [answer.status for answer in many(2, one_change)] == [200, 200]
        assert read(ledger, key) == {"alert_webhook_url": URL, "retention_days": 0}


def test_a_change_that_meets_a_deletion_is_a_401_or_comes_before_it(ledger: Live) -> None:
    for _ in range(5):
        key = ledger.new_key()

        def act(n: int, key: str = key) -> Answer:
            if n == 5:
                return ledger.request("DELETE", "/v1/keys/me", key=key)
            return change(ledger, key, alert_webhook_url=URL)

        answers = many(10, act)
        assert answers[5].status == 200
        assert {answer.status for answer in answers} <= {200, 401}
        assert_problem(change(ledger, key, retention_days=0), "unknown_key")


@pytest.mark.promise("ops.secret_key_postgresql")
def test_the_secret_of_a_rotated_key_stays(tmp_path: Path, database_url: str) -> None:
    with ledger_server(tmp_path, database_url) as live:
        key = live.new_key()
        secret = secret_of(change(live, key, alert_webhook_url=URL))
        newer = live.request("POST", "/v1/keys/me/rotate", key=key).json["key"]
        assert read(live, newer)["alert_webhook_url"] == URL
        key_id = id_of(live, newer)
        stored = in_store(live, lambda database: database.read(settings.read, key_id)).alert_webhook_secret
        assert unseal(SECRET_KEY.encode(), SEAL_PURPOSE, stored) == secret


def test_settings_need_a_key(ledger: Live) -> None:
    for method, body in (("GET", None), ("PATCH", {"retention_days": 0})):
        assert_problem(ledger.request(method, "/v1/account/settings", body), "missing_key")
