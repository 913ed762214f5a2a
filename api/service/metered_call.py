"""One judge or consensus call on its way, whoever pays for it: its result, its response, and what is noted of it."""

from dataclasses import dataclass, replace
from typing import Any

import orjson

from api.core.receipts.receipt import PaidBy
from api.core.secrets import new_id
from api.core.times import rfc3339
from api.service.admission import Caller, Payer, Seen
from api.service.call import Call
from api.service.engine_pool import Work
from api.service.grading import CHECKED
from api.service.services import Services
from api.store import retention
from api.store.drift import Observation
from api.store.retention import Retained

Json = dict[str, Any]

OFF: Json = {"retained": False, "reason": "Retention is off for this key."}
GONE: Json = {"retained": False, "reason": "The retained row has expired or was deleted."}
KEYLESS: Json = {"retained": False, "reason": "Retention requires an API key."}
NOT_RETAINED: Json = {"retained": False}


@dataclass(frozen=True, slots=True)
class Validation:
    """One metered call."""

    services: Services
    call: Call
    caller: Caller | Seen | Payer
    body: Json
    work: Work

    async def result(self) -> Json:
        """What the engine says."""
        return await self.services.engines.run(self.work, self.body)

    async def checked(self) -> Json:
        """What the engine says, and what a model may not lift its verdict across (see `grading.CHECKED`)."""
        return await self.services.engines.run(CHECKED[self.call.operation.id], self.body)

    async def graded(self) -> Json:
        """What the configured model makes of it; without one, what the engine says."""
        grader = self.services.grader
        if grader is None:
            return await self.result()
        return await grader.grade(self.call.operation.id, self.body, await self.checked())

    def response(self, result: Json, request_id: str, retention_: Json, payment: PaidBy | None = None) -> Json:
        """The result's fields, then request_id and retention, then the optional fields, in the documented order; last
        the receipt, which names the `payment`."""
        bare = self._bare_response(result, request_id, retention_)
        services = self.services
        return services.receipts.with_receipt(self.call.operation.id, self.body, bare, services.clock(), payment)

    def _bare_response(self, result: Json, request_id: str, retention_: Json) -> Json:
        response = {**result, "request_id": request_id, "retention": retention_}
        signals = response.pop("signals", None)
        response |= {tag: self.body[tag] for tag in ("agent_id", "version") if tag in self.body}
        return response if signals is None else {**response, "signals": signals}

    def observation(self, result: Json) -> Observation:
        """What drift counts."""
        agent_id, version = self.body.get("agent_id", ""), self.body.get("version", "")
        if self.call.operation.id == "judge":
            return Observation(agent_id, version, "judge", verdict=result["verdict"], score=result["score"])
        return Observation(agent_id, version, "consensus", risk=result["false_consensus_risk"])

    def first_response(
        self,
        result: Json,
        request_id: str,
        retained: Retained | None,
        retained_id: str | None,
        payment: PaidBy | None = None,
    ) -> Json:
        """The response when it is sent for the first time: a kept one is sent as it was kept, with the same receipt."""
        if retained is not None and retained_id == retained.id:
            kept: Json = orjson.loads(retained.response)
            return kept
        return self.response(result, request_id, self.retention(retained, retained_id), payment)

    def to_retain(self, result: Json, request_id: str, payment: PaidBy | None = None) -> Retained | None:
        """The row to keep, when the call asks for it and the key allows it. It holds the response as it will be
        sent."""
        caller = self.caller
        if not self.body.get("retain") or isinstance(caller, Payer):
            return None
        if isinstance(caller, Caller) and not caller.allowance.retains:
            return None
        services, now = self.services, int(self.services.clock())
        row = Retained(
            id=new_id("ret", services.random_bytes),
            key_id=caller.key_id,
            endpoint=self.call.operation.id,
            created_at=now,
            expires_at=now + services.facts.retention_hours * 3_600,
            request=orjson.dumps(self.body).decode(),
            response="",
        )
        response = self.response(result, request_id, shown(row), payment)
        return replace(row, response=orjson.dumps(response).decode())

    def retention(self, retained: Retained | None, retained_id: str | None) -> Json:
        """What the first answer says of retention: `retained` was to be kept, `retained_id` was."""
        if not self.body.get("retain"):
            return NOT_RETAINED
        if isinstance(self.caller, Payer):
            return KEYLESS
        return shown(retained) if retained is not None and retained_id is not None else OFF

    async def retention_again(self, key_id: str | None, retained_id: str | None) -> Json:
        """What a repeat of the answer says of retention: `retained_id` is the row that the first one kept for
        `key_id`."""
        if retained_id is None or key_id is None:
            return self.retention(None, None)
        services = self.services
        row = await services.database.read(retention.find, key_id, retained_id, int(services.clock()))
        return GONE if row is None else shown(row)


def shown(row: Retained) -> Json:
    """A kept row as responses tell of it."""
    return {"retained": True, "id": row.id, "expires_at": rfc3339(row.expires_at)}
