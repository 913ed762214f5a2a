"""Pure: numbers, dates, hedges and units in a run of tokens."""

from __future__ import annotations

from typing import Final

from api.core.judge import lexicon
from api.core.judge.facts import AT_LEAST, AT_MOST, EXACT, NEAR, Dated, Name, Number, Parsed, number_key
from api.core.judge.numerals import Numeral, date, is_year, tidy
from api.core.judge.stem import stem
from api.core.judge.words import HEDGE, MONTH, NUMBER_WORD, NUMERAL_TOKEN, UNSPACED, Word, look_up

_SMALL_ORDINALS: Final[dict[str, int]] = {"first": 1, "second": 2, **lexicon.ORDINALS}
_BIG_SCALES: Final = 1000
#: Ordinals that are plain words (the first time, a second chance): 1st is read as the word.
_WORDED: Final[dict[float, str]] = {1.0: stem("first"), 2.0: stem("second")}
#: "the 90s" are the 1990s.
_DECADES: Final = frozenset((20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0))


def read_quantity(tokens: list[str], index: int, word: Word, parsed: Parsed) -> int:
    """Reads what starts at `index` (no plain word) into `parsed`; returns the index of the next token to read."""
    if word.kind == NUMERAL_TOKEN:
        return _plain(tokens, index, word, parsed) or _numeral(tokens, index, word, parsed)
    if word.kind == NUMBER_WORD:
        return _number_words(tokens, index, parsed)
    if word.kind == MONTH:
        return _month(tokens, index, word, parsed)
    if word.kind == HEDGE and word.stem:
        parsed.content.append(word.stem)
    return index + 1


def _at(tokens: list[str], index: int) -> Word | None:
    return look_up(tokens[index]) if 0 <= index < len(tokens) else None


def _folded(tokens: list[str], index: int) -> str:
    word = _at(tokens, index)
    return word.folded if word else ""


def _plain_integer(word: Word | None) -> int | None:
    """The value of a whole number without signs inside, for days and years."""
    if word is None or word.kind != NUMERAL_TOKEN or not word.folded.isdecimal() or len(word.folded) > 4:
        return None
    return int(word.folded)


# Dates


def _add_date(parsed: Parsed, found: Numeral, shown: str) -> None:
    """A date counts as the stems year, month, day, in this order however it was written."""
    for sign, value in (("#", found.year), ("@", found.month), ("#", found.day)):
        if value is None:
            continue
        if sign == "#":
            parsed.numbers.append(Number((float(value),), len(parsed.content), str(value), dated=True))
        parsed.content.append(f"{sign}{value}")
    parsed.dates.append(Dated(found, shown))


def _month(tokens: list[str], index: int, word: Word, parsed: Parsed) -> int:
    """March 1, 2024 / March 2024 / March; a number in front of the month was read by `_numeral`."""
    month = int(word.value)
    day = _plain_integer(_at(tokens, index + 1))
    after = index + 2
    if day is not None and _folded(tokens, after) in lexicon.ORDINAL_SUFFIXES:
        after += 1
    if day is not None and day <= 31 and day > 0:
        year = _plain_integer(_at(tokens, after))
        if year is not None and is_year(year):
            _add_date(parsed, date(year, month, day), " ".join(tokens[index : after + 1]))
            return after + 1
        _add_date(parsed, date(None, month, day), " ".join(tokens[index:after]))
        return after
    if day is not None and is_year(day):
        _add_date(parsed, date(day, month, None), " ".join(tokens[index : index + 2]))
        return index + 2
    sure = word.folded in lexicon.MONTHS and (index > 0 or word.folded not in lexicon.MONTHS_AMBIGUOUS)
    if sure:
        _add_date(parsed, date(None, month, None), tokens[index])
    elif word.folded != "may":
        parsed.names.append(Name(word.stem, tokens[index], len(parsed.content), index, index == 0))
        parsed.content.append(word.stem)
    return index + 1


