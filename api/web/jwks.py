"""/.well-known/jwks.json: the public keys of receipts (RFC 7517). Made here, since the server knows its keys and the
build does not."""

import hashlib

import orjson

from api.core.receipts.issuer import Issuer
from api.core.receipts.keys import JWKS_PATH
from api.web.static import Asset, Variant

_HEADERS = {
    "Content-Type": "application/jwk-set+json",
    # Short, so that a new key is known soon after it signs. A key is listed ahead of that all the same.
    "Cache-Control": "public, max-age=300",
    "Access-Control-Allow-Origin": "*",
}


def jwks(issuer: Issuer) -> dict[str, Asset]:
    """The one path and what it answers."""
    body = orjson.dumps(issuer.jwks())
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    return {JWKS_PATH: Asset({"identity": Variant(body, etag)}, _HEADERS, None, False)}
