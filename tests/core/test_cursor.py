"""Cursors: what was encoded comes back, and nothing else is taken for a cursor."""

from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.core.cursor import decode, encode

IDS = st.text(st.characters(codec="ascii", categories=("L", "N", "P")), max_size=40)


@given(st.integers(0, 2**62 - 1), IDS)
def test_a_position_comes_back(created_at: int, row_id: str) -> None:
    assert decode(encode(created_at, row_id)) == (created_at, row_id)


def test_a_cursor_can_stand_in_a_url_as_it_is() -> None:
    for n in range(300):
        assert encode(1_796_040_000 + n, f"ret_{'~?>' * (n % 5)}{n}").replace("-", "").replace("_", "").isalnum()


def raw(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


NO_CURSORS = {
    "nothing": "",
    "a word": "cursor",
    "one character": "x",
    "spaces": "   ",
    "other script": "größer",
    "no time": raw(b":ret_1"),
    "a word for a time": raw(b"now:ret_1"),
    "a fraction": raw(b"1.5:ret_1"),
    "before 1970": raw(b"-1:ret_1"),
    "beyond what a position starts from": raw(b"4611686018427387904:ret_1"),
    "beyond 64 bits": raw(b"9" * 40 + b":ret_1"),
    "a number of thousands of digits": raw(b"9" * 5_000 + b":ret_1"),
    "a NUL": raw(b"1:ret\x00"),
    "a line feed": raw(b"1:ret\n"),
    "invalid UTF-8": raw(b"1:\xff"),
    "a list": raw(b"[1, 2]"),
}


@pytest.mark.parametrize("name", NO_CURSORS)
def test_what_encode_did_not_make_is_no_cursor(name: str) -> None:
    assert decode(NO_CURSORS[name]) is None


@given(st.text(max_size=60))
def test_any_text_is_a_position_or_none_and_never_an_error(text: str) -> None:
    position = decode(text)
    assert position is None or position[0] >= 0
