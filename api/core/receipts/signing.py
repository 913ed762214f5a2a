"""Pure. Signs and verifies a JSON object with a detached JWS in its `signatures` (RFC 7515 appendix F, RFC 8037)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from api.core.receipts.canonical import canonical
from api.core.receipts.keys import b64url, thumbprint, unb64url
from api.core.receipts.receipt import VERSION
from api.core.strict_json import MalformedJson, parse

MAX_BYTES = 16_384
"""No receipt of ours is nearly as long. What is longer is not even hashed."""
_HEADER = {"alg", "kid", "typ"}
_ALGORITHMS = ("EdDSA", "Ed25519")
_SIGNATURE_BYTES = 64

REASONS: Mapping[str, str] = {
    "malformed": "It is no receipt: a member is missing or of another kind, or it is longer than 16 KiB.",
    "signature_count": "It must have exactly one signature.",
    "not_base64url": "The protected header or the signature is not canonical base64url without padding.",
    "wrong_header": "The protected header must hold alg, kid and typ (JOSE) and nothing else, such as jku or jwk.",
    "wrong_algorithm": "alg must be EdDSA or Ed25519.",
    "unknown_key": "The issuer lists no key of this kid.",
    "wrong_issuer": "It names another issuer than the one whose keys it is checked against.",
    "unsupported_version": "Its receipt_version is not one that this verifier knows.",
    "wrong_signature": "The signature does not fit: a field or the signature was changed after it was signed.",
}
"""Why a receipt is refused, by code, in the order of the checks."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key and the protected header that goes with it."""

    key: Ed25519PrivateKey = field(repr=False)
    protected: str

    @classmethod
    def of(cls, key: Ed25519PrivateKey) -> "Signer":
        """The signer with `key`."""
        header = {"alg": "EdDSA", "kid": thumbprint(key.public_key()), "typ": "JOSE"}
        return cls(key, b64url(canonical(header)))

    def sign(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """`content` with its signature. It must not hold `signatures` yet."""
        signature = self.key.sign(_signed_text(self.protected, content))
        return {**content, "signatures": [{"protected": self.protected, "signature": b64url(signature)}]}


def refusal(receipt: Any, issuer: str, keys: Mapping[str, Ed25519PublicKey]) -> str | None:
    """Why `receipt` is not a valid one of `issuer`, whose public keys are `keys` by kid: a code of REASONS. None when
    it is valid. Nothing in the receipt decides where keys come from."""
    if not isinstance(receipt, dict) or not _is_short(receipt):
        return "malformed"
    signatures = receipt.get("signatures")
    if not isinstance(signatures, list):
        return "malformed"
    if len(signatures) != 1:
        return "signature_count"
    entry = signatures[0]
    if not isinstance(entry, dict) or entry.keys() != {"protected", "signature"}:
        return "malformed"
    return _refusal_of_signature(receipt, entry["protected"], entry["signature"], issuer, keys)


def _refusal_of_signature(
    receipt: dict[str, Any], protected: Any, signature: Any, issuer: str, keys: Mapping[str, Ed25519PublicKey]
) -> str | None:
    if not isinstance(protected, str) or not isinstance(signature, str):
        return "malformed"
    try:
        header_text, raw = unb64url(protected), unb64url(signature)
    except ValueError:
        return "not_base64url"
    try:
        header = parse(header_text)
    except MalformedJson:
        return "wrong_header"
    if not isinstance(header, dict) or header.keys() != _HEADER or header["typ"] != "JOSE":
        return "wrong_header"
    if header["alg"] not in _ALGORITHMS:
        return "wrong_algorithm"
    if not isinstance(header["kid"], str) or header["kid"] not in keys:
        return "unknown_key"
    if receipt.get("issuer") != issuer:
        return "wrong_issuer"
    if receipt.get("receipt_version") != VERSION:
        return "unsupported_version"
    content = {name: value for name, value in receipt.items() if name != "signatures"}
    if len(raw) != _SIGNATURE_BYTES or not _fits(keys[header["kid"]], raw, _signed_text(protected, content)):
        return "wrong_signature"
    return None


def _is_short(receipt: dict[str, Any]) -> bool:
    try:
        return len(orjson.dumps(receipt)) <= MAX_BYTES
    except orjson.JSONEncodeError:
        return False


def _signed_text(protected: str, content: Mapping[str, Any]) -> bytes:
    return f"{protected}.{b64url(canonical(content))}".encode("ascii")


def _fits(key: Ed25519PublicKey, signature: bytes, text: bytes) -> bool:
    try:
        key.verify(signature, text)
    except InvalidSignature:
        return False
    return True
