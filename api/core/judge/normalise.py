"""Pure: folding of words, so that spelling variants compare equal.

NFKC, case folded, accents of Latin, Greek and Cyrillic letters and the vowel points of Hebrew and Arabic removed.
Marks that spell (Indic vowel signs, Thai vowels) stay: without them different words would look the same.
"""

from __future__ import annotations

import unicodedata
from typing import Final

#: (first, last) code points of the marks that only decorate.
_DECORATIONS: Final = ((0x300, 0x36F), (0x591, 0x5C7), (0x610, 0x61A), (0x640, 0x640), (0x64B, 0x65F), (0x670, 0x670))
_REMOVED: Final = {code: None for first, last in _DECORATIONS for code in range(first, last + 1)}
_REPLACED: Final = {
    **_REMOVED,
    ord("’"): "'", ord("‘"): "'", ord("ʼ"): "'", ord("ß"): "ss", ord("ø"): "o", ord("đ"): "d", ord("ł"): "l",
    ord("æ"): "ae", ord("œ"): "oe", ord("ı"): "i",
}  # fmt: skip
#: Ligatures of whole phrases, which NFKC writes out in 18 and 8 letters: they keep the length of the text in bounds.
_PHRASES: Final = {0xFDFA: "صلعم", 0xFDFB: "جل"}


def fold(text: str) -> str:
    """`text` in the form that all comparisons use. Idempotent; the length may change."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text.translate(_PHRASES)).casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).translate(_REPLACED))


def squeeze(text: str) -> str:
    """`text` folded, each run of white space one blank, none at the ends."""
    return " ".join(fold(text).split())


#: `stands_in` looks at no more places than this: text that repeats itself must not take quadratic time.
_MOST_PLACES: Final = 1000
#: A phrase of more characters than this can only repeat itself when it is nothing but a repetition.
_LONG_PHRASE: Final = 100
_MOST_OF_LONG: Final = 50


def stands_in(phrase: str, text: str) -> bool:
    """Whether `phrase` stands in `text` at word boundaries; both squeezed, `phrase` not empty.

    A number must stand there whole: "4" does not stand in "4.5", "1,400" or "4%".
    """
    at = text.find(phrase)
    for _ in range(_MOST_PLACES if len(phrase) <= _LONG_PHRASE else _MOST_OF_LONG):
        if at < 0:
            return False
        if not _runs_on(text, at) and not _runs_on(text, at + len(phrase)):
            return True
        at = text.find(phrase, at + 1)
    return False


def _runs_on(text: str, cut: int) -> bool:
    """Whether the characters around `cut` belong together. Scripts without blanks have no such boundary."""
    if not 0 < cut < len(text):
        return False
    before, after = text[cut - 1], text[cut]
    if before.isalnum() and after.isalnum():
        return before < "\u0e00" and after < "\u0e00"
    if before.isdecimal():
        return after == "%" or (after in ".," and text[cut + 1 : cut + 2].isdecimal())
    return after.isdecimal() and (before in "$€£" or (before in ".,-" and text[cut - 2 : cut - 1].isdecimal()))
