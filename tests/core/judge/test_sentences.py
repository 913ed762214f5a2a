import pytest

from api.core.judge.sentences import LONGEST, split_sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith met J. F. Kennedy. He left.", ["Dr. Smith met J. F. Kennedy.", "He left."]),
        ("It cost 4.5 dollars. Fine.", ["It cost 4.5 dollars.", "Fine."]),
        ('He said "No." Then left.', ['He said "No."', "Then left."]),
        ("see e.g. the text. And more.", ["see e.g. the text.", "And more."]),
        ("二は三。四は五。", ["二は三。", "四は五。"]),
        ("هل هذا؟ نعم.", ["هل هذا؟", "نعم."]),
        ("ends. lower case goes on.", ["ends. lower case goes on."]),
        ("- one\n- two", ["- one", "- two"]),
        ("1. First\n2. Second", ["1. First", "2. Second"]),
        ("# Head\nText", ["# Head", "Text"]),
        ("a\n\nb", ["a", "b"]),
        ("Facts:\nthe crew", ["Facts:", "the crew"]),
        ("Name: Ada\nRole: pilot", ["Name: Ada", "Role: pilot"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_boundaries(text: str, parts: list[str]) -> None:
    assert split(text) == parts


def test_a_wrapped_line_reads_like_an_unwrapped_one() -> None:
    assert split("The crew\nsize was\r\n4. It\nlanded.") == ["The crew\nsize was\r\n4.", "It\nlanded."]


def test_text_without_full_stops_is_cut_at_blanks() -> None:
    text = "word " * 2000
    parts = split(text)
    assert max(len(part) for part in parts) <= LONGEST
    assert " ".join(parts) == text.strip()


def test_one_endless_word_is_cut_too() -> None:
    assert [len(part) for part in split("a" * (2 * LONGEST + 5))] == [LONGEST, LONGEST, 5]
