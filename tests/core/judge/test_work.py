"""The work of the judge is bounded for the largest accepted request: counted in function calls, not in time.

Each hostile kind of text is judged at two sizes. Work that grows with the square of the size would be multiplied by
16 from the one to the other.
"""

import random
import sys
from collections.abc import Callable
from itertools import product
from types import FrameType

import pytest

from api.core.judge import judge
from api.core.judge.align import reach_for
from api.core.judge.datebook import Datebook
from api.core.judge.engine import MOST_EQUATIONS
from api.core.judge.equations import equations
from api.core.judge.figures import Figures
from api.core.judge.index import POSTINGS_LIMIT, Evidence
from api.core.judge.normalise import fold
from api.core.judge.numerals import date
from api.core.judge.parse import parse

SMALL = 4_000
TIMES = 4
#: Function calls for each character of the larger request.
MOST_CALLS = 45
MOST_GROWTH = 6.0

rng = random.Random(4)
WORDS = ["".join(letters) for letters in product("bcdf", "aeio", "lmnr", "au")]


def words(count: int) -> str:
    return " ".join(rng.choices(WORDS, k=count)).capitalize()


#: kind -> (output, evidence) of at least `size` characters; the evidence is cut to the same size.
KINDS: dict[str, Callable[[int], tuple[str, str]]] = {
    "dates without full stops": lambda n: (
        "March 1, 2024 2024-03-01 1/3/2024 " * (n // 30), "March 2, 2024 " * (n // 14)),
    "dates": lambda n: (
        "".join(f"On {i % 12 + 1}/{i % 11 + 1}/{1000 + i % 1000}. " for i in range(n // 12)),
        "".join(f"On {i % 11 + 1}/{i % 12 + 1}/{1100 + i % 1000}. " for i in range(n // 12))),
    "one claim": lambda n: ("The crew size was 5. " * (n // 20), "The crew size was 4. " * (n // 20)),
    "Chinese": lambda n: ("乘员人数是四。" * (n // 7), "乘员人数是五。" * (n // 7)),
    "equations": lambda n: ("1+1=2+" * (n // 6), "1+1=3 " * (n // 6)),
    "table": lambda n: (
        "".join(f"| {i} | {2 * i} |\n" for i in range(n // 9)), "".join(f"| {i} | {3 * i} |\n" for i in range(n // 9))),
    "hedged numbers": lambda n: (
        "".join(f"About {i * 7919 % 99991} km. " for i in range(n // 14)),
        "".join(f"{i * 7919 % 999983} m. " for i in range(n // 9))),
    "JSON": lambda n: (
        "[" + ",".join(f'{{"k{i}": {100000 + 7 * i}}}' for i in range(n // 20)) + "]",
        " ".join(f"{107000 + 3 * i} cats." for i in range(n // 12))),
    "phrase ligatures": lambda n: ("\ufdfa" * n, "\ufdfa" * n),
    "sentences of few words": lambda n: (
        "".join(f"{words(3)} {i}. " for i in range(n // 18)), "".join(f"{words(3)} {i}. " for i in range(n // 18))),
    "list": lambda n: ("- a\n" * (n // 4), "- b\n" * (n // 4)),
    "negations": lambda n: ("Not open not shut. " * (n // 19), "Never open no more. " * (n // 20)),
    "opposites": lambda n: (
        "".join(f"Door {i} is open up left high. " for i in range(n // 28)),
        "".join(f"Door {i} is closed down right low. " for i in range(n // 32))),
}  # fmt: skip


def calls(kind: str, size: int) -> int:
    """How many Python and C functions one judgement of `kind` calls."""
    output, evidence = KINDS[kind](size)
    criteria = [f"{words(8)} | {at} km" for at in range(size // 400)]
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        judge("", output[:size], [evidence[:size]], criteria)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_work_grows_with_the_size_and_no_faster(kind: str) -> None:
    small, large = calls(kind, SMALL), calls(kind, SMALL * TIMES)
    assert large <= MOST_GROWTH * small + 10_000
    assert large <= MOST_CALLS * 2 * SMALL * TIMES


def test_sentences_of_one_text_are_indexed_once_and_weighed_as_many() -> None:
    repeated, once = Evidence(["The ship sailed. " * 5000]), Evidence(["The ship sailed."] * 5000)
    assert repeated.postings == {"ship": [0], "sail": [0]}
    assert len(repeated.sentences) == len(once.sentences) == 5000
    assert len(repeated.distinct) == 1
    assert repeated.weight("ship") == once.weight("ship") < Evidence(["The ship sailed."]).weight("ship")


def test_all_stems_of_a_huge_output_bring_up_no_more_than_those_of_a_large_one() -> None:
    assert reach_for(0) == reach_for(2500) == POSTINGS_LIMIT
    assert reach_for(10_000) == 25
    assert 0 < reach_for(64_000) < 20
    evidence = Evidence([f"Ship {number} sailed." for number in range(POSTINGS_LIMIT)])
    assert len(evidence.places("ship", 7)) == 7
    assert len(evidence.places("ship", POSTINGS_LIMIT)) == POSTINGS_LIMIT


def test_the_first_sentences_by_text_are_brought_up_whatever_their_order() -> None:
    items = [f"Ship {number} sailed." for number in range(50)]
    one, other = Evidence(items), Evidence(items[::-1])
    texts = [[index.sentences[at].text for at in index.places("ship", 9)] for index in (one, other)]
    assert texts[0] == texts[1] == sorted(items)[:9]


def test_a_number_is_compared_with_fewer_numbers_of_a_text_that_has_very_many() -> None:
    few, many = (Figures(parse(f"{at} km").numbers[0] for at in range(count)) for count in (50, 5000))
    assert few.most > many.most > 0
    wanted = parse("about 4,990 km").numbers[0]
    found = many.match(wanted)
    assert found is not None
    assert found.value == 4990
    assert many.match(wanted) is found


def test_a_date_is_looked_up_not_compared() -> None:
    book = Datebook(date(year, 3, 1) for year in range(1000, 9000))
    assert len(book) == 1000
    assert book.match(date(1500, None, None)) == date(1500, 3, 1)
    assert book.match(date(1500, 1, 3, swapped=True)) == date(1500, 3, 1)
    assert book.match(date(None, 3, None)) == date(1000, 3, 1)
    assert book.match(date(1500, 4, 1)) is None


def test_equations_are_checked_up_to_a_bound() -> None:
    assert len(equations("1+1=2. " * (MOST_EQUATIONS + 50))) == MOST_EQUATIONS
    assert len(equations("1+1=2. 1+1=2. 1+1=2.", 2)) == 2
    assert equations("1+1=2", 0) == []


def test_no_character_is_written_out_in_a_phrase() -> None:
    assert max(len(fold(chr(code))) for code in range(0x20, 0x30000) if not 0xD800 <= code < 0xE000) <= 6
