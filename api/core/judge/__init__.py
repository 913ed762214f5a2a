"""Pure: the deterministic judge of agent outputs.

`judge` compares an output with evidence and criteria (`judge_against`: with evidence indexed before); `signals`
gives the findings behind a judgement.
"""

from api.core.judge.engine import judge, judge_against
from api.core.judge.index import Evidence
from api.core.judge.model import ClaimFinding, CriterionFinding, Judgement, signals

__all__ = ["ClaimFinding", "CriterionFinding", "Evidence", "Judgement", "judge", "judge_against", "signals"]
