"""Pure: agents that were counted more than once."""

from __future__ import annotations

from collections.abc import Sequence

from api.core.consensus import Answer


def repeated_agents(answers: Sequence[Answer]) -> list[dict[str, object]]:
    """The ids that more than one answer carries, in the order of their first answers. Answers that name no agent are
    taken for different agents; ids are compared to the letter."""
    places: dict[str, list[int]] = {}
    for index, answer in enumerate(answers):
        if answer.agent_id is not None:
            places.setdefault(answer.agent_id, []).append(index)
    return [{"agent_id": agent_id, "answers": found} for agent_id, found in places.items() if len(found) > 1]
