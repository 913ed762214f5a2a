"""Keys: the RFCs' own example, what a PEM must be, and key sets."""

import re

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption
from cryptography.hazmat.primitives.serialization import PrivateFormat as Private
from cryptography.hazmat.primitives.serialization import PublicFormat as Public

from api.core.receipts import keys
from api.core.receipts.keys import NoKey
from tests.receipts import OTHER_PEM, SIGNING_PEM, kid_of, public_of

EXAMPLE = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
EXAMPLE_KID = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
"""RFC 8037 appendices A.2 and A.3."""


@pytest.mark.promise("receipts.keys")
def test_the_thumbprint_of_the_rfc() -> None:
    (found,) = keys.read_jwks({"keys": [EXAMPLE]}).values()
    assert keys.thumbprint(found) == EXAMPLE_KID
    assert keys.jwk(found) == {**EXAMPLE, "kid": EXAMPLE_KID, "use": "sig", "alg": "EdDSA"}


def test_several_public_keys_stand_one_after_the_other() -> None:
    both = public_of(SIGNING_PEM) + "\n" + public_of(OTHER_PEM)
    assert [keys.thumbprint(key) for key in keys.public_keys(both)] == [kid_of(SIGNING_PEM), kid_of(OTHER_PEM)]
    assert keys.public_keys("") == []


def test_a_key_is_listed_once() -> None:
    found = keys.public_keys(public_of(SIGNING_PEM) * 2)
    assert len(keys.jwks(found)["keys"]) == 1


_OTHERS = (ec.generate_private_key(ec.SECP256R1()), ed448.Ed448PrivateKey.generate())
_RSA = rsa.generate_private_key(65537, 2048)


@pytest.mark.parametrize(
    ("pem", "wanted"),
    [
        ("no key at all", "an Ed25519 private key in PEM"),
        (public_of(SIGNING_PEM), "an Ed25519 private key in PEM"),
        (SIGNING_PEM.replace("MC4C", "MC5C"), "an Ed25519 private key in PEM"),
        *((key.private_bytes(Encoding.PEM, Private.PKCS8, NoEncryption()).decode(), "another alg") for key in _OTHERS),
        (_RSA.private_bytes(Encoding.PEM, Private.TraditionalOpenSSL, NoEncryption()).decode(), "another algorithm"),
        (
            keys.private_key(SIGNING_PEM)
            .private_bytes(Encoding.PEM, Private.PKCS8, BestAvailableEncryption(b"x"))
            .decode(),
            "without a password",
        ),
    ],
)
def test_a_signing_key_is_ed25519(pem: str, wanted: str) -> None:
    with pytest.raises(NoKey, match=re.escape(wanted)) as fault:
        keys.private_key(pem)
    assert re.sub("-----.*?-----", "", pem).strip() not in str(fault.value)


@pytest.mark.parametrize(
    ("pems", "wanted"),
    [
        (SIGNING_PEM, "a private one does not belong there"),
        (public_of(SIGNING_PEM) + "and more", "nothing beside them"),
        (public_of(SIGNING_PEM).replace("MCow", "MCox"), "Ed25519 public keys in PEM"),
        (
            _OTHERS[0].public_key().public_bytes(Encoding.PEM, Public.SubjectPublicKeyInfo).decode(),
            "not ones of another algorithm",
        ),
    ],
)
def test_listed_keys_are_public_ed25519_keys(pems: str, wanted: str) -> None:
    with pytest.raises(NoKey, match=re.escape(wanted)):
        keys.public_keys(pems)


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"keys": {}},
        {"keys": [{**EXAMPLE, "x": "AAAA"}]},
        {"keys": [{**EXAMPLE, "x": EXAMPLE["x"] + "="}]},
        {"keys": [{**EXAMPLE, "x": 1}]},
        {"keys": [{**EXAMPLE, "kid": "mine"}]},
    ],
)
def test_a_broken_key_set_is_refused(document: object) -> None:
    with pytest.raises(NoKey):
        keys.read_jwks(document)


def test_other_keys_of_a_set_are_passed_over() -> None:
    others = [{"kty": "RSA", "n": "AQ", "e": "AQAB"}, {**EXAMPLE, "use": "enc"}, {**EXAMPLE, "alg": "ES256"}, "x"]
    assert keys.read_jwks({"keys": others}) == {}
    assert list(keys.read_jwks({"keys": [*others, {**EXAMPLE, "alg": "Ed25519"}]})) == [EXAMPLE_KID]


@pytest.mark.parametrize("text", ["AA==", "AB", "A", "A*", "AA A", "\u00e9", "AA\n"])
def test_base64url_has_one_form(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - binascii.Error and UnicodeEncodeError are both this
        keys.unb64url(text)