def _day_month(tokens: list[str], index: int, parsed: Parsed) -> int:
    """1 March 2024 / the 1st of March; 0 when no month follows the number."""
    day = _plain_integer(_at(tokens, index))
    if day is None or not 0 < day <= 31:
        return 0
    at = index + 1
    if _folded(tokens, at) in lexicon.ORDINAL_SUFFIXES:
        at += 1
    if _folded(tokens, at) == "of":
        at += 1
    word = _at(tokens, at)
    if word is None or word.kind != MONTH:
        return 0
    year = _plain_integer(_at(tokens, at + 1))
    if year is not None and is_year(year):
        _add_date(parsed, date(year, int(word.value), day), " ".join(tokens[index : at + 2]))
        return at + 2
    _add_date(parsed, date(None, int(word.value), day), " ".join(tokens[index : at + 1]))
    return at + 1


def _cjk_date(tokens: list[str], index: int, parsed: Parsed) -> int:
    """2024年3月1日, or a part of it; 0 when no such sign follows the number."""
    parts: dict[str, int] = {}
    at = index
    while at + 1 < len(tokens):
        value = _plain_integer(_at(tokens, at))
        sign = tokens[at + 1][0]
        if value is None or sign not in "年月日년월일":
            break
        parts["年月日年月日"["年月日년월일".index(sign)]] = value
        at += 2
        if len(tokens[at - 1]) > 1:
            break
    if not parts:
        return 0
    _add_date(parsed, date(parts.get("年"), parts.get("月"), parts.get("日")), "".join(tokens[index:at]))
    rest = tokens[at - 1][1:].strip("年월일")
    if len(rest) == 1:
        parsed.content.append(rest)
    parsed.content.extend(rest[i : i + 2] for i in range(len(rest) - 1))
    return at


# Numbers


#: Words that change the number behind or before them. Without one, the number is just its digits.
_BEFORE: Final = frozenset(("than", "to", *lexicon.CURRENCIES))
_AFTER: Final = frozenset(
    ("s", "or", "per", "of", "am", "pm", "a", "p", *lexicon.ORDINAL_SUFFIXES, *lexicon.SCALE_SUFFIXES)
)


def _plain(tokens: list[str], index: int, word: Word, parsed: Parsed) -> int:
    """The fast way for a number between plain words; 0 when it takes more than that to read it."""
    numeral = word.numeral
    if numeral is None or numeral.kind != "number":
        return 0
    if index:
        before = look_up(tokens[index - 1])
        if before.kind > NUMERAL_TOKEN or before.folded in _BEFORE:
            return 0
    unit = ""
    if index + 1 < len(tokens):
        after = look_up(tokens[index + 1])
        if after.kind > NUMERAL_TOKEN or after.folded in _AFTER:
            return 0
        if after.folded in lexicon.UNITS:
            unit = lexicon.CURRENCIES.get(after.folded, after.folded)
    content = parsed.content
    parsed.numbers.append(Number(numeral.readings, len(content), tokens[index], unit, numeral.decimals))
    content.append(number_key(numeral.readings[0]))
    return index + 1


def _numeral(tokens: list[str], index: int, word: Word, parsed: Parsed) -> int:
    numeral = word.numeral
    if numeral is None or numeral.kind == "literal":
        parsed.names.append(Name(f"#{word.folded}", tokens[index], len(parsed.content), index))
        parsed.content.append(f"#{word.folded}")
        return index + 1
    if numeral.kind == "date":
        _add_date(parsed, numeral, tokens[index])
        return index + 1
    if numeral.kind == "time" or _is_hour(tokens, index, numeral):
        return _clock(tokens, index, numeral, parsed)
    if numeral.kind == "range":
        _add_number(tokens, index, index + 1, numeral.parts[0].readings, numeral.parts[0].decimals, parsed)
        return _with_scale(tokens, index, numeral.parts[1], parsed)
    following = _at(tokens, index + 1)
    after = 0
    if following is not None:
        read = _cjk_date if following.kind == UNSPACED else _day_month
        after = read(tokens, index, parsed)
    return after or _with_scale(tokens, index, numeral, parsed)


def _half_of_day(tokens: list[str], index: int) -> tuple[str, int]:
    """ "a" or "p" for am, pm, a.m., p.m. and how many tokens that takes; ("", 0) for anything else."""
    folded = _folded(tokens, index)
    if folded in ("am", "pm"):
        return folded[0], 1
    return (folded, 2) if folded in ("a", "p") and _folded(tokens, index + 1) == "m" else ("", 0)


