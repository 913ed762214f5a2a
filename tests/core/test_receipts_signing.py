"""Receipts: other libraries verify them, and nothing that was changed is valid."""

import copy
import hashlib
import json
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jws
from joserfc.errors import SecurityWarning
from joserfc.jwk import KeySet

from api.core.receipts import keys
from api.core.receipts.canonical import canonical
from api.core.receipts.receipt import PaidBy, decimal
from api.core.receipts.signing import REASONS, refusal
from tests.examples import the_contract
from tests.receipts import OTHER_PEM, SIGNING_PEM, URL, Json, assert_receipt, issuer, kid_of, public_of

REQUEST = {"task": "Name the river.", "agent_output": "The Rhône.", "agent_id": "a", "version": "2"}
RESPONSE = {"verdict": "retry", "score": 0.45, "reasons": ["r"], "engine": "deterministic", "request_id": "req_1"}
PAYMENT = PaidBy("eip155:84532", "0xabc", "0xDeF", "10000", "0x036c")
SIGNED = issuer().with_receipt("judge", REQUEST, RESPONSE, 1_796_040_000.9, PAYMENT)
RECEIPT: Json = SIGNED["receipt"]


def reason(receipt: Any, url: str = URL) -> str | None:
    return issuer(url=url).refusal(receipt)


@pytest.mark.promise("receipts.content")
def test_what_a_receipt_says() -> None:
    assert_receipt(SIGNED, REQUEST)
    said = {name: value for name, value in RECEIPT.items() if not name.endswith("_hash") and name != "signatures"}
    assert said == {
        "receipt_version": 1,
        "issuer": URL,
        "issued_at": "2026-11-30T12:00:00Z",
        "request_id": "req_1",
        "endpoint": "judge",
        "engine": "deterministic",
        "result": {
            "verdict": "retry",
            "score": "0.45",
            "output_hash": "sha-256:" + hashlib.sha256("The Rhône.".encode()).hexdigest(),
        },
        "agent_id": "a",
        "version": "2",
        "payment": {
            "network": "eip155:84532",
            "transaction": "0xabc",
            "payer": "0xDeF",
            "amount": "10000",
            "asset": "0x036c",
        },
    }
    assert "Rhône" not in json.dumps(RECEIPT, ensure_ascii=False)
    assert "river" not in json.dumps(RECEIPT)


def test_a_receipt_fits_the_contract_and_has_no_floats() -> None:
    assert the_contract().body_schema("Receipt").faults(RECEIPT) == []

    def numbers(value: Any) -> list[Any]:
        if isinstance(value, dict | list):
            inner = value.values() if isinstance(value, dict) else value
            return [number for item in inner for number in numbers(item)]
        return [value] if isinstance(value, int | float) else []

    assert all(isinstance(number, int) for number in numbers(RECEIPT))


@pytest.mark.parametrize(
    ("number", "text"), [(0.91, "0.91"), (1.0, "1"), (1, "1"), (0.0, "0"), (0.5, "0.5"), (1e-7, "0.0000001")]
)
def test_a_score_is_its_shortest_decimal(number: float, text: str) -> None:
    assert decimal(number) == text


def token(receipt: Json) -> str:
    """The attached form of the same JWS, which every library reads."""
    content = {name: value for name, value in receipt.items() if name != "signatures"}
    (entry,) = receipt["signatures"]
    return f"{entry['protected']}.{keys.b64url(canonical(content))}.{entry['signature']}"


@pytest.mark.promise("receipts.offline")
def test_pyjwt_verifies_it_with_the_key_set() -> None:
    listed = jwt.PyJWKSet.from_dict(issuer(OTHER_PEM, public_of(SIGNING_PEM)).jwks())
    key = listed[jwt.get_unverified_header(token(RECEIPT))["kid"]]
    said = jwt.PyJWS().decode(token(RECEIPT), key, algorithms=["EdDSA"])
    assert json.loads(said)["result"]["verdict"] == "retry"
    forged = {**RECEIPT, "endpoint": "consensus"}
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.PyJWS().decode(token(forged), key, algorithms=["EdDSA"])


@pytest.mark.promise("receipts.offline")
def test_joserfc_verifies_it_with_the_key_set() -> None:
    listed = KeySet.import_key_set(issuer(OTHER_PEM, public_of(SIGNING_PEM)).jwks())  # type: ignore[arg-type]
    with pytest.warns(SecurityWarning, match="RFC 9864"):
        found = jws.deserialize_compact(token(RECEIPT), listed, algorithms=["EdDSA"])
    assert json.loads(found.payload)["request_id"] == "req_1"
    assert found.headers() == {"alg": "EdDSA", "kid": kid_of(SIGNING_PEM), "typ": "JOSE"}


def header(**changes: Any) -> str:
    whole = {"alg": "EdDSA", "kid": kid_of(SIGNING_PEM), "typ": "JOSE", **changes}
    return keys.b64url(json.dumps({name: value for name, value in whole.items() if value is not None}).encode())


def signed_with(pem: str, protected: str, content: Json | None = None) -> Json:
    """A receipt with any protected header, really signed over it."""
    content = content or {name: value for name, value in RECEIPT.items() if name != "signatures"}
    text = f"{protected}.{keys.b64url(canonical(content))}".encode()
    signature = keys.b64url(keys.private_key(pem).sign(text))
    return {**content, "signatures": [{"protected": protected, "signature": signature}]}


ENTRY = RECEIPT["signatures"][0]


def with_entry(**changes: Any) -> Json:
    return {**RECEIPT, "signatures": [{**ENTRY, **changes}]}


