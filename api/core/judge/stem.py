"""Pure: a light English stemmer. Two forms of one word share a stem; unrelated words rarely do.

It is weaker than Porter's on purpose: endings are cut only from words long enough to keep a stem of three letters
or more, because a stem that is too short makes different words agree and lets false claims pass.
"""

from __future__ import annotations

from typing import Final

#: (ending, replacement, shortest word it is cut from), first match wins.
_ENDINGS: Final = (
    ("ational", "ate", 9), ("izations", "ize", 10), ("ization", "ize", 9), ("isation", "ize", 9),
    ("iveness", "ive", 9), ("fulness", "ful", 9), ("ations", "ate", 8), ("ation", "ate", 7), ("ously", "ous", 7),
    ("ments", "ment", 6), ("ingly", "", 7), ("ising", "ize", 7), ("ised", "ize", 6), ("ises", "ize", 6),
    ("ise", "ize", 6), ("edly", "", 6), ("ies", "y", 5), ("ied", "y", 5), ("ily", "y", 5), ("sses", "ss", 5),
    ("ings", "", 7), ("ers", "", 7), ("ors", "", 7), ("ing", "", 6), ("ed", "", 5), ("es", "e", 5), ("s", "", 4),
    ("ly", "", 5), ("er", "", 6), ("or", "", 7),
)  # fmt: skip
_LAST: Final = frozenset(ending[-1] for ending, _, _ in _ENDINGS)
_VOWELS: Final = frozenset("aeiouy")
_IRREGULAR: Final[dict[str, str]] = {
    "men": "man", "women": "woman", "children": "child", "people": "person", "persons": "person", "feet": "foot",
    "teeth": "tooth", "mice": "mouse", "geese": "goose", "wives": "wife", "lives": "life", "knives": "knife",
    "leaves": "leave", "ran": "run", "won": "win", "went": "go", "gone": "go", "goes": "go", "made": "make",
    "took": "take", "taken": "take", "gave": "give", "given": "give", "came": "come", "began": "begin",
    "begun": "begin", "became": "become", "wrote": "write", "written": "write", "said": "say", "told": "tell",
    "sold": "sell", "bought": "buy", "brought": "bring", "thought": "think", "built": "build", "held": "hold",
    "led": "lead", "left": "leave", "met": "meet", "paid": "pay", "sent": "send", "spent": "spend", "stood": "stand",
    "grew": "grow", "grown": "grow", "knew": "know", "known": "know", "drew": "draw", "drawn": "draw", "flew": "fly",
    "flown": "fly", "rose": "rise", "risen": "rise", "fell": "fall", "fallen": "fall", "chose": "choose",
    "chosen": "choose", "spoke": "speak", "spoken": "speak", "broke": "break", "broken": "break", "drove": "drive",
    "driven": "drive", "saw": "see", "seen": "see", "sang": "sing", "sung": "sing", "lost": "lose", "found": "find",
    "kept": "keep", "felt": "feel", "taught": "teach", "caught": "catch", "fought": "fight", "sought": "seek",
    "shot": "shoot", "struck": "strike", "wore": "wear", "died": "die", "dies": "die", "dying": "die",
    "lying": "lie", "lain": "lie", "shrank": "shrink", "shrunk": "shrink", "bore": "bear", "born": "born",
    "analyses": "analysis", "crises": "crisis", "criteria": "criterion", "phenomena": "phenomenon",
    "news": "news", "series": "series", "species": "species",
}  # fmt: skip


def stem(word: str) -> str:
    """The stem of a folded word. A word of another script, or of three letters or fewer, is its own stem."""
    known = _IRREGULAR.get(word)
    if known is not None:
        return known[:-1] if len(known) > 3 and known[-1] == "e" else known
    if word.endswith("'s"):
        word = word[:-2]
    elif word.endswith("'"):
        word = word[:-1]
    size = len(word)
    if size < 4:
        return word
    if word[-1] in _LAST and not word.endswith(("ss", "us", "is", "eed")):
        for ending, replacement, shortest in _ENDINGS:
            if size >= shortest and word.endswith(ending):
                cut = word[: -len(ending)] + replacement
                if not _VOWELS.isdisjoint(cut):
                    word = cut
                break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word
