"""What the facilitator says about payments, judged. Nothing that it sends gets any further than this."""

import asyncio
import logging

from api.clients.ports import Facilitator, Unanswered
from api.core.x402 import replies
from api.core.x402.offers import SCHEME
from api.core.x402.replies import Settlement, Unavailable, Unknown, Verification

log = logging.getLogger(__name__)


class Facilitation:
    """One process's way to the facilitator for payments on `network`. `work_s`: the seconds that the work which is paid
    for may take when it asks somebody else.

    Whether it supports them is asked once and then believed until a verification says otherwise, so that a paid call
    costs two round trips.
    """

    def __init__(self, facilitator: Facilitator, network: str, work_s: float = 0) -> None:
        self._facilitator, self._network, self.work_s = facilitator, network, work_s
        self._is_open = False
        self._asking: asyncio.Task[None] | None = None

    @property
    def timeout_s(self) -> float:
        """How long one answer may take."""
        return self._facilitator.timeout_s

    async def is_open(self) -> bool:
        """Whether the facilitator is there and supports our payments. All who ask at once share one request."""
        if not self._is_open:
            await asyncio.shield(self.ask())
        return self._is_open

    def ask(self) -> "asyncio.Task[None]":
        """Asks what it supports, unless that is being asked already."""
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        return self._asking

    async def verify(self, document: str, payer: str) -> Verification:
        """Whether the payment in `document` is good."""
        try:
            answer = await self._facilitator.verify(document)
        except Unanswered as error:
            found: Verification = Unavailable(str(error))
        else:
            found = replies.verification(answer.status, answer.body, payer)
        if isinstance(found, Unavailable):
            self._is_open = False
            log.warning("the facilitator can't verify a payment", extra={"reason": found.why})
        return found

    async def settle(self, document: str, payer: str, *, again: bool = False, expected: str = "") -> Settlement:
        """Moves the money of the payment in `document`. `again` and `expected` as in `replies.settlement`."""
        try:
            answer = await self._facilitator.settle(document)
        except Unanswered as error:
            found: Settlement = Unknown(str(error), expected)
        else:
            found = replies.settlement(answer.status, answer.body, self._network, payer, again=again, expected=expected)
        if isinstance(found, Unknown):
            log.warning("a payment's outcome is unknown", extra={"reason": found.why})
        return found

    async def close(self) -> None:
        """Ends what is being asked, and the connections."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking])
        self._facilitator.close()

    async def _ask(self) -> None:
        try:
            answer = await self._facilitator.supported()
            self._is_open = replies.supports(answer.status, answer.body, SCHEME, self._network)
            if not self._is_open:
                log.warning("the facilitator does not support %s on %s", SCHEME, self._network)
        except Unanswered as error:
            log.warning("the facilitator does not answer", extra={"reason": str(error)})
        finally:
            self._asking = None
