"""Servers whose keys have webhooks, and what happens to the alerts that are raised for them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.clients.names import Resolve
from api.core import webhooks
from api.core.times import rfc3339
from api.service import deliveries as service
from api.store import deliveries
from tests.fakes.webhook_receiver import Receiver
from tests.live import Answer, FakeClock, Live, no_names
from tests.web.ledger import id_of, in_store, ledger_server, operator


@dataclass
class Hooked:
    """A server, and a key whose alerts go to a receiver. `secret` is the one last shown."""

    live: Live
    key: str
    secret: str = ""

    @property
    def key_id(self) -> str:
        return id_of(self.live, self.key)

    def change(self, **fields: Any) -> Answer:
        """PATCH of the key's settings; takes note of a new secret."""
        answer = self.live.request("PATCH", "/v1/account/settings", fields, key=self.key)
        if answer.status == 200:
            self.secret = answer.json.get("alert_webhook_secret", self.secret)
        return answer

    def raise_alert(self, alert_id: str, key_id: str = "") -> bool:
        """An alert is raised, as the job that looks for drift does it; whether there was a webhook to queue it for."""
        key_id = key_id or self.key_id
        now = int(self.live.clock())
        alert = {"id": alert_id, "type": "drift.alert", "key_id": key_id, "created_at": rfc3339(now)}
        body = webhooks.canonical(alert)
        return in_store(self.live, lambda database: database.write(deliveries.enqueue, key_id, alert_id, body, now))

    def deliver(self, after_s: float = 0) -> str:
        """So much later the job runs; what it says that it did."""
        self.live.clock.now += after_s
        running = service.deliver(self.live.app.services, int(self.live.clock()))
        return asyncio.run_coroutine_threadsafe(running, self.live.loop).result(60)

    def shown(self, alert_id: str) -> Any:
        """The delivery as the operator sees it."""
        rows = operator(self.live, "GET", "/deliveries?limit=100").json["data"]
        return {row["id"]: row for row in rows}[alert_id]


@contextmanager
def hooked_server(
    folder: Path,
    database_url: str,
    receiver: Receiver | None,
    resolve: Resolve = no_names,
    /,
    *,
    clock: FakeClock | None = None,
    **settings: str,
) -> Iterator[Hooked]:
    """A server on that database whose jobs run only when a test says so, and a key with `receiver` as its webhook."""
    settings = {"WEBHOOK_ALLOW_PRIVATE": "1", **settings}
    with ledger_server(folder, database_url, resolve, clock=clock, **settings) as live:
        live.loop.call_soon_threadsafe(live.app.timer.stop)
        hooked = Hooked(live, live.new_key())
        if receiver is not None:
            assert hooked.change(alert_webhook_url=receiver.url + "/in").status == 200
        yield hooked
