"""The canonical form against RFC 8785's own examples and against the reference, and its two edges."""

import json
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from api.core.receipts.canonical import canonical, digest, text_digest

SORTING = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\U0001f600": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
}
"""RFC 8785 section 3.2.3."""


@pytest.mark.promise("receipts.canonical")
def test_the_example_of_the_rfc() -> None:
    text = r"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"""
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical(json.loads(text)).decode() == expected


def test_keys_are_sorted_by_their_utf_16_units() -> None:
    order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(SORTING))) == order


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (1.0, "1"), (1, "1"), (0.91, "0.91"), (1e21, "1e+21"), (1e20, "100000000000000000000"),
        (9.999999999999997e22, "9.999999999999997e+22"), (1e-6, "0.000001"), (1e-7, "1e-7"), (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"), (333333333.33333325, "333333333.33333325"),
        (-1424953923781206.25, "-1424953923781206.2"), (2**53 - 1, "9007199254740991"),
    ],
)  # fmt: skip
def test_numbers_as_in_appendix_b(number: float, text: str) -> None:
    assert canonical([number]).decode() == f"[{text}]"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2**53, "9007199254740992"),
        (2**53 + 1, "9007199254740992"),
        (2**63 - 1, "9223372036854776000"),
        (2**64 - 1, "18446744073709552000"),
        (-(2**63), "-9223372036854776000"),
    ],
)
def test_an_integer_beyond_doubles_is_the_nearest_double(number: int, text: str) -> None:
    """As ECMAScript reads it: JSON.stringify(JSON.parse("9223372036854775807")) gives these digits."""
    assert canonical({"n": [number, 0.5]}).decode() == f'{{"n":[{text},0.5]}}'


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(0, 1).map(lambda number: round(number, 4))
    | st.text(st.characters(exclude_categories=["Cs"]))
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
        | st.dictionaries(st.text(st.characters(max_codepoint=126)), inner)
    ),
)


@given(_VALUES)
@example({"a": 1e-4, "B": [0.0001, 99999e-9, 1e15, 1e16, 123456789012345.6, "\x7f\u2028\x00\b"]})
def test_it_is_what_the_reference_writes(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


def test_a_digest_names_its_algorithm() -> None:
    assert digest({"b": 1.0, "a": 2}) == digest({"a": 2.0, "b": 1})
    assert text_digest("abc") == "sha-256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest("abc") == text_digest('"abc"')
