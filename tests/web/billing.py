"""Servers that sell packs through a fake Stripe, and what Stripe and a buyer do with them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.stripe import WEBHOOK_SECRET, FakeStripe, Json, event, fake_stripe, signature
from tests.live import Answer, FakeClock, Live
from tests.web.ledger import ledger_server, me, operator

COMPLETED = "checkout.session.completed"
PACKS = {"starter": (3_000, 10_000), "builder": (10_000, 50_000)}
"""Price in cents and calls of each pack, as the contract of the product has them."""


def post_event(live: Live, sent: Json | bytes, *, at: float | None = None, secret: str = WEBHOOK_SECRET) -> Answer:
    """Stripe delivers an event, signed now unless `at` says otherwise."""
    body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    signed = signature(body, live.clock.now if at is None else at, secret)
    return live.request("POST", "/v1/billing/webhook", body, headers={"Stripe-Signature": signed})


@dataclass(frozen=True)
class Shop:
    """A server that sells packs, the Stripe behind it, and a buyer's key."""

    live: Live
    stripe: FakeStripe
    key: str

    def buy(self, pack: str = "starter", *, key: str = "", token: str = "") -> Answer:
        """Asks for a checkout."""
        headers = {"Idempotency-Key": token} if token else {}
        return self.live.request("POST", "/v1/billing/checkout", {"pack": pack}, key=key or self.key, headers=headers)

    def session(self, pack: str = "starter", **changes: Any) -> Json:
        """A new checkout's session, paid, with `changes`."""
        bought = self.buy(pack)
        assert bought.status == 200, bought
        return self.stripe.session(bought.json["session_id"], **changes)

    def deliver(self, kind: str, obj: Json, **changes: Any) -> Answer:
        """Stripe delivers an event, which the server takes in."""
        answer = post_event(self.live, event(kind, obj, **changes))
        assert (answer.status, answer.json) == (200, {"received": True}), answer
        return answer

    def paid(self, pack: str = "starter") -> Json:
        """The session of a pack that was bought, paid and credited."""
        session = self.session(pack)
        self.deliver(COMPLETED, session)
        return session

    @property
    def credits(self) -> int:
        """The buyer's prepaid calls."""
        return int(me(self.live, self.key)["credits"])

    @property
    def entries(self) -> list[tuple[str, int]]:
        """Reason and calls of each entry of the buyer's ledger, in its order."""
        ledger = operator(self.live, "GET", f"/keys/{me(self.live, self.key)['id']}/credits").json
        return [(entry["reason"], entry["calls"]) for entry in ledger["entries"]]

    def orders(self, query: str = "") -> list[Json]:
        """The operator's list of orders."""
        answer = operator(self.live, "GET", f"/orders?limit=100&{query}")
        assert answer.status == 200, answer
        return list(answer.json["data"])


@contextmanager
def shop_server(folder: Path, database_url: str, *, clock: FakeClock | None = None, **settings: str) -> Iterator[Shop]:
    """A shop on that database."""
    with fake_stripe() as fake, ledger_server(folder, database_url, clock=clock, **fake.settings, **settings) as live:
        yield Shop(live, fake, live.new_key())
