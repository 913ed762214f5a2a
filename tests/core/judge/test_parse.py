import pytest

from api.core.judge.facts import AT_LEAST, AT_MOST, EXACT, MOST_KEPT, NEAR
from api.core.judge.parse import parse


def test_a_plain_sentence() -> None:
    parsed = parse("The mission launched from Cape Canaveral.")
    assert parsed.content == ["mission", "launch", "cap", "canaveral"]
    assert [(name.stem, name.shown, name.at) for name in parsed.names] == [
        ("cap", "Cape", 2),
        ("canaveral", "Canaveral", 3),
    ]
    assert (parsed.numbers, parsed.dates, parsed.negated, parsed.words) == ([], [], [], 6)


@pytest.mark.parametrize(
    "text",
    ["2024-03-01", "1 March 2024", "March 1, 2024", "March 1st, 2024", "the 1st of March 2024", "01/03/2024",
     "2024年3月1日", "01.03.2024"],
)  # fmt: skip
def test_a_date_has_the_same_stems_however_it_is_written(text: str) -> None:
    parsed = parse(text)
    assert parsed.content[:3] == ["#2024", "@3", "#1"]
    assert [(d.date.year, d.date.month, d.date.day) for d in parsed.dates] == [(2024, 3, 1)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,000 people", 1000),
        ("one thousand people", 1000),
        ("1k users", 1000),
        ("3.2 million users", 3.2e6),
        ("twenty-five", 25),
        ("one hundred and twenty thousand", 120000),
        ("two hundred five", 205),
        ("$5M in sales", 5e6),
        ("$5m in sales", 5e6),
        ("5bn", 5e9),
        ("a dozen eggs", 12),
        ("the fourth floor", 4),
        ("the 4th floor", 4),
        ("twenty-first", 21),
        ("twice", 2),
        ("3万人", 30000),
        ("-7 degrees", -7),
        ("the 90s", 1990),
        ("zero", 0),
    ],
)
def test_one_number(text: str, value: float) -> None:
    assert [number.value for number in parse(text).numbers] == [value]


def test_numbers_that_only_stand_side_by_side_stay_apart() -> None:
    assert [number.value for number in parse("two three, 4 5").numbers] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("5 km", "km"),
        ("20%", "%"),
        ("20 percent", "percent"),
        ("20 per cent", "percent"),
        ("$5", "usd"),
        ("5 dollars", "usd"),
        ("€3,5 Millionen", "eur"),
        ("5 people", ""),
        ("15:30", "clock"),
    ],
)
def test_units(text: str, unit: str) -> None:
    assert parse(text).numbers[0].unit == unit


def test_signs_and_words_of_a_unit_share_a_stem() -> None:
    assert parse("20%").content == parse("20 per cent").content == parse("20 percent").content == ["#20", "percent"]
    assert parse("$5").content == parse("5 dollars").content == ["#5", "usd"]


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("4 people", EXACT),
        ("about 4 people", NEAR),
        ("~4 people", NEAR),
        ("close to 4", NEAR),
        ("at least 4", AT_LEAST),
        ("more than 4", AT_LEAST),
        ("over 4", AT_LEAST),
        ("4 or more", AT_LEAST),
        ("no fewer than 4", AT_LEAST),
        ("at most 4", AT_MOST),
        ("up to 4", AT_MOST),
        ("no more than 4", AT_MOST),
        ("fewer than 4", AT_MOST),
        ("from 3 to 4", EXACT),
    ],
)
def test_hedges(text: str, bound: str) -> None:
    assert parse(text).numbers[-1].bound == bound


def test_afternoon_times_are_on_the_same_clock() -> None:
    assert parse("3:30 pm").content == parse("15:30").content == ["#t930"]
    assert parse("12:05 am").content == ["#t5"]


def test_the_word_one_is_kept_apart_because_it_is_often_no_count() -> None:
    parsed = parse("one crew")
    assert parsed.content == ["crew"]
    assert [(number.value, number.at, number.loose) for number in parsed.numbers] == [(1.0, 0, True)]


@pytest.mark.parametrize(
    ("text", "negated"),
    [("The door is not open.", [1]), ("They didn't land.", [0]), ("It failed to land.", [1]), ("It could not.", [0])],
)
def test_negations_are_places_not_content(text: str, negated: list[int]) -> None:
    assert parse(text).negated == negated


def test_may_is_a_month_only_as_one() -> None:
    assert parse("It may rain.").dates == []
    assert parse("It rained in May.").content == ["rain", "@5"]
    assert parse("in March and on 5 May").content == ["@3", "@5", "#5"]


def test_scripts() -> None:
    assert parse("乗組員").content == ["乗組", "組員"]
    assert parse("नमस्ते दुनिया").content == ["नमस्ते", "दुनिया"]
    assert parse("Размер экипажа").content == ["размер", "экипажа"]
    assert parse("สวัสดี").content[0] == "สว"


def test_the_first_word_is_a_name_only_when_a_name_follows() -> None:
    assert parse("Researchers landed.").names[0].opening
    assert not parse("Neil Armstrong landed.").names[0].opening
    assert parse("However, it landed.").names == []


def test_a_url_is_one_name() -> None:
    assert [name.stem for name in parse("See https://example.com/a_b?c=1.").names[-1:]] == [
        "https://example.com/a_b?c=1"
    ]


def test_a_footnote_mark_behind_a_word_is_no_part_of_it() -> None:
    assert parse("Gaga⁶").content == ["gaga"]


def test_facts_are_bounded() -> None:
    parsed = parse("Aa 1 Bb 2 " * 200)
    assert len(parsed.names) == len(parsed.numbers) == MOST_KEPT
    assert len(parsed.content) == 800


@pytest.mark.parametrize("text", ["", "  ", "...", "\ufeff", "—", "\u0301", "²", "-", "$", "%"])
def test_no_words_no_facts(text: str) -> None:
    assert parse(text).numbers == []
