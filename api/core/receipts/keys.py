"""Pure. Ed25519 keys: PEM in, JSON Web Keys out (RFC 8037), named by their thumbprints (RFC 7638)."""

import hashlib
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from api.core.receipts.canonical import canonical

JWKS_PATH = "/.well-known/jwks.json"
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
_ALGORITHMS = ("EdDSA", "Ed25519")


class NoKey(ValueError):
    """The text is no such key. The message says what is wanted, and repeats nothing of the text."""


def b64url(data: bytes) -> str:
    """Base64url without padding (RFC 7515 section 2)."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64url(text: str) -> bytes:
    """The bytes of canonical base64url. Raises ValueError for padding, other characters and stray bits at the end."""
    data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    if b64url(data) != text:
        raise ValueError("not canonical base64url")
    return data


def new_private_pem() -> str:
    """A new private key in PKCS#8, unencrypted."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def private_key(pem: str) -> Ed25519PrivateKey:
    """The private key of one PEM block. Raises NoKey."""
    try:
        key = serialization.load_pem_private_key(pem.encode(), password=None)
    except TypeError:
        raise NoKey("a private key without a password") from None
    except (ValueError, UnsupportedAlgorithm):
        raise NoKey("an Ed25519 private key in PEM (PKCS#8)") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise NoKey("an Ed25519 private key, not one of another algorithm")
    return key


def public_keys(pems: str) -> list[Ed25519PublicKey]:
    """The public keys of one or more PEM blocks. Raises NoKey for anything else beside them."""
    if _BLOCK.sub("", pems).strip():
        raise NoKey("PEM blocks and nothing beside them")
    return [_public_key(block[0], block[1]) for block in _BLOCK.finditer(pems)]


def _public_key(block: str, kind: str) -> Ed25519PublicKey:
    if "PRIVATE" in kind:
        raise NoKey("public keys; a private one does not belong there")
    try:
        key = serialization.load_pem_public_key(block.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise NoKey("Ed25519 public keys in PEM (SubjectPublicKeyInfo)") from None
    if not isinstance(key, Ed25519PublicKey):
        raise NoKey("Ed25519 public keys, not ones of another algorithm")
    return key


def public_pem(key: Ed25519PublicKey) -> str:
    """The key in SubjectPublicKeyInfo."""
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def thumbprint(key: Ed25519PublicKey) -> str:
    """The key's name: base64url of the SHA-256 of its required members (RFC 7638, RFC 8037 appendix A.3)."""
    return b64url(hashlib.sha256(canonical({"crv": "Ed25519", "kty": "OKP", "x": _x(key)})).digest())


def jwk(key: Ed25519PublicKey) -> dict[str, str]:
    """The key as a JSON Web Key."""
    return {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": _x(key),
        "kid": thumbprint(key),
        "use": "sig",
        "alg": "EdDSA",
    }


def jwks(keys: Iterable[Ed25519PublicKey]) -> dict[str, list[dict[str, str]]]:
    """A JSON Web Key Set, each key once, in the order given."""
    return {"keys": list({entry["kid"]: entry for entry in map(jwk, keys)}.values())}


def read_jwks(document: Any) -> Mapping[str, Ed25519PublicKey]:
    """The Ed25519 signing keys of a JSON Web Key Set, by their names. Others are passed over. Raises NoKey when it is
    none, or when a key does not bear its thumbprint."""
    if not isinstance(document, Mapping) or not isinstance(document.get("keys"), list):
        raise NoKey('a JSON Web Key Set: {"keys": [...]}')
    found: dict[str, Ed25519PublicKey] = {}
    for entry in document["keys"]:
        if not isinstance(entry, Mapping) or (entry.get("kty"), entry.get("crv")) != ("OKP", "Ed25519"):
            continue
        if entry.get("use", "sig") != "sig" or entry.get("alg", "EdDSA") not in _ALGORITHMS:
            continue
        try:
            key = Ed25519PublicKey.from_public_bytes(unb64url(entry["x"]))
        except (KeyError, ValueError, AttributeError):
            raise NoKey("a JSON Web Key Set whose Ed25519 keys have 32 bytes of base64url in x") from None
        if entry.get("kid", thumbprint(key)) != thumbprint(key):
            raise NoKey("a JSON Web Key Set whose kids are RFC 7638 thumbprints")
        found[thumbprint(key)] = key
    return found


def _x(key: Ed25519PublicKey) -> str:
    return b64url(key.public_bytes(Encoding.Raw, PublicFormat.Raw))