REFUSED: list[tuple[str, Any]] = [
    ("malformed", None),
    ("malformed", []),
    ("malformed", {}),
    ("malformed", {**RECEIPT, "signatures": ENTRY}),
    ("malformed", {**RECEIPT, "signatures": ["x"]}),
    ("malformed", with_entry(header={})),
    ("malformed", with_entry(signature=1)),
    ("malformed", {**RECEIPT, "more": "x" * 16_384}),
    ("malformed", {**RECEIPT, "more": 2**70}),
    ("signature_count", {**RECEIPT, "signatures": []}),
    ("signature_count", {**RECEIPT, "signatures": [ENTRY, ENTRY]}),
    ("not_base64url", with_entry(signature=ENTRY["signature"] + "==")),
    ("not_base64url", with_entry(signature=ENTRY["signature"][:-1] + "h")),
    ("not_base64url", with_entry(protected=ENTRY["protected"] + "\n")),
    ("not_base64url", with_entry(signature=ENTRY["signature"].replace("-", "+").replace("_", "/") + "+")),
    ("wrong_header", with_entry(protected=keys.b64url(b"{"))),
    ("wrong_header", with_entry(protected=keys.b64url(b"[]"))),
    ("wrong_header", with_entry(protected="")),
    ("wrong_header", signed_with(SIGNING_PEM, header(jku="https://evil.example/jwks.json"))),
    ("wrong_header", signed_with(OTHER_PEM, header(jwk={"kty": "OKP"}))),
    ("wrong_header", signed_with(SIGNING_PEM, header(crit=["exp"]))),
    ("wrong_header", signed_with(SIGNING_PEM, header(typ="JWT"))),
    ("wrong_header", signed_with(SIGNING_PEM, header(kid=None))),
    ("wrong_header", with_entry(protected=keys.b64url(b'{"alg":"none","alg":"EdDSA","kid":"k","typ":"JOSE"}'))),
    ("wrong_algorithm", with_entry(protected=header(alg="none"), signature="")),
    ("wrong_algorithm", signed_with(SIGNING_PEM, header(alg="HS256"))),
    ("wrong_algorithm", signed_with(SIGNING_PEM, header(alg=["EdDSA"]))),
    ("unknown_key", signed_with(OTHER_PEM, header(kid=kid_of(OTHER_PEM)))),
    ("unknown_key", signed_with(OTHER_PEM, header(kid=1))),
    ("unknown_key", signed_with(OTHER_PEM, header(kid=["x"]))),
    ("wrong_issuer", signed_with(SIGNING_PEM, header(), {**RECEIPT, "issuer": "https://evil.example"})),
    ("unsupported_version", signed_with(SIGNING_PEM, header(), {"issuer": URL, "receipt_version": 2})),
    ("wrong_signature", signed_with(OTHER_PEM, header())),
    ("wrong_signature", with_entry(signature="")),
    ("wrong_signature", with_entry(signature="AAAA")),
]


@pytest.mark.promise("receipts.verify")
@pytest.mark.parametrize(("expected", "receipt"), REFUSED)
def test_each_fault_has_its_reason(expected: str, receipt: Any) -> None:
    assert reason(receipt) == expected
    assert expected in REASONS


def test_every_reason_is_tested_and_documented() -> None:
    assert {expected for expected, _ in REFUSED} == set(REASONS)
    documented = the_contract().document["components"]["schemas"]["ReceiptCheck"]["properties"]["reason"]["enum"]
    assert documented == [*REASONS, None]


def test_the_newer_name_of_the_algorithm_is_taken() -> None:
    assert reason(signed_with(SIGNING_PEM, header(alg="Ed25519"))) is None


def test_a_receipt_of_another_issuer_is_refused_even_with_the_same_key() -> None:
    assert reason(RECEIPT, "https://other.example") == "wrong_issuer"


def test_without_keys_no_receipt_is_valid() -> None:
    assert refusal(RECEIPT, URL, {}) == "unknown_key"


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON value, the containers too."""
    inner = list(value.items()) if isinstance(value, dict) else []
    inner += list(enumerate(value)) if isinstance(value, list) else []
    return [place for key, item in inner for place in [(*path, key), *places(item, (*path, key))]]


@given(st.data())
def test_no_change_goes_unseen(data: st.DataObject) -> None:
    changed = copy.deepcopy(RECEIPT)
    *steps, last = data.draw(st.sampled_from(places(RECEIPT)))
    node: Any = changed
    for step in steps:
        node = node[step]
    before = node[last]
    kind = data.draw(st.sampled_from(["other", "removed", "one character", "added"]))
    if kind == "removed":
        del node[last]
    elif kind == "added" and isinstance(before, dict):
        before[data.draw(st.text(max_size=5))] = data.draw(st.none() | st.text(max_size=5))
    elif kind == "one character" and isinstance(before, str):
        at = data.draw(st.integers(0, len(before) - 1))
        node[last] = before[:at] + data.draw(st.characters(exclude_categories=["Cs"])) + before[at + 1 :]
    else:
        node[last] = data.draw(st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.none(), max_size=2))
    same = canonical_or_none(changed) == canonical(RECEIPT)
    assert (reason(changed) is None) == same


def canonical_or_none(value: Any) -> bytes | None:
    try:
        return canonical(value)
    except OverflowError:
        return None


@given(st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["signatures", "protected", "signature", "issuer"]), inner)))  # fmt: skip
def test_nothing_breaks_the_verifier(value: Any) -> None:
    assert reason(value) in REASONS
