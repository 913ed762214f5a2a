"""Buying packs over real sockets: the checkout, against a Stripe on loopback that misbehaves on demand."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.clients.checkout import StripeCheckout
from api.clients.ports import CheckoutUnavailable, SessionWanted
from api.service import upkeep
from tests.databases import Run
from tests.examples import the_contract
from tests.fakes.stripe import BROKEN, MOODS, SECRET_KEY, WEBHOOK_SECRET, fake_stripe
from tests.live import live_server
from tests.problem_checks import assert_problem
from tests.web.billing import COMPLETED, PACKS, Shop, shop_server
from tests.web.ledger import many, me, total


@pytest.fixture
def shop(tmp_path: Path, database_url: str) -> Iterator[Shop]:
    """A server that sells packs: the test runs once on SQLite and once on PostgreSQL."""
    with shop_server(tmp_path, database_url) as made:
        yield made


@pytest.fixture
def small_shop(tmp_path: Path) -> Iterator[Shop]:
    """A server that sells packs, on SQLite, for tests in which the database does not matter."""
    with shop_server(tmp_path, f"sqlite:///{tmp_path}/screwtape.db") as made:
        yield made


@pytest.mark.promise("stripe.checkout")
@pytest.mark.promise("facts.packs")
@pytest.mark.parametrize("pack", PACKS)
def test_a_checkout_opens_a_session_for_the_order(shop: Shop, pack: str) -> None:
    price, calls = PACKS[pack]
    answer = shop.buy(pack)
    assert answer.status == 200, answer
    assert answer.json == {"checkout_url": "https://checkout.stripe.com/c/pay/cs_test_1", "session_id": "cs_test_1"}
    (order,) = shop.orders()
    assert (order["status"], order["session_id"]) == ("open", "cs_test_1")
    assert (order["pack"], order["calls"], order["amount"], order["currency"]) == (pack, calls, price, "usd")
    (asked,) = shop.stripe.requests
    assert asked.headers["authorization"] == f"Bearer {SECRET_KEY}"
    assert asked.headers["idempotency-key"] == f"{order['id']}-1"
    assert asked.params == {
        "mode": "payment",
        "client_reference_id": order["id"],
        "metadata[order_id]": order["id"],
        "payment_intent_data[metadata][order_id]": order["id"],
        "line_items[0][quantity]": "1",
        "line_items[0][price_data][currency]": "usd",
        "line_items[0][price_data][unit_amount]": str(price),
        "line_items[0][price_data][product_data][name]": f"Screwtape.ai {pack} pack: {calls:,} calls",
        "adaptive_pricing[enabled]": "false",
        "success_url": f"https://screwtape.ai/billing/success?pack={pack}&before=0",
        "cancel_url": "https://screwtape.ai/billing/cancel",
    }
    assert shop.credits == 0


def test_the_contract_offers_the_packs_of_the_plans(small_shop: Shop) -> None:
    schema = the_contract().document["components"]["schemas"]["CheckoutRequest"]["properties"]["pack"]
    packs = small_shop.live.app.services.facts.packs
    assert schema["enum"] == [pack.id for pack in packs]
    assert {pack.id: (pack.price_cents, pack.calls) for pack in packs} == PACKS


@pytest.mark.promise("stripe.checkout")
def test_a_checkout_needs_a_key_and_a_pack_that_is_sold(small_shop: Shop) -> None:
    live = small_shop.live
    assert_problem(live.request("POST", "/v1/billing/checkout", {"pack": "starter"}), "missing_key")
    assert_problem(small_shop.buy(key="scr_wrong"), "unknown_key")
    for body in ({}, {"pack": "gold"}, {"pack": 1}, {"pack": "starter", "amount": 1}):
        assert_problem(live.request("POST", "/v1/billing/checkout", body, key=small_shop.key), "invalid_request")
    assert (small_shop.stripe.requests, small_shop.orders()) == ([], [])


@pytest.mark.promise("stripe.test_mode_only")
@pytest.mark.promise("ops.stripe_settings")
@pytest.mark.logs_errors
@pytest.mark.parametrize(
    ("secret_key", "webhook_secret", "said"),
    [
        ("", WEBHOOK_SECRET, ""),
        (
            "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
            WEBHOOK_SECRET,
            "STRIPE_SECRET_KEY is a live-mode key, which is never used",
        ),
        (
            "rk_live_4eC39HqLyjWDarjtT1zdp7dc",
            WEBHOOK_SECRET,
            "STRIPE_SECRET_KEY is a live-mode key, which is never used",
        ),
        ("pk_test_4eC39HqLyjWDarjtT1zdp7dc", WEBHOOK_SECRET, "STRIPE_SECRET_KEY is no key of Stripe's"),
        ("xsk_test_4eC39HqLyjWDarjtT1zdp7dc", WEBHOOK_SECRET, "STRIPE_SECRET_KEY is no key of Stripe's"),
        (SECRET_KEY, "", "without STRIPE_WEBHOOK_SECRET no payment could be credited"),
    ],
)
def test_without_a_test_mode_key_and_a_webhook_no_packs_are_sold(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, secret_key: str, webhook_secret: str, said: str
) -> None:
    with fake_stripe() as fake:
        settings = {**fake.settings, "STRIPE_SECRET_KEY": secret_key, "STRIPE_WEBHOOK_SECRET": webhook_secret}
        with live_server(tmp_path, dist=None, clock=None, **settings) as live:
            key = live.new_key()
            assert_problem(
                live.request("POST", "/v1/billing/checkout", {"pack": "starter"}, key=key), "billing_unavailable"
            )
            assert_problem(live.request("POST", "/v1/billing/webhook", b"{}"), "billing_unavailable")
            assert live.request("GET", "/v1/health").json["payments"]["stripe"] is False
        assert fake.requests == []
    logged = [record.getMessage() for record in caplog.records if "billing" in record.getMessage()]
    assert all(said in message for message in logged)
    assert len(logged) == bool(said)
    if secret_key:
        assert secret_key not in caplog.text


@pytest.mark.promise("ops.stripe_settings")
def test_restricted_test_keys_sell_too(tmp_path: Path) -> None:
    key = "rk_test_4eC39HqLyjWDarjtT1zdp7dc"
    with (
        fake_stripe() as fake,
        live_server(tmp_path, dist=None, clock=None, **{**fake.settings, "STRIPE_SECRET_KEY": key}) as live,
    ):
        assert live.request("GET", "/v1/health").json["payments"]["stripe"] is True
        answer = live.request("POST", "/v1/billing/checkout", {"pack": "starter"}, key=live.new_key())
        assert answer.status == 200
        assert fake.requests[0].headers["authorization"] == f"Bearer {key}"
        assert key not in repr(live.app.services)


@pytest.mark.promise("stripe.checkout")
@pytest.mark.promise("idempotency.replayed")
def test_a_repeated_checkout_is_the_same_session(shop: Shop) -> None:
    first, again = shop.buy(token="one"), shop.buy(token="one")
    assert (first.status, again.status) == (200, 200)
    assert again.json == first.json
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["x-request-id"] == first.headers["x-request-id"]
    assert len(shop.orders()) == len(shop.stripe.requests) == 1
    assert_problem(shop.buy("builder", token="one"), "idempotency_conflict")
    judged = shop.live.request(
        "POST", "/v1/judge", {"task": "t", "agent_output": "o"}, key=shop.key, headers={"Idempotency-Key": "one"}
    )
    assert_problem(judged, "idempotency_conflict")
    other = shop.buy(key=shop.live.new_key("other@example.com"), token="one")
    assert (other.status, other.json["session_id"]) == (200, "cs_test_2")
    shop.live.clock.now += 86_400
    later = shop.buy(token="one")
    assert (later.json["session_id"], later.headers.get("idempotency-replayed")) == ("cs_test_3", None)


@pytest.mark.promise("idempotency.once")
def test_repeats_at_once_are_one_order(shop: Shop) -> None:
    answers = many(10, lambda _: shop.buy(token="one"))
    assert {answer.status for answer in answers} == {200}
    assert {answer.json["session_id"] for answer in answers} == {"cs_test_1"}
    assert len({answer.headers["x-request-id"] for answer in answers}) == 1
    assert len(shop.orders()) == len(shop.stripe.sessions) == 1


@pytest.mark.promise("idempotency.conflict")
def test_of_two_bodies_under_one_key_at_once_one_is_answered(shop: Shop) -> None:
    answers = many(10, lambda n: shop.buy(("starter", "builder")[n % 2], token="one"))
    answered = {answer.json["session_id"] for answer in answers if answer.status == 200}
    assert len(answered) == 1
    for answer in answers:
        if answer.status != 200:
            assert_problem(answer, "idempotency_conflict")


@pytest.mark.logs_errors
@pytest.mark.parametrize("mood", [*MOODS, *BROKEN])
def test_when_stripe_fails_nothing_is_sold_and_the_order_can_be_tried_again(small_shop: Shop, mood: str) -> None:
    shop = small_shop
    shop.stripe.mood = mood
    for _ in range(2):
        assert_problem(shop.buy(token="one"), "billing_unavailable")
    (order,) = shop.orders()
    assert (order["status"], order["session_id"]) == ("open", None)
    # One request each: no retries behind the caller's back, and no redirect is followed with the key.
    assert len(shop.stripe.requests) == 2
    assert shop.live.request("GET", "/v1/health").status == 200
    shop.stripe.mood = ""
    answer = shop.buy(token="one")
    assert (answer.status, answer.json["session_id"]) == (200, "cs_test_1"), answer
    assert "idempotency-replayed" not in answer.headers
    assert [made["id"] for made in shop.orders()] == [order["id"]]
    shop.deliver(COMPLETED, shop.stripe.session("cs_test_1"))
    assert shop.credits == 10_000


def test_an_order_that_nobody_paid_goes_after_thirty_days(shop: Shop) -> None:
    shop.buy()
    services, now = shop.live.app.services, int(shop.live.clock.now)
    for later, left in ((30 * 86_400 - 1, 1), (30 * 86_400, 0)):
        asyncio.run_coroutine_threadsafe(upkeep.prune(services, now + later), shop.live.loop).result(30)
        assert len(shop.orders()) == left


@pytest.mark.logs_errors
def test_a_failure_of_stripe_is_logged_without_its_words(small_shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    small_shop.stripe.mood = "wrong key"
    assert_problem(small_shop.buy(), "billing_unavailable")
    (logged,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert logged.startswith("Stripe answered 401")
    assert "sk_test" not in caplog.text


@pytest.mark.logs_errors
def test_a_silent_stripe_is_given_up(run: Run) -> None:
    async def scenario(api_base: str) -> CheckoutUnavailable:
        checkout = StripeCheckout(SECRET_KEY, WEBHOOK_SECRET, api_base, timeout_s=0.05)
        wanted = SessionWanted("ord_1", "ord_1-1", "a pack", 3_000, "usd", "https://a.example", "https://b.example")
        with pytest.raises(CheckoutUnavailable) as caught:
            await checkout.open_session(wanted)
        return caught.value

    with fake_stripe() as fake:
        fake.mood = "silence"
        # Whether it opened a session is not known, so the same idempotency key must ask again.
        assert run(scenario(fake.url)).is_answer is False


@pytest.mark.logs_errors
def test_stripe_gone_is_a_503(tmp_path: Path) -> None:
    with fake_stripe() as fake:
        settings = fake.settings
    with live_server(tmp_path, dist=None, clock=None, **settings) as live:
        key = live.new_key()
        assert_problem(
            live.request("POST", "/v1/billing/checkout", {"pack": "starter"}, key=key), "billing_unavailable"
        )
        assert me(live, key)["credits"] == 0
        assert total(live, "orders", "calls") == 10_000
