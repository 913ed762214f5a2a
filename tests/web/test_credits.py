"""Free calls, then credits, over real sockets: exact for one process and for two nodes, and after a restart."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from api.store import credits
from tests.live import NOON, FakeClock, Live
from tests.problem_checks import assert_problem
from tests.web.ledger import (
    SMALL,
    grant,
    id_of,
    in_store,
    judge,
    ledger_server,
    many,
    me,
    places_with,
    served,
    statuses,
    total,
    use_up,
)


def ledger_faults(live: Live) -> int:
    return len(in_store(live, lambda database: database.read(credits.faults)))


@pytest.mark.promise("charging.free_then_credits", "facts.credits_after_free")
def test_free_calls_go_first_then_credits_which_stay_over_midnight(ledger: Live) -> None:
    key = ledger.new_key()
    assert grant(ledger, id_of(ledger, key), 2).json["credits"] == 2
    use_up(ledger, key)
    assert (me(ledger, key)["free_calls"]["remaining"], me(ledger, key)["credits"]) == (0, 2)
    paid = judge(ledger, key)
    assert paid.status == 200
    assert paid.headers["ratelimit"] == '"free";r=0;t=43200'
    assert me(ledger, key)["credits"] == 1
    ledger.clock.now = NOON + 43_200
    assert judge(ledger, key).status == 200
    assert (me(ledger, key)["free_calls"]["used"], me(ledger, key)["credits"]) == (1, 1)
    ledger.clock.now = NOON
    assert judge(ledger, key).status == 200
    assert_problem(judge(ledger, key), "quota_exceeded")
    assert me(ledger, key)["credits"] == 0
    assert me(ledger, key)["usage"][0]["calls"] == 102


@pytest.mark.promise("charging.free_exact")
def test_midnight_under_load_counts_each_call_on_exactly_one_day(ledger: Live) -> None:
    """The clock passes midnight after 40 answers, while up to 24 calls are under way: whichever day each of them falls
    on, the old one has at most its free calls, the new one has all of its own, and together they are the answers."""
    key, midnight = ledger.new_key(), NOON + 43_200
    ledger.clock.now = midnight - 0.1
    answered = count(1)

    def call(number: int) -> int:
        answer = served(lambda: judge(ledger, key))
        if answer.status == 200 and next(answered) == 40:
            ledger.clock.now = midnight + 0.1
        return answer.status

    with ThreadPoolExecutor(24) as pool:
        answers = sum(status == 200 for status in pool.map(call, range(240)))
    today, yesterday = me(ledger, key)["usage"][:2]
    assert (today["date"], today["calls"]) == ("2026-12-01", 100)
    assert 40 <= yesterday["calls"] <= 100
    assert answers == today["calls"] + yesterday["calls"]


@pytest.mark.promise("charging.credits_exact", "store.postgresql")
def test_300_calls_at_once_with_7_credits_give_107_answers(ledger: Live) -> None:
    key = ledger.new_key()
    grant(ledger, id_of(ledger, key), 7)
    answers = many(300, lambda n: served(lambda: judge(ledger, key)))
    assert statuses(answers) == [200] * 107 + [429] * 193
    assert_problem(next(answer for answer in answers if answer.status == 429), "quota_exceeded")
    read = me(ledger, key)
    assert (read["credits"], read["free_calls"]["used"], read["usage"][0]["calls"]) == (0, 100, 107)
    assert total(ledger, "drift_hours", "calls") == 107
    assert ledger_faults(ledger) == 0


@pytest.mark.promise("charging.credits_exact", "store.postgresql")
def test_two_nodes_on_one_database_give_107_answers_together(tmp_path: Path, database_url: str, ledger: Live) -> None:
    with ledger_server(tmp_path, database_url, clock=ledger.clock) as other:
        key = ledger.new_key()
        grant(ledger, id_of(ledger, key), 7)
        answers = many(160, lambda n: served(lambda: judge((ledger, other)[n % 2], key)))
        assert statuses(answers) == [200] * 107 + [429] * 53
        assert me(other, key)["credits"] == 0
        assert ledger_faults(other) == 0


@pytest.mark.promise("store.postgresql")
def test_a_key_is_dead_at_once_on_every_node(tmp_path: Path, database_url: str, ledger: Live) -> None:
    with ledger_server(tmp_path, database_url, clock=ledger.clock) as other:
        deleted, rotated = ledger.new_key(), ledger.new_key()
        for key in (deleted, rotated):
            assert judge(other, key).status == judge(ledger, key).status == 200
        assert ledger.request("DELETE", "/v1/keys/me", key=deleted).status == 200
        newer = ledger.request("POST", "/v1/keys/me/rotate", key=rotated).json["key"]
        for key in (deleted, rotated):
            assert_problem(judge(other, key), "unknown_key")
            assert_problem(judge(other, key, {}), "unknown_key")
            assert_problem(other.request("GET", "/v1/keys/me", key=key), "unknown_key")
        assert judge(other, newer).status == 200


def test_a_balance_below_zero_stops_paid_calls_and_free_ones_go_on(ledger: Live) -> None:
    key = ledger.new_key()
    grant(ledger, id_of(ledger, key), 1)
    use_up(ledger, key)
    assert judge(ledger, key).status == 200
    assert grant(ledger, id_of(ledger, key), -5).json["credits"] == -5
    assert_problem(judge(ledger, key), "quota_exceeded")
    assert me(ledger, key)["credits"] == -5
    ledger.clock.now += 86_400
    assert judge(ledger, key).status == 200
    assert me(ledger, key)["credits"] == -5
    ledger.clock.now -= 86_400
    assert grant(ledger, id_of(ledger, key), 6).json["credits"] == 1
    assert [judge(ledger, key).status for _ in range(2)] == [200, 429]
    assert ledger_faults(ledger) == 0


def test_credits_use_and_settings_survive_a_restart(tmp_path: Path, database_url: str) -> None:
    clock = FakeClock()
    with ledger_server(tmp_path, database_url, clock=clock) as live:
        key = live.new_key()
        grant(live, id_of(live, key), 3)
        for _ in range(2):
            judge(live, key)
        url = "https://hooks.example.com/a"
        live.request("PATCH", "/v1/account/settings", {"retention_days": 0, "alert_webhook_url": url}, key=key)
    with ledger_server(tmp_path, database_url, clock=clock) as live:
        assert (me(live, key)["credits"], me(live, key)["free_calls"]["used"]) == (3, 2)
        settings = live.request("GET", "/v1/account/settings", key=key)
        assert settings.json == {"alert_webhook_url": url, "retention_days": 0}


def test_errors_take_no_credit(ledger: Live) -> None:
    key = ledger.new_key()
    grant(ledger, id_of(ledger, key), 1)
    use_up(ledger, key)
    assert judge(ledger, key, {"task": ""}).status == 400
    assert judge(ledger, key, b"{").status == 400
    assert judge(ledger, key, Content_Type="text/plain").status == 415
    assert judge(ledger, key, Idempotency_Key="").status == 400
    assert me(ledger, key)["credits"] == 1


@pytest.mark.promise("keys.delete_ledger", "store.postgresql")
def test_a_key_deleted_while_100_calls_run_on_two_nodes_is_dead_after_its_200(
    tmp_path: Path, database_url: str, ledger: Live
) -> None:
    key = ledger.new_key()
    key_id = id_of(ledger, key)
    grant(ledger, key_id, 5)
    with ledger_server(tmp_path, database_url, clock=ledger.clock) as other, ThreadPoolExecutor(100) as pool:
        nodes = (ledger, other)

        def call(n: int) -> list[int]:
            """The statuses of up to three calls: none follows a refusal."""
            seen = [judge(nodes[n % 2], key, SMALL | {"retain": True}, Idempotency_Key=f"k{n}").status]
            while seen[-1] == 200 and len(seen) < 3:
                seen.append(judge(nodes[n % 2], key, SMALL | {"agent_id": f"a{n}"}).status)
            return seen

        calls = [pool.submit(call, n) for n in range(100)]
        deleted = ledger.request("DELETE", "/v1/keys/me", key=key)
        late = many(10, lambda n: judge(nodes[n % 2], key))
        seen = {status for one in calls for status in one.result()}
    assert (deleted.status, deleted.json["id"]) == (200, key_id)
    assert statuses(late) == [401] * 10
    assert seen <= {200, 401, 429}
    assert places_with(ledger, tmp_path, key_id) == []
    for table, column in (("daily_use", "judge"), ("drift_hours", "calls"), ("credit_entries", "calls")):
        assert total(ledger, table, column) == 0
