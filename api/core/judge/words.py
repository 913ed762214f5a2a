"""Pure: tokens and what each one means to the judge.

`tokenise` cuts text into URLs, numerals, words of any script, runs of scripts written without blanks (Chinese,
Japanese, Korean, Thai, Lao, Khmer, Burmese) and the few signs that change a number. `look_up` classes one token;
results are kept in a bounded table, because texts repeat their words.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from api.core.judge import lexicon
from api.core.judge.antonyms import OPPOSITES
from api.core.judge.normalise import fold
from api.core.judge.numerals import NUMERAL, Numeral, read_numeral
from api.core.judge.stem import stem

# Kinds of token. Small integers, because the parser branches on them for every word.
STOP: Final = 0
CONTENT: Final = 1
NEGATION: Final = 2
NUMERAL_TOKEN: Final = 3
NUMBER_WORD: Final = 4
SIGN: Final = 5
UNSPACED: Final = 6
MONTH: Final = 7
LITERAL: Final = 8
HEDGE: Final = 9

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_MARKS: Final = "".join(
    chr(code)
    for code in range(0x300, 0x3000)
    if unicodedata.category(chr(code)) in ("Mn", "Mc") and not (0xE00 <= code < 0xF00 or 0x1000 <= code < 0x10A0)
)
_URL: Final = r"https?://[^\s<>\"'()\[\]{}]+"
_SIGNS: Final = r"[%٪$€£¥₹₩₽~≈≥≤]"
_MINUS: Final = r"(?<![\w.)\]])[-−](?=\d)"
_ASCII: Final = re.compile(rf"{_URL}|[A-Za-z]+(?:'[A-Za-z]+)?|{NUMERAL}|[%$~]|{_MINUS}", re.ASCII)
_LETTER: Final = rf"[^\W\d_{_UNSPACED}]"
_SPELLED: Final = rf"{_LETTER}+(?:[{_MARKS}]+{_LETTER}*)*"
_ANY: Final = re.compile(rf"{_URL}|{_SPELLED}(?:['’]{_SPELLED})?|[{_UNSPACED}]+|{NUMERAL}|{_SIGNS}|{_MINUS}")


_SUPERSCRIPTS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
#: Raised digits behind a word longer than this are a footnote mark; behind a shorter one, a power (km²).
_FOOTNOTED: Final = 4


class Word(NamedTuple):
    """One token, classed. `stem` is what overlaps compare; `entity` 2: a name wherever it stands, 1: a name unless
    it opens the sentence, 0: no name. `value` is a number word's value or a month's number. `polar`: a function word
    that has an opposite. `negates`: a content word that turns round what follows it ("failed to")."""

    kind: int
    folded: str
    stem: str
    entity: int
    value: float
    numeral: Numeral | None
    polar: bool
    negates: bool


_TABLE_LIMIT: Final = 60_000
_LONGEST_KEPT: Final = 40
_table: dict[str, Word] = {}


def tokenise(text: str) -> list[str]:
    """The tokens of `text` in order. Linear in its length."""
    return (_ASCII if text.isascii() else _ANY).findall(text)


def look_up(token: str) -> Word:
    """What `token` means; the same for equal tokens whatever was asked before."""
    word = _table.get(token)
    if word is None:
        word = _classify(token)
        if len(token) <= _LONGEST_KEPT:
            if len(_table) >= _TABLE_LIMIT:
                _table.clear()
            _table[token] = word
    return word


def known() -> dict[str, Word]:
    """The table behind `look_up`, for the parser's inner loop."""
    return _table


def _word(kind: int, folded: str, stem_: str = "", entity: int = 0, value: float = 0.0, numeral: Numeral | None = None,
          polar: bool = False, negates: bool = False) -> Word:  # fmt: skip
    return Word(kind, folded, stem_, entity, value, numeral, polar, negates)


def _classify(token: str) -> Word:
    first = token[0]
    if first.isdecimal():
        return _word(NUMERAL_TOKEN, fold(token), numeral=read_numeral(token))
    if token.startswith(("http://", "https://")):
        link = token.rstrip(".,;:!?*_").lower()
        return _word(LITERAL, link, link)
    folded = fold(token)
    if not first.isalpha():
        hedge = folded in lexicon.APPROXIMATE or folded in lexicon.LOWER_BOUND or folded in lexicon.UPPER_BOUND
        return _word(HEDGE if hedge else SIGN, folded)
    if _is_unspaced(first):
        return _word(UNSPACED, folded)
    return _classify_word(token, folded)


def _is_unspaced(char: str) -> bool:
    return char >= "\u0e00" and re.match(f"[{_UNSPACED}]", char) is not None


_VALUES: Final[dict[str, float]] = {
    **lexicon.UNITS_AND_TEENS, **lexicon.TENS, **lexicon.SCALES, **lexicon.ORDINALS, **lexicon.MULTIPLIERS,
}  # fmt: skip
_HEDGES: Final = lexicon.APPROXIMATE | lexicon.LOWER_BOUND | lexicon.UPPER_BOUND | lexicon.MORE_THAN | lexicon.LESS_THAN


def _classify_word(token: str, folded: str) -> Word:
    if len(token) > _FOOTNOTED and token[-1] in _SUPERSCRIPTS:
        token = token.rstrip(_SUPERSCRIPTS)
        folded = fold(token)
    elided, _, rest = folded.partition("'")
    if elided in lexicon.ELISIONS and len(rest) > 1:
        token, folded = token[-len(rest) :], rest
    if folded in lexicon.NEGATION or folded.endswith("n't"):
        return _word(NEGATION, folded)
    if folded in lexicon.HALVES:
        return _word(NUMBER_WORD, folded, stem(folded))
    if folded in _VALUES:
        return _word(NUMBER_WORD, folded, stem(folded), value=_VALUES[folded])
    if folded in lexicon.NUMBERS_OTHER and token.islower():
        return _word(NUMBER_WORD, folded, stem(folded), value=lexicon.NUMBERS_OTHER[folded])
    month = lexicon.MONTHS.get(folded) or lexicon.MONTH_ABBREVIATIONS.get(folded)
    capital = token[0].isupper()
    if month and capital:
        return _word(MONTH, folded, stem(folded), value=float(month))
    polar = folded in lexicon.STOP and folded in OPPOSITES
    if folded in _HEDGES:
        content = folded not in lexicon.STOP and folded not in lexicon.APPROXIMATE
        return _word(HEDGE, folded, stem(folded) if content else "", polar=polar)
    if folded in lexicon.STOP or (folded in lexicon.STOP_OTHER and not token.isupper()):
        return _word(STOP, folded, polar=polar)
    if len(folded) < 2 and folded.isascii():
        return _word(STOP, folded)
    alias = lexicon.ALIASES.get(folded, folded)
    entity = 0
    if capital and folded not in lexicon.OPENERS:
        entity = 2 if len(token) > 1 and (token.isupper() or not token[1:].islower()) and token[1:2] != "'" else 1
    return _word(CONTENT, folded, stem(alias), entity, negates=folded in lexicon.NEGATING_CONTENT)
