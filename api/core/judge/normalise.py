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


def fold(text: str) -> str:
    """`text` in the form that all comparisons use. Idempotent; the length may change."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).translate(_REPLACED))


def squeeze(text: str) -> str:
    """`text` folded, each run of white space one blank, none at the ends."""
    return " ".join(fold(text).split())
