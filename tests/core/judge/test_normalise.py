import pytest

from api.core.judge.normalise import fold, squeeze, stands_in


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Crew", "crew"),
        ("Café", "cafe"),
        ("Straße", "strasse"),
        ("don’t", "don't"),
        ("４２", "42"),
        ("ﬁre", "fire"),
        ("Łódź", "lodz"),
        ("كِتَاب", "كتاب"),
        ("किताब", "किताब"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert fold(folded) == folded


def test_squeeze_leaves_one_blank_and_none_at_the_ends() -> None:
    assert squeeze("  The \t crew\n\nsize ") == "the crew size"


@pytest.mark.parametrize(
    ("phrase", "text", "stands"),
    [
        ("crew", "the crew size", True),
        ("crew", "the crews", False),
        ("rew", "the crew", False),
        ("4", "size 4.", True),
        ("4", "size 4.5", False),
        ("4", "size 1,400", False),
        ("4", "4% of", False),
        ("400", "1,400 people", False),
        ("was 4.", "it was 4.5 m", False),
        ("5", "$5", False),
        ("組員", "乗組員は", True),
    ],
)
def test_stands_in_respects_words_and_whole_numbers(phrase: str, text: str, stands: bool) -> None:
    assert stands_in(phrase, text) is stands
