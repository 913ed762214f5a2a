"""Pure: the deterministic judge of agent outputs.

`judge` compares an output with evidence and criteria; `signals` gives the findings behind a judgement.
"""

from api.core.judge.engine import judge
from api.core.judge.model import ClaimFinding, CriterionFinding, Judgement, signals

__all__ = ["ClaimFinding", "CriterionFinding", "Judgement", "judge", "signals"]
