"""Pure: numbers in Chinese and Japanese characters, inside a run of text without blanks."""

from __future__ import annotations

import re
from typing import Final

_DIGITS: Final = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_TENS: Final = {"十": 10, "百": 100, "千": 1000}
#: A numeral that is counted: it ends the run, or one of the frequent counters follows. Without one it may be a part of
#: a word (三明治, "sandwich"). One that is 一 alone is as little of a count as the English "one".
_COUNTED: Final = re.compile(
    r"([零〇一二三四五六七八九两兩十][零〇一二三四五六七八九十百千]*)(?=[个個人名位岁歲天次件台架艘元年回本枚]|$)"
)
_SCALES: Final = frozenset("万萬亿億")


def counted(run: str) -> list[tuple[int, int, int]]:
    """(start, end, value) of the counted numerals in `run`, in order."""
    found = []
    for match in _COUNTED.finditer(run):
        value = _value(match[1])
        if value is not None and match[1] != "一" and run[match.start() - 1 : match.start()] not in _SCALES:
            found.append((match.start(), match.end(), value))
    return found


def _value(numeral: str) -> int | None:
    """十二 is 12, 二〇二四 is 2024; None for what is neither."""
    if not any(char in _TENS for char in numeral):
        return int("".join(str(_DIGITS[char]) for char in numeral)) if len(numeral) <= 12 else None
    total, digit, last = 0, 0, 10_000
    for char in numeral:
        if char in _TENS:
            if _TENS[char] >= last:
                return None
            last = _TENS[char]
            total, digit = total + (digit or 1) * last, 0
        elif digit:
            return None
        else:
            digit = _DIGITS[char]
    return total + digit
