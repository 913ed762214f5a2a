"""Weights: with N sentences, a stem in d of them weighs log(1 + (N + 1) / (d + 0.5))."""

import math

import pytest

from api.core.judge.align import align
from api.core.judge.index import POSTINGS_LIMIT, Evidence
from api.core.judge.parse import parse
from api.core.judge.respell import respelled

ITEMS = ["The red ship sailed north.", "The blue ship sank."]


def test_weight_of_a_stem() -> None:
    evidence = Evidence(ITEMS)
    assert evidence.weight("ship") == pytest.approx(math.log(1 + 3 / 2.5))
    assert evidence.weight("red") == pytest.approx(math.log(1 + 3 / 1.5))
    assert evidence.weight("moon") == pytest.approx(math.log(1 + 3 / 0.5))


def test_a_claim_that_is_wholly_there() -> None:
    alignment = align(parse("The red ship sailed."), Evidence(ITEMS))
    assert (alignment.best, alignment.cover, alignment.pairs, alignment.absent) == (1.0, 1.0, 1.0, [])
    assert alignment.sentence is not None
    assert alignment.sentence.text == ITEMS[0]


def test_shares_by_hand() -> None:
    alignment = align(parse("The red ship exploded."), Evidence(ITEMS))
    red, ship, explod = math.log(3), math.log(2.2), math.log(7)
    assert alignment.best == pytest.approx((red + ship) / (red + ship + explod))
    assert alignment.cover == alignment.best
    assert alignment.pairs == 0.5
    assert alignment.absent == ["explod"]


def test_two_sentences_cover_more_than_one() -> None:
    alignment = align(parse("The red ship sailed north and the blue ship sank."), Evidence(ITEMS))
    assert alignment.best < 1.0
    assert alignment.cover == 1.0
    assert [sentence.item for sentence in alignment.used] == [0, 1]


def test_of_equal_sentences_the_one_that_says_just_the_same_is_compared() -> None:
    evidence = Evidence(["The ship sailed north today.", "The ship did not sail.", "The ship sailed."])
    sentence = align(parse("The ship sailed."), evidence).sentence
    assert sentence is not None
    assert sentence.text == "The ship sailed."


def test_nothing_in_common() -> None:
    alignment = align(parse("Bananas ripen."), Evidence(ITEMS))
    assert (alignment.best, alignment.cover, alignment.pairs, alignment.used) == (0.0, 0.0, 0.0, [])


@pytest.mark.parametrize(
    ("claim", "evidence", "stems"),
    [
        ("translated texts", "The translation of a text.", ["translat", "text"]),
        ("about 980 trees", "There were 1,000 trees.", ["#1000", "tre"]),
        ("5 km of wall", "A wall of 5000 metres.", ["#5000", "meter", "wall"]),
        ("on 03/01/2024", "On 2024-03-01.", ["#2024", "@3", "#1"]),
        ("a moon", "A ship.", ["moon"]),
    ],
)
def test_respelled_in_the_words_of_the_evidence(claim: str, evidence: str, stems: list[str]) -> None:
    index = Evidence([evidence])
    found = respelled(parse(claim), index)
    assert found == stems
    assert len(found) == len(parse(claim).content)


def test_a_stem_that_stands_everywhere_brings_up_a_bounded_number_of_sentences() -> None:
    items = [f"Ship number{at} sailed." for at in range(POSTINGS_LIMIT + 50)]
    one, other = Evidence(items), Evidence(items[::-1])
    assert len(one.postings["ship"]) == POSTINGS_LIMIT
    assert {one.sentences[at].text for at in one.postings["ship"]} == {
        other.sentences[at].text for at in other.postings["ship"]
    }
    assert one.weight("ship") == pytest.approx(math.log(1 + (POSTINGS_LIMIT + 51) / (POSTINGS_LIMIT + 50.5)))


def test_common_stems_do_not_hide_the_sentence_that_says_it() -> None:
    items = [f"Ship number {at} sailed." for at in range(3 * POSTINGS_LIMIT)]
    for order in (items, items[::-1]):
        alignment = align(parse(items[-1]), Evidence(order))
        assert (alignment.best, alignment.cover) == (1.0, 1.0)
        assert alignment.sentence is not None
        assert alignment.sentence.text == items[-1]
    words = ["Ship sailed." if at else "Ship never sailed." for at in range(3 * POSTINGS_LIMIT)]
    negated = align(parse("Ship never sailed."), Evidence(words[::-1])).sentence
    assert negated is not None
    assert negated.text == "Ship never sailed."
