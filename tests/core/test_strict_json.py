"""Strict JSON: what is accepted equals what json.loads reads, and work is linear."""

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.core.strict_json import MAX_DEPTH, MalformedJson, parse
from tests.examples import ROOT

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
SCALARS = (
    st.none()
    | st.booleans()
    | TEXT
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5), max_leaves=30
)


@given(VALUES, st.booleans(), st.sampled_from([None, 0, 2]))
def test_whatever_json_writes_is_read_back(value: Any, ascii_only: bool, indent: int | None) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    assert parse(body) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        value = parse(body)
    except MalformedJson:
        return
    assert value == json.loads(body)


@given(st.text(alphabet='{}[]":,\\u0trfalsen19.eE-+ ', max_size=60))
def test_whatever_looks_like_json_is_read_or_refused(text: str) -> None:
    try:
        value = parse(text.encode())
    except MalformedJson:
        return
    assert value == json.loads(text)


@given(TEXT, VALUES, VALUES, st.integers(0, 20))
def test_a_duplicate_key_is_found_wherever_it_stands(key: str, first: Any, second: Any, depth: int) -> None:
    name = json.dumps(key)
    pair = f"{{{name}: {json.dumps(first)}, {name}: {json.dumps(second)}}}"
    body = "[" * depth + pair + "]" * depth
    with pytest.raises(MalformedJson, match="twice"):
        parse(body.encode())


@pytest.mark.parametrize("number", ["18446744073709551615", "-9223372036854775808", "0", "-1"])
def test_integers_of_64_bits_are_exact(number: str) -> None:
    assert parse(f"[{number}]".encode()) == [int(number)]


@pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "1" + "0" * 40])
def test_longer_integers_are_refused_and_not_rounded(number: str) -> None:
    with pytest.raises(MalformedJson, match="64 bits"):
        parse(f'{{"n": {number}}}'.encode())


@pytest.mark.parametrize(
    "number", ["0.12345678901234567890123", "12345678901234567890123.5", "123456789012345678901e2", "1.5e-7", "1E5"]
)
def test_a_number_with_a_fraction_or_an_exponent_is_no_integer(number: str) -> None:
    assert parse(f"[{number}]".encode()) == [float(number)]


def test_digits_in_strings_are_text() -> None:
    text = "1" * 400
    assert parse(f'["{text}", "\\"{text}", "\\\\"]'.encode()) == [text, f'"{text}', "\\"]


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_depth_is_counted_to_the_level(opening: str, closing: str) -> None:
    def nested(depth: int) -> bytes:
        return (opening * depth + "1" + closing * depth).encode()

    parse(nested(MAX_DEPTH))
    with pytest.raises(MalformedJson, match="65 levels"):
        parse(nested(MAX_DEPTH + 1))


def test_many_shallow_brackets_are_not_deep() -> None:
    assert len(parse(b"[" + b"[],{}," * 1_000 + b"[]]")) == 2_001


@pytest.mark.parametrize("depth", [65, 500, 1_000, 1_024, 5_000])
def test_a_deep_body_with_a_nul_is_refused_like_any_other(depth: int) -> None:
    with pytest.raises(MalformedJson):
        parse(b"[" * depth + b'"\\u0000"' + b"]" * depth)


HARD = {
    "a fraction of two million digits": "b'[0.' + b'1' * 2_000_000 + b'e0]'",
    "many long numbers": "b'[' + b','.join([b'1' * 308 + b'.5'] * 6_700) + b']'",
    "two million backslashes": "b'[\"' + b'\\\\' * 2_000_000 + b'\"]'",
    "two hundred thousand keys": "b'{' + b','.join(b'\"%d\":1' % n for n in range(200_000)) + b',\"1\":2}'",
    "a million empty lists": "b'[' + b'[],' * 600_000 + b'[]]'",
}


@pytest.mark.parametrize("name", HARD)
def test_the_largest_bodies_are_read_in_one_pass(name: str) -> None:
    """In a process of its own: a scan that starts again at each byte would hold this one for hours."""
    program = (
        "from api.core.strict_json import MalformedJson, parse\n"
        f"body = {HARD[name]}\n"
        "try:\n    parse(body)\nexcept MalformedJson:\n    pass\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=30, check=True)
