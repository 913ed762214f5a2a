"""Asks the configured model, and makes of its reply the result of a call. A failure of the model is never a verdict:
the deterministic result then stands, and says why."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from api.clients.ports import Model, Unanswered
from api.core.llm import scoring
from api.core.llm.completion import Completion, read_completion
from api.core.llm.request import NONCE_BYTES, request, shown
from api.core.secrets import RandomBytes
from api.prompts import Prompt
from api.service.engine_pool import Work
from api.service.engine_work import consensus_checked, judge_checked

log = logging.getLogger(__name__)

Json = dict[str, Any]

CHECKED: Mapping[str, Work] = {"judge": judge_checked, "consensus": consensus_checked}
"""The engine of each operation, with what a model may not lift its verdict across."""

ANSWERED, UNUSABLE = "answered", "unusable"
_REFUSALS = {401: "unauthorized", 404: "not_found", 429: "rate_limited"}
"""What statuses other than 200 are called. The others are `server_error` from 500 on, else `refused`."""
_NOT_THERE = ("not_found", "server_error")
"""The outcomes after which the fallback is asked. After any other one nobody is."""
_NOTHING = Completion("")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a model, for the metrics. `role` is primary or fallback; `outcome` a word, never content."""

    role: str
    outcome: str
    seconds: float
    tokens_in: int = 0
    tokens_out: int = 0


class Grader:
    """One process's way to the models, the primary first. A fallback of the same name is none."""

    def __init__(
        self,
        model: Model,
        names: Sequence[str],
        prompts: Mapping[str, Prompt],
        random_bytes: RandomBytes,
        *,
        json_mode: bool,
        on_asked: Callable[[Asked], None],
    ) -> None:
        self._model, self._prompts, self._random_bytes = model, prompts, random_bytes
        self._names = dict(zip(("primary", "fallback"), dict.fromkeys(names), strict=False))
        self._json_mode, self._on_asked = json_mode, on_asked

    @property
    def work_s(self) -> float:
        """The seconds that a result may take at most: two requests."""
        return 2 * self._model.timeout_s

    async def grade(self, operation: str, body: Json, checked: Json) -> Json:
        """The result of a call for which the `CHECKED` engine found `checked`."""
        result: Json = checked["result"]
        nonce = self._random_bytes(NONCE_BYTES).hex()
        fields = shown(operation, body)
        reply = await self._ask(operation, fields, nonce)
        if isinstance(reply, str):
            return scoring.unscored(result, reply)
        if operation == "judge":
            return scoring.judged(result, reply, hard_conflict=checked["hard_conflict"], directed=checked["directed"])
        return scoring.compared(result, reply, directed=checked["directed"])

    def abandon(self) -> None:
        """Gives up on all models: whoever waits gets the deterministic result now."""
        self._model.abandon()

    def close(self) -> None:
        """Ends the connections."""
        self._model.close()

    async def _ask(self, operation: str, fields: Json, nonce: str) -> Json | str:
        """The reply of the first model that is there, or why there is none: FAILED or UNUSABLE."""
        prompt = self._prompts[operation]
        for role, name in self._names.items():
            document = request(name, prompt.system, prompt.user, fields, nonce, json_mode=self._json_mode)
            began = perf_counter()
            outcome, said = await self._ask_one(document)
            reply = scoring.usable(operation, said.text, nonce, fields) if outcome == ANSWERED else None
            if outcome == ANSWERED and reply is None:
                outcome = UNUSABLE
            self._on_asked(Asked(role, outcome, perf_counter() - began, said.tokens_in, said.tokens_out))
            if reply is not None:
                return reply
            log.warning("a model was of no use", extra={"operation": operation, "reason": f"{role}: {outcome}"})
            if outcome not in _NOT_THERE:
                return scoring.UNUSABLE if outcome == UNUSABLE else scoring.FAILED
        return scoring.FAILED

    async def _ask_one(self, document: str) -> tuple[str, Completion]:
        """The outcome of one request, and what was said when that is ANSWERED."""
        try:
            answer = await self._model.complete(document)
        except Unanswered as error:
            return "timeout" if "Timeout" in str(error) else "unanswered", _NOTHING
        if answer.status == 200:
            return ANSWERED, read_completion(answer.body)
        return _REFUSALS.get(answer.status, "server_error" if answer.status >= 500 else "refused"), _NOTHING
