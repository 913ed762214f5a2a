"""Keys of test servers that sign receipts, and what tests ask of a receipt."""

from typing import Any

from api.core.receipts import keys
from api.core.receipts.canonical import digest
from api.core.receipts.issuer import Issuer
from tests.live import Answer, Live

URL = "https://screwtape.ai"
SIGNING_PEM, OTHER_PEM = keys.new_private_pem(), keys.new_private_pem()

Json = dict[str, Any]


def public_of(pem: str) -> str:
    """The public key of a private one, both in PEM."""
    return keys.public_pem(keys.private_key(pem).public_key())


def kid_of(pem: str) -> str:
    """The name of a private key."""
    return keys.thumbprint(keys.private_key(pem).public_key())


def issuer(signing: str = SIGNING_PEM, retired: str = "", url: str = URL) -> Issuer:
    """An issuer without a server."""
    return Issuer.of(url, signing, retired)


def without_receipt(response: Json) -> Json:
    """What the receipt of a response is about."""
    return {name: value for name, value in response.items() if name != "receipt"}


def assert_receipt(response: Json, request: Any, pem: str = SIGNING_PEM) -> Json:
    """The receipt of a response to `request`; fails unless it is signed with `pem` and about both."""
    receipt: Json = response["receipt"]
    assert issuer(pem).refusal(receipt) is None
    assert receipt["request_hash"] == digest(request)
    assert receipt["response_hash"] == digest(without_receipt(response))
    assert receipt["request_id"] == response["request_id"]
    return receipt


def verified(live: Live, receipt: Any) -> Answer:
    """What the server says of a receipt."""
    return live.request("POST", "/v1/receipts/verify", {"receipt": receipt})
