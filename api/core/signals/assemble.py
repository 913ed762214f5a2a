"""Pure: the `signals` object of a consensus result (PRODUCT.md section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api.core.consensus import Consensus, hundredths, shown_id
from api.core.signals.agents import repeated_agents
from api.core.signals.answer_keys import AnswerKey, answer_keys, entropy
from api.core.signals.conflicts import conflicts
from api.core.signals.copies import copies
from api.core.signals.dissents import Ballot, dissents
from api.core.signals.grounding import grounded
from api.core.signals.overlap import effective_agents, matrix, pairs
from api.core.signals.reading import read_answers


def consensus_signals(consensus: Consensus, task: str = "", evidence: Sequence[str] = ()) -> dict[str, Any]:
    """What lies behind a consensus, JSON-ready; the result itself is only read. Never raises on any text.

    Answers and clusters are named by their indexes, from 0, in the order of the request and of `clusters`; agents by
    the ids that the result shows. `task` tells what the answers were asked, `evidence` what to check them against.
    Each field is described where it is made: `similarities` and `effective_agents` in overlap, `conflicts`, `copies`,
    `answer_keys` and `entropy`, `dissents`, `repeated_agents`, `claims` in grounding.
    """
    outputs = [answer.output for answer in consensus.answers]
    ids = [shown_id(consensus.answers, index) for index in range(len(outputs))]
    readings = read_answers(outputs)
    similar = pairs(outputs)
    keys = answer_keys(task, readings)
    return {
        "similarities": matrix(len(outputs), similar),
        "conflicts": conflicts(consensus.clusters, readings, ids),
        "copies": copies(outputs, ids),
        "answer_keys": [_shown(key, ids) for key in keys],
        "entropy": entropy(keys),
        "effective_agents": effective_agents(len(outputs), similar),
        "dissents": dissents(Ballot(consensus.clusters, consensus.winner, readings, ids, keys, similar)),
        "repeated_agents": repeated_agents(consensus.answers),
        "claims": grounded(consensus, task, evidence),
    }


def _shown(key: AnswerKey, ids: Sequence[str]) -> dict[str, object]:
    """`share`: the part of all answers that give this key, two decimals, halves up."""
    return {
        "key": key.key,
        "kind": key.kind,
        "agent_ids": [ids[index] for index in key.members],
        "answers": list(key.members),
        "share": hundredths(len(key.members), len(ids)),
    }
