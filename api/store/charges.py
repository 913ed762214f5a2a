"""The charge of answered calls: a batch in one transaction, granted in the order in which the calls arrived.

Charge, drift count, retained row and idempotency record of a call are written together or not at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from api.core.times import utc_day
from api.store import accounts, drift, idempotency, reservations, retention
from api.store.accounts import Account, Grant
from api.store.database import Tx
from api.store.drift import CompleteFirsts, Observation
from api.store.idempotency import Mark, Record
from api.store.retention import Retained


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call whose work is done and whose answer waits for its charge."""

    secret_hash: str
    request_id: str
    observation: Observation
    mark: Mark | None = None
    retained: Retained | None = None
    reservation: str | None = None


@dataclass(frozen=True, slots=True)
class Charge:
    """What became of a call.

    `free_used` and `credits` are the key's, this call included. A replayed call has the request id and the retained
    row of the first one and was not charged; a conflict means that the mark stands for another body.
    """

    grant: Grant
    free_used: int = 0
    credits: int = 0
    request_id: str = ""
    retained_id: str | None = None


async def record(
    tx: Tx, calls: Sequence[AnsweredCall], now: int, free_limit: int, complete: CompleteFirsts | None = None
) -> list[Charge]:
    """Charges `calls` at `now`; one Charge a call, in order. The keys are read again here: a deleted one gets no
    answer. `complete` is this process's memory of versions whose first calls are all recorded.

    A call with a reservation uses what that took; when it was released meanwhile the call is charged like any other.
    A call that turns out to be a replay, or gets no answer, gives back what its reservation took.
    """
    day = utc_day(now)
    found = await accounts.read(tx, [call.secret_hash for call in calls], day)
    known = await idempotency.find_all(tx, [call.mark for call in calls if call.mark], now)
    reserved = await reservations.standing(tx, [call.reservation for call in calls if call.reservation])
    batch = _Batch(known, dict(reserved), free_limit)
    charges = [batch.charge(found.get(call.secret_hash), call) for call in calls]
    await accounts.write_use(tx, found.values(), day)
    await drift.add_all(tx, batch.observations, now, complete)
    await retention.add_all(tx, batch.retained)
    await idempotency.add_all(tx, list(batch.records.values()), now)
    await reservations.finish_all(tx, [one for one in reserved if one not in batch.reserved])
    for unused in batch.reserved:
        await reservations.release(tx, unused)
    return charges


@dataclass(slots=True)
class _Batch:
    """Allots a batch call by call, and gathers what is to be written beside the counts. A reservation that a call uses
    leaves `reserved`."""

    known: Mapping[tuple[str, str], Record]
    reserved: dict[str, Grant]
    free_limit: int
    observations: list[tuple[str, Observation]] = field(default_factory=list)
    retained: list[Retained] = field(default_factory=list)
    records: dict[tuple[str, str], tuple[Mark, Record]] = field(default_factory=dict)

    def charge(self, account: Account | None, call: AnsweredCall) -> Charge:
        """The call's charge; the account and this batch remember what it leaves behind."""
        if account is None:
            return Charge("unknown_key")
        before = self._before(call.mark)
        if before is not None and call.mark is not None:
            grant: Grant = "replayed" if before.body_hash == call.mark.body_hash else "conflict"
            return Charge(grant, account.free_used, account.credits, before.request_id, before.retained_id)
        paid = self.reserved.pop(call.reservation, None) if call.reservation is not None else None
        grant = paid or account.take(self.free_limit)
        if grant == "refused":
            return Charge(grant, account.free_used, account.credits)
        return self._granted(account, call, grant)

    def _before(self, mark: Mark | None) -> Record | None:
        """What was answered under the mark, in the store or earlier in this batch."""
        if mark is None:
            return None
        place = (mark.caller, mark.token)
        return self.known.get(place) or (self.records[place][1] if place in self.records else None)

    def _granted(self, account: Account, call: AnsweredCall, grant: Grant) -> Charge:
        account.count(call.observation.endpoint)
        self.observations.append((account.key_id, call.observation))
        retained_id = None
        if call.retained is not None and account.retains:
            self.retained.append(call.retained)
            retained_id = call.retained.id
        if call.mark is not None:
            stored = Record(call.mark.body_hash, call.request_id, retained_id)
            self.records[call.mark.caller, call.mark.token] = (call.mark, stored)
        return Charge(grant, account.free_used, account.credits, call.request_id, retained_id)
