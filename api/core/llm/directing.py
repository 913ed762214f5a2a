"""Pure. Whether a text tries to direct the verdict instead of earning it.

A short list of phrasings, not a proof: what it finds keeps a model from lifting the verdict, what it misses is left to
the prompt. A text that merely quotes such a phrase is found too; it then has the deterministic verdict at most.
"""

import re
import unicodedata
from collections.abc import Iterable

from api.core.llm.untrusted import revealed

_ABOUT = r"(?:(?:all|any|the|these|those|your|my|of|previous|prior|above|earlier|preceding|foregoing|other)\s+){1,5}"
_TOLD = r"(?:instructions?|prompts?|rules|directions|guidelines|directives|criteria|messages?|context)"
_US = r"(?:judge|grader|evaluator|examiner|reviewer|validator|verifier|assistant|model|llm|ai)"
_OURS = r"(?:verdict|score|grade|rating|agreement_score|false_consensus_risk|consensus_answer)"

_PATTERNS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        rf"\b(?:ignore|disregard|forget|override|bypass|skip)\s+{_ABOUT}{_TOLD}\b",
        r"\b(?:new|updated|revised|real|actual|important|additional)\s+(?:system\s+)?instructions?\b.{0,20}:",
        rf"\b(?:note|message|instructions?|attention|reminder|notice)\s+(?:to|for)\s+(?:the\s+|any\s+|all\s+)?"
        rf"(?:automated\s+|ai\s+)?{_US}s?\b",
        rf"\b(?:dear|hello|hey|attention)\s*,?\s+(?:the\s+)?(?:ai\s+|automated\s+)?{_US}\b",
        rf"\b(?:as|you are)\s+(?:now\s+)?(?:the|an|a)\s+(?:ai\s+)?{_US}\s*,?\s*(?:you|and|who|that)\b",
        r"\byou (?:must|should|will|shall|have to|need to|are required to)\s+(?:now\s+|always\s+|only\s+)?"
        r"(?:pass|approve|accept|grade|score|rate|mark|answer|output|return|respond|reply)\b",
        rf"\b(?:set|return|output|respond|reply|answer|give|assign|report|print|emit|mark|make|write)\b.{{0,40}}\b{_OURS}"
        r"\b.{0,30}\b(?:pass|passed|1(?:\.0+)?|100|low|perfect|maximum|highest)\b",
        rf"[\"'`]{_OURS}[\"'`]\s{{0,4}}:",
        rf"\b(?:the\s+)?(?:correct|right|only|final|required)\s+{_OURS}\s+(?:is|must be|should be|:)",
        rf"\b{_OURS}\s{{0,3}}(?::|=|must be|should be|has to be|shall be)\s{{0,3}}[\"'`]?(?:pass|1\.0|1\b|100|low\b)",
        r"\b(?:mark|grade|rate|score|judge|evaluate|accept|approve)\s+(?:this|it|the)\b.{0,40}"
        r"\b(?:as\s+)?(?:pass|passed|passing|correct|perfect|approved|valid)\b",
        r"<\|?(?:im_start|im_end|system|assistant|endoftext|start_header_id|eot_id)\|?>|\[/?inst\]|<<sys>>",
        r"(?:^|\s)#{2,4}\s{0,3}(?:system|instruction)s?\b|(?:^|\n)\s{0,4}(?:system|assistant)\s{0,3}:",
        r"<\s{0,4}/?\s{0,4}untrusted\b",
    )
)


def directs(texts: Iterable[str]) -> bool:
    """Whether one of the texts tries to, also in letters that show nothing. Takes linear time."""
    return any(pattern.search(folded) for folded in map(_folded, texts) for pattern in _PATTERNS)


def _folded(text: str) -> str:
    """The text as the patterns have it. White space never comes twice: else a run of it would take quadratic time."""
    shown = revealed(text)
    lines = (" ".join(line.split()) for line in (shown if shown.isascii() else _plain(shown)).lower().splitlines())
    return "\n".join(line for line in lines if line)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