def _is_hour(tokens: list[str], index: int, numeral: Numeral) -> bool:
    """Whether a whole number is the hour of "3 pm"."""
    hour = numeral.readings[0] if numeral.kind == "number" and not numeral.decimals else 0
    return 1 <= hour <= 12 and bool(_half_of_day(tokens, index + 1)[0])


def _clock(tokens: list[str], index: int, numeral: Numeral, parsed: Parsed) -> int:
    minutes = numeral.readings[0] * (1 if numeral.kind == "time" else 60)
    after = index + 1
    half, marks = _half_of_day(tokens, after)
    if half:
        minutes = minutes % 720 + (720 if half == "p" else 0)
        after += marks
    parsed.numbers.append(Number((minutes,), len(parsed.content), " ".join(tokens[index:after]), "clock"))
    parsed.content.append(f"#t{minutes:.12g}")
    return after


def _scale(tokens: list[str], index: int, money: bool) -> float:
    """The factor that the token at `index` puts on the number before it, 0 for none."""
    if index >= len(tokens):
        return 0.0
    token = tokens[index]
    folded = look_up(token).folded
    if folded in lexicon.SCALES:
        return lexicon.SCALES[folded]
    if token[0] in lexicon.CJK_SCALES:
        return lexicon.CJK_SCALES[token[0]]
    if folded in lexicon.SCALE_SUFFIXES and (money or folded in ("k", "bn", "mn", "tn") or token in ("M", "B", "T")):
        return lexicon.SCALE_SUFFIXES[folded]
    return 0.0


def _with_scale(tokens: list[str], index: int, numeral: Numeral, parsed: Parsed) -> int:
    readings, decimals = numeral.readings, numeral.decimals
    money = _folded(tokens, index - 1) in lexicon.CURRENCIES
    after, scaled = index + 1, False
    factor = _scale(tokens, after, money)
    while factor:
        readings = tuple(tidy(value * factor) for value in readings[:1])
        scaled = True
        after += 1
        factor = _scale(tokens, after, False) if factor < _BIG_SCALES else 0.0
    if not scaled and readings[0] in _DECADES and tokens[after : after + 1] == ["s"]:
        readings = (1900 + readings[0],)
    ordinal = _folded(tokens, after) in lexicon.ORDINAL_SUFFIXES
    if ordinal and readings[0] in _WORDED:
        parsed.content.append(_WORDED[readings[0]])
        return after + 1
    if _folded(tokens, index - 1) in ("-", "−"):
        readings = tuple(-value for value in readings)
    end = _add_number(tokens, index, after, readings, decimals, parsed, ordinal=ordinal, scaled=scaled)
    if scaled and look_up(tokens[after - 1]).kind == UNSPACED and len(tokens[after - 1]) > 1:
        rest = tokens[after - 1][1:]
        parsed.content.extend([rest] if len(rest) == 1 else [rest[i : i + 2] for i in range(len(rest) - 1)])
    return end


def _number_words(tokens: list[str], index: int, parsed: Parsed) -> int:
    """twenty-five / one hundred and twenty thousand / third / twice."""
    total, current, at = 0.0, 0.0, index
    seen, ordinal = False, False
    while at < len(tokens):
        folded = _folded(tokens, at)
        if folded == "and" and seen and (current or total) >= 100 and _small(_folded(tokens, at + 1)):
            at += 1
            continue
        small = lexicon.SMALL_NUMBERS.get(folded) if look_up(tokens[at]).kind == NUMBER_WORD else None
        if folded == "zero" and not seen:
            seen, at = True, at + 1
            break
        if small and (not seen or _joins(current, small)):
            current += small
        elif folded in lexicon.SCALES and (seen or not folded.endswith("s")):
            factor = lexicon.SCALES[folded]
            if factor < _BIG_SCALES:
                current = (current or 1.0) * factor
            else:
                total, current = total + (current or (0.0 if total else 1.0)) * factor, 0.0
        elif folded in _SMALL_ORDINALS and seen and _joins(current, _SMALL_ORDINALS[folded]):
            current, ordinal, seen, at = current + _SMALL_ORDINALS[folded], True, True, at + 1
            break
        else:
            break
        seen, at = True, at + 1
    if not seen:
        return _other_number_word(tokens, index, parsed)
    value = total + current
    if value == 1 and at == index + 1:
        parsed.numbers.append(Number((1.0,), len(parsed.content), tokens[index], loose=True))
        return at
    scaled = value >= _BIG_SCALES
    return _add_number(tokens, index, at, (value,), 0, parsed, ordinal=ordinal, scaled=scaled)


