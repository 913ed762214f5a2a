"""Pure: the deterministic judge. Same answer on every machine, in every process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from api.core.judge import reasons
from api.core.judge.align import reach_for
from api.core.judge.claims import Claim, split_claims
from api.core.judge.criteria import check_criterion
from api.core.judge.equations import disputed, equations
from api.core.judge.facts import Parsed
from api.core.judge.index import Evidence
from api.core.judge.model import Judgement
from api.core.judge.normalise import squeeze, stands_in
from api.core.judge.numerals import tidy
from api.core.judge.phrases import MET_FROM, Output, recall
from api.core.judge.references import References, references
from api.core.judge.selfcheck import contradictions
from api.core.judge.support import Checked, check_claim, read_claim
from api.core.judge.verdict import Findings, decide
from api.core.judge.words import tokenise

#: No more equations of one output are checked than this: a bound on the work, far above what an answer has.
MOST_EQUATIONS: Final = 400


def judge(task: str, agent_output: str, evidence: Sequence[str] = (), criteria: Sequence[str] = ()) -> Judgement:
    """Judges `agent_output`. Never raises on any text; the work is bounded for the largest accepted request."""
    return judge_against(Evidence(evidence), list(evidence), task, agent_output, criteria)


def judge_against(
    index: Evidence, items: Sequence[str], task: str, agent_output: str, criteria: Sequence[str] = ()
) -> Judgement:
    """As `judge`, against evidence that was indexed before: `index` is `Evidence(items)`, made once for many
    outputs."""
    output = Output(agent_output, task)
    claims = split_claims(agent_output)
    read = [(claim, parsed) for claim, parsed in _read(claims, index, output) if parsed.content]
    false, derived = _equations(claims)
    checked = []
    answers = references(index, output)
    if index.sentences:
        checked = _check(read, agent_output, index, answers, derived)
    return decide(
        Findings(
            output=agent_output,
            evidence=list(items),
            checked=checked,
            criteria=[check_criterion(criterion, output) for criterion in criteria],
            faults=[*false, *contradictions(agent_output, read)],
            references=bool(answers.answers),
            answered=bool(answers.answers) and any(recall(item, output) >= MET_FROM for item in items),
            verbatim=_verbatim(output, items),
            has_words=bool(read) or bool(tokenise(agent_output)),
        )
    )


def _read(claims: list[Claim], index: Evidence, output: Output) -> list[tuple[Claim, Parsed]]:
    """Each claim with its facts; equal claims are read once, because an output may repeat itself without end."""
    known: dict[tuple[str, str], Parsed] = {}
    for claim in claims:
        if (claim.key, claim.text) not in known:
            known[claim.key, claim.text] = read_claim(claim, index, output)
    return [(claim, known[claim.key, claim.text]) for claim in claims]


def _check(
    read: list[tuple[Claim, Parsed]], text: str, index: Evidence, answers: References, derived: frozenset[float]
) -> list[Checked]:
    """Each claim's findings; equal claims are compared once."""
    known: dict[tuple[str, str], Checked] = {}
    checked: list[Checked] = []
    reach = reach_for(sum(len(parsed.content) for _, parsed in read))
    for claim, parsed in read:
        shown = text[claim.start : claim.end]
        one = known.get((claim.key, claim.text))
        if one is None:
            one = known[claim.key, claim.text] = check_claim(claim, parsed, shown, index, answers, derived, reach)
        else:
            finding = replace(one.finding, text=shown, start=claim.start, end=claim.end)
            one = Checked(finding, one.cover, one.size)
        checked.append(one)
    return checked


def _verbatim(output: Output, items: Sequence[str]) -> bool:
    """Whether the whole output stands in one evidence item: quoting the evidence is never a fault."""
    return bool(output.squeezed) and any(
        stands_in(output.squeezed, squeeze(item)) for item in items if len(item) >= len(output.squeezed) // 2
    )


def _equations(claims: list[Claim]) -> tuple[list[str], frozenset[float]]:
    """Reasons for the false equations, and the results of the true ones."""
    false: list[str] = []
    derived: set[float] = set()
    left = MOST_EQUATIONS
    for claim in claims:
        found = equations(claim.text, left)
        left -= len(found)
        for equation in found:
            if equation.holds:
                derived.add(tidy(float(equation.result)))
            elif not disputed(claim.text):
                stated = f"{equation.left} = {equation.right}"
                false.append(reasons.false_equation(claim.text, stated, f"{float(equation.result):.6g}"))
    return false, frozenset(derived)
