import pytest

from api.core.judge.antonyms import OPPOSITES
from api.core.judge.stem import stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("launched", "launches"),
        ("size", "sizes"),
        ("cities", "city"),
        ("stopped", "stop"),
        ("quickly", "quick"),
        ("organisation", "organization"),
        ("organised", "organize"),
        ("children", "child"),
        ("built", "build"),
        ("author's", "author"),
        ("succeeded", "succeed"),
    ],
)
def test_forms_of_one_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("string", "strong"), ("spring", "sprung"), ("universe", "university")])
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", ["bus", "glass", "his", "4th", "乗組", "need"])
def test_what_has_no_ending_stays(word: str) -> None:
    assert stem(word) == word


def test_opposites_go_both_ways_and_name_no_word_its_own_opposite() -> None:
    assert stem("fell") in OPPOSITES[stem("rose")]
    assert stem("rose") in OPPOSITES[stem("fell")]
    for word, others in OPPOSITES.items():
        assert word not in others
        assert all(word in OPPOSITES[other] for other in others)