def _small(folded: str) -> bool:
    return folded in lexicon.UNITS_AND_TEENS or folded in lexicon.TENS


def _joins(current: float, small: float) -> bool:
    """Whether `small` continues the number: sixty-five, hundred five; not two three."""
    if small < 10:
        return current % 10 == 0 and (current % 100 >= 20 or current % 100 == 0)
    return current % 100 == 0


def _other_number_word(tokens: list[str], index: int, parsed: Parsed) -> int:
    word = look_up(tokens[index])
    if word.folded in lexicon.ORDINALS:
        return _add_number(tokens, index, index + 1, (word.value,), 0, parsed, ordinal=True)
    if word.folded in lexicon.MULTIPLIERS:
        return _add_number(tokens, index, index + 1, (word.value,), 0, parsed)
    if word.folded in lexicon.HALVES and _folded(tokens, index + 1) in ("of", "the"):
        parsed.numbers.append(Number((50.0,), len(parsed.content), tokens[index], "percent"))
        parsed.content += (number_key(50), "percent")
        return index + 1
    parsed.content.append(stem(word.folded))
    return index + 1


def _unit(tokens: list[str], start: int, after: int) -> str:
    """The unit beside a number whose digits start at `start` and end before `after`."""
    before = _folded(tokens, start - 1)
    if before in lexicon.CURRENCIES and not before.isalpha():
        return lexicon.CURRENCIES[before]
    following = _folded(tokens, after)
    if following == "per" and _folded(tokens, after + 1) == "cent":
        return "percent"
    if following in lexicon.UNITS:
        return lexicon.CURRENCIES.get(following, following)
    return ""


def _bound(tokens: list[str], start: int, after: int) -> str:
    """How the words around a number mean it."""
    at = start - 1
    while at >= 0 and not tokens[at][0].isalnum() and tokens[at] not in "~≈≥≤":
        at -= 1
    one, two, three = (_folded(tokens, at - back) for back in range(3))
    if one in lexicon.APPROXIMATE or (one == "to" and two == "close"):
        return NEAR
    if one == "least" or (one in lexicon.LOWER_BOUND and one != "minimum"):
        return AT_LEAST
    if one in ("under", "below", "≤") or (one == "most" and two == "at") or (one == "to" and two == "up"):
        return AT_MOST
    if one == "than" and two in lexicon.MORE_THAN:
        return AT_MOST if three in ("no", "not") else AT_LEAST
    if one == "than" and two in lexicon.LESS_THAN:
        return AT_LEAST if three in ("no", "not") else AT_MOST
    if _folded(tokens, after) == "or" and _folded(tokens, after + 1) == "more":
        return AT_LEAST
    return EXACT


def _add_number(
    tokens: list[str], start: int, after: int, readings: tuple[float, ...], decimals: int, parsed: Parsed,
    *, ordinal: bool = False, scaled: bool = False,
) -> int:  # fmt: skip
    """Adds the number written by tokens[start:after]; returns the index behind it and its signs."""
    unit = _unit(tokens, start, after)
    sign = tokens[start - 1] if start and tokens[start - 1] in lexicon.CURRENCIES else ""
    shown = sign + " ".join(tokens[start:after])
    if unit in ("%", "٪"):
        shown += unit
    bound = _bound(tokens, start, after)
    at = len(parsed.content)
    parsed.numbers.append(Number(readings, at, shown, unit, decimals, bound, ordinal, scaled=scaled))
    parsed.content.append(number_key(readings[0]))
    if ordinal and _folded(tokens, after) in lexicon.ORDINAL_SUFFIXES:
        return after + 1
    if unit in ("%", "٪"):
        parsed.content.append("percent")
        return after + 1
    if unit == "percent" and _folded(tokens, after) == "per":
        parsed.content.append("percent")
        return after + 2
    if sign and unit:
        parsed.content.append(unit)
    return after
