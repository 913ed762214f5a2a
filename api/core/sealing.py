"""Pure. Seals short secrets for storage with AES-256-GCM under a key derived from SECRET_KEY (HKDF, RFC 5869)."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from api.core.secrets import RandomBytes

_NONCE = 12


class NotSealed(ValueError):
    """The text was not sealed under this key for this purpose, or was changed."""


def seal(secret_key: bytes, purpose: str, text: str, random_bytes: RandomBytes) -> str:
    """`text`, readable only with the same key and purpose. A fresh nonce makes every result different."""
    nonce = random_bytes(_NONCE)
    return urlsafe_b64encode(nonce + _cipher(secret_key, purpose).encrypt(nonce, text.encode(), None)).decode()


def unseal(secret_key: bytes, purpose: str, sealed: str) -> str:
    """What was sealed. Raises NotSealed."""
    try:
        raw = urlsafe_b64decode(sealed)
        return _cipher(secret_key, purpose).decrypt(raw[:_NONCE], raw[_NONCE:], None).decode()
    except (InvalidTag, ValueError) as error:
        raise NotSealed("not sealed under this SECRET_KEY") from error


def _cipher(secret_key: bytes, purpose: str) -> AESGCM:
    return AESGCM(HKDF(SHA256(), 32, salt=None, info=purpose.encode()).derive(secret_key))
