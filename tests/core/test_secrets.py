"""Keys and ids: shape, checksum, and an even use of the random bytes."""

import os
import zlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.core.secrets import ALPHABET, LENGTH, checksum, looks_right, new_id, new_secret, secret_hash, shown_prefix


@pytest.mark.promise("keys.shape")
def test_a_key_is_its_prefix_36_random_characters_and_their_checksum() -> None:
    secret = new_secret(os.urandom)
    assert len(secret) == LENGTH == 46
    assert secret[:4] == "scr_"
    assert set(secret[4:]) <= set(ALPHABET)
    assert len(ALPHABET) == len(set(ALPHABET)) == 62
    value = zlib.crc32(secret[:40].encode())
    digits = [ALPHABET.index(character) for character in secret[40:]]
    assert sum(digit * 62**place for place, digit in enumerate(reversed(digits))) == value
    assert looks_right(secret)
    assert shown_prefix(secret) == secret[:12]


@pytest.mark.promise("keys.shape")
def test_the_checksum_by_hand() -> None:
    # crc32("scr_" + 36 zeros) in base 62, padded to six digits.
    head = "scr_" + "0" * 36
    value, expected = zlib.crc32(head.encode()), ""
    for place in range(5, -1, -1):
        expected += ALPHABET[value // 62**place % 62]
    assert checksum(head) == expected
    assert checksum("") == "000000"
    assert 62**6 > 2**32


@given(st.integers(4, LENGTH - 1), st.sampled_from(ALPHABET))
def test_every_single_typing_error_is_seen(place: int, character: str) -> None:
    secret = new_secret(lambda count: bytes(range(count)))
    typed = secret[:place] + character + secret[place + 1 :]
    assert looks_right(typed) == (typed == secret)


@pytest.mark.parametrize(
    "text", ["", "scr_", "scr_" + "0" * 42, "SCR_" + "0" * 42, "é" * 46, "scr_" + "é" * 42, "scr_" + "0" * 43]
)
def test_other_texts_are_no_keys(text: str) -> None:
    assert not looks_right(text)


def test_bytes_that_would_favour_some_characters_are_dropped() -> None:
    # Each byte once: 248 of them map to 62 characters four times each, the last eight are dropped.
    stock = bytes(range(256)) * 3

    def draw(count: int) -> bytes:
        nonlocal stock
        drawn, stock = stock[:count], stock[count:]
        return drawn

    ids = "".join(new_id("key", draw)[4:] for _ in range(12))
    assert set(Counter(ids)) <= set(ALPHABET)
    assert new_id("key", lambda count: bytes([255] * (count - 1) + [61]))[4:] == "z" * 16


def test_an_id_says_what_it_names() -> None:
    found = new_id("req", os.urandom)
    assert found[:4] == "req_"
    assert len(found) == 20


def test_the_hash_is_sha_256() -> None:
    assert secret_hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_secrets_do_not_repeat() -> None:
    assert len({new_secret(os.urandom) for _ in range(1_000)}) == 1_000
