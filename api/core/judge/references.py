"""Pure: evidence that is nothing but reference answers ("Cherry Hill", "4"): is one of them in the output?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from api.core.judge.facts import Parsed
from api.core.judge.index import Evidence
from api.core.judge.phrases import Output
from api.core.judge.polarity import odd

#: An evidence item of at most this many content stems can be a reference answer.
LONGEST: Final = 6


@dataclass(frozen=True, slots=True)
class References:
    """`answers`: the content stems of each reference answer. `given`: the stems of the task, which an answer may
    repeat without support."""

    answers: tuple[frozenset[str], ...] = ()
    given: frozenset[str] = frozenset()

    def in_claim(self, parsed: Parsed) -> bool:
        """Whether the claim has one of the answers, and does not negate it."""
        stems = set(parsed.content)
        denied = odd(parsed.content, parsed.negated)
        return any(answer <= stems and answer.isdisjoint(denied) for answer in self.answers)

    def loose(self, parsed: Parsed) -> list[str]:
        """Stems of the claim that neither an answer nor the task has."""
        known = self.given.union(*self.answers)
        return [stem for stem in dict.fromkeys(parsed.content) if stem not in known]


def references(evidence: Evidence, output: Output) -> References:
    """The reference answers, when every item of the evidence is one."""
    answers: dict[int, list[str]] = {}
    for sentence in evidence.sentences:
        stems = answers.setdefault(sentence.item, [])
        stems.extend(sentence.parsed.content)
        if len(stems) > LONGEST:
            return References()
    if not answers:
        return References()
    return References(tuple(frozenset(stems) for stems in answers.values() if stems), output.given)
