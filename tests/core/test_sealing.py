"""Sealed secrets: readable with the same key for the same purpose, and with nothing else."""

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.core.sealing import NotSealed, seal, unseal

KEY, PURPOSE = b"a secret key of this test", "webhook-secret"


def zeros(size: int) -> bytes:
    return bytes(size)


@given(st.text(max_size=300))
def test_what_was_sealed_comes_back(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    assert unseal(KEY, PURPOSE, seal(KEY, PURPOSE, text, os.urandom)) == text


def test_the_sealed_text_shows_nothing_of_the_secret() -> None:
    sealed = seal(KEY, PURPOSE, "whsec_marker", os.urandom)
    assert sealed.isascii()
    assert b"marker" not in urlsafe_b64decode(sealed)


def test_the_same_secret_looks_different_each_time() -> None:
    assert len({seal(KEY, PURPOSE, "same", os.urandom) for _ in range(50)}) == 50


def test_each_sealing_asks_for_a_nonce_of_96_bits() -> None:
    asked: list[int] = []

    def recording(size: int) -> bytes:
        asked.append(size)
        return bytes(size)

    seal(KEY, PURPOSE, "a", recording)
    seal(KEY, PURPOSE, "b", recording)
    assert asked == [12, 12]


def test_every_flipped_bit_is_noticed() -> None:
    raw = urlsafe_b64decode(seal(KEY, PURPOSE, "secret", zeros))
    for place, bit in zip(range(len(raw)), (n % 8 for n in count()), strict=False):
        changed = bytearray(raw)
        changed[place] ^= 1 << bit
        with pytest.raises(NotSealed):
            unseal(KEY, PURPOSE, urlsafe_b64encode(changed).decode())


def test_every_shortening_is_noticed() -> None:
    raw = urlsafe_b64decode(seal(KEY, PURPOSE, "secret", zeros))
    for length in range(len(raw)):
        with pytest.raises(NotSealed):
            unseal(KEY, PURPOSE, urlsafe_b64encode(raw[:length]).decode())


@pytest.mark.parametrize("key", [b"another key", KEY + b" ", KEY[:-1]])
def test_another_key_reads_nothing(key: bytes) -> None:
    with pytest.raises(NotSealed):
        unseal(key, PURPOSE, seal(KEY, PURPOSE, "secret", zeros))


@pytest.mark.parametrize("purpose", ["", "webhook", "Webhook-secret", "webhook-secret "])
def test_another_purpose_reads_nothing(purpose: str) -> None:
    with pytest.raises(NotSealed):
        unseal(KEY, purpose, seal(KEY, PURPOSE, "secret", zeros))


@pytest.mark.parametrize("text", ["", "x", "whsec_plain", "größer", "====", "A" * 200])
def test_what_was_never_sealed_is_refused(text: str) -> None:
    with pytest.raises(NotSealed):
        unseal(KEY, PURPOSE, text)
