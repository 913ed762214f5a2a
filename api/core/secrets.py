"""Pure. The shape of API keys and of ids; randomness comes in from outside.

A key is `scr_`, 36 random base62 characters (214 bits) and 6 base62 characters of the CRC-32 of all before them.
The checksum lets clients and secret scanners tell a typing error from a dead key without asking; it protects nothing.
"""

import hashlib
import hmac
import zlib
from collections.abc import Callable

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PREFIX = "scr_"
SHOWN = 12
_RANDOM, _CHECK = 36, 6
LENGTH = len(PREFIX) + _RANDOM + _CHECK

RandomBytes = Callable[[int], bytes]
"""Like `os.urandom`: that many unpredictable bytes."""


def new_secret(random_bytes: RandomBytes) -> str:
    """A new key."""
    head = PREFIX + _base62(random_bytes, _RANDOM)
    return head + checksum(head)


def new_id(kind: str, random_bytes: RandomBytes) -> str:
    """An opaque id such as `key_3mBqV7sXw2LrT9nC`: 16 random characters, 95 bits."""
    return f"{kind}_{_base62(random_bytes, 16)}"


def looks_right(secret: str) -> bool:
    """Whether `secret` has the shape and checksum of a key. Says nothing about whether it exists."""
    if len(secret) != LENGTH or not secret.startswith(PREFIX) or not secret.isascii():
        return False
    return hmac.compare_digest(checksum(secret[:-_CHECK]), secret[-_CHECK:])


def secret_hash(secret: str) -> str:
    """SHA-256 in hex: what is stored. A key has 214 random bits, so a slow hash would add nothing."""
    return hashlib.sha256(secret.encode()).hexdigest()


def shown_prefix(secret: str) -> str:
    """The part of a key that may be shown again and logged."""
    return secret[:SHOWN]


def checksum(head: str) -> str:
    """Six base62 digits, most significant first, of the CRC-32 of `head` (62**6 > 2**32)."""
    value = zlib.crc32(head.encode())
    digits = ""
    for _ in range(_CHECK):
        value, digit = divmod(value, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


# 248 is the largest multiple of 62 in a byte: dropping the bytes from there on keeps every character equally likely.
_DIGITS = bytes(ord(ALPHABET[byte % 62]) for byte in range(256))
_DROPPED = bytes(range(248, 256))


def _base62(random_bytes: RandomBytes, length: int) -> str:
    out = b""
    while len(out) < length:
        out += random_bytes(length - len(out) + 4).translate(_DIGITS, _DROPPED)
    return out[:length].decode()
