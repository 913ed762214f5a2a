"""What a facilitator's replies mean: settled only when all of it checks, and never more said than is known."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.core.x402 import replies
from api.core.x402.replies import Failed, Refused, Settled, Unavailable, Unknown, Verified

NETWORK = "eip155:8453"
PAYER = "0x" + "aB" * 20
HASH, OTHER_HASH = "0x" + "1a" * 32, "0x" + "2b" * 32
USED = "invalid_exact_evm_nonce_already_used"


def body(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def settled(**changes: Any) -> bytes:
    return body(**{"success": True, "transaction": HASH, "network": NETWORK, "payer": PAYER, **changes})


def failed(reason: Any, **changes: Any) -> bytes:
    whole = {"success": False, "errorReason": reason, "transaction": "", "network": NETWORK, "payer": PAYER}
    return body(**{**whole, **changes})


NOTHING_SAID = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"true",
    b'"ok"',
    b"<html></html>",
    b'{"success": true, "isValid": true',
    b"\xff",
]


@pytest.mark.promise("x402.settlement_check")
def test_a_settlement_that_checks_is_one() -> None:
    assert replies.settlement(200, settled(), NETWORK, PAYER) == Settled(HASH)
    assert replies.settlement(200, settled(payer=PAYER.lower(), more="x"), NETWORK, PAYER) == Settled(HASH)


@pytest.mark.promise("x402.settlement_check")
@pytest.mark.parametrize(
    "changes",
    [
        {"success": "true"},
        {"success": 1},
        {"success": None},
        {"network": "eip155:1"},
        {"network": None},
        {"transaction": ""},
        {"transaction": None},
        {"transaction": HASH[:-1]},
        {"transaction": HASH + "0"},
        {"transaction": HASH.upper()},
        {"transaction": HASH[2:] + "00"},
        {"transaction": HASH + "\n"},
        {"transaction": 7},
        {"payer": "0x" + "9" * 40},
        {"payer": ""},
        {"payer": None},
    ],
    ids=str,
)
def test_a_success_that_does_not_check_is_unknown(changes: dict[str, Any]) -> None:
    assert isinstance(replies.settlement(200, settled(**changes), NETWORK, PAYER), Unknown)


@pytest.mark.promise("x402.outcomes")
@pytest.mark.parametrize("status", [201, 204, 301, 308, 400, 401, 404, 429, 500, 502, 503])
def test_a_success_with_another_status_is_unknown(status: int) -> None:
    assert isinstance(replies.settlement(status, settled(), NETWORK, PAYER), Unknown)


@pytest.mark.promise("x402.outcomes")
@pytest.mark.parametrize("said", NOTHING_SAID, ids=str)
@pytest.mark.parametrize("status", [200, 400, 500])
def test_what_is_no_object_says_nothing(said: bytes, status: int) -> None:
    assert isinstance(replies.settlement(status, said, NETWORK, PAYER), Unknown)
    assert isinstance(replies.verification(status, said, PAYER), Unavailable)
    assert not replies.supports(status, said, "exact", NETWORK)


@pytest.mark.promise("x402.outcomes")
@pytest.mark.parametrize(
    "reason", ["settlement_pending", "unexpected_settle_error", "receipt_timeout", "wait_timed_out"]
)
def test_what_is_waited_for_is_unknown_and_its_transaction_is_kept(reason: str) -> None:
    found = replies.settlement(200, failed(reason, transaction=HASH), NETWORK, PAYER)
    assert isinstance(found, Unknown)
    assert found.transaction == HASH
    again = replies.settlement(200, failed(reason), NETWORK, PAYER, again=True, expected=HASH)
    assert isinstance(again, Unknown)
    assert again.transaction == HASH


@pytest.mark.parametrize("status", [200, 400, 402])
@pytest.mark.parametrize("reason", ["insufficient_funds", "transaction_failed", USED])
def test_a_first_settlement_that_failed_has_failed(status: int, reason: str) -> None:
    assert replies.settlement(status, failed(reason), NETWORK, PAYER) == Failed(reason)
    assert replies.settlement(status, failed(reason, payer=None, network=""), NETWORK, PAYER) == Failed(reason)


@pytest.mark.parametrize("status", [500, 503])
def test_a_failure_of_the_server_itself_says_nothing(status: int) -> None:
    assert isinstance(replies.settlement(status, failed("insufficient_funds"), NETWORK, PAYER), Unknown)


@pytest.mark.parametrize(
    "said",
    [
        failed(""),
        failed(None),
        failed(7),
        failed("insufficient_funds", payer="0x" + "9" * 40),
        failed("insufficient_funds", network="eip155:1"),
        body(success=False),
        body(error="x"),
        body(),
    ],
    ids=str,
)
def test_a_failure_that_is_not_ours_or_not_whole_is_unknown(said: bytes) -> None:
    assert isinstance(replies.settlement(200, said, NETWORK, PAYER), Unknown)


LATER: list[tuple[str, str, str, type[object]]] = [
    ("insufficient_funds", "", "", Failed),
    ("invalid_exact_evm_payload_signature", "", "", Failed),
    (USED, "", "", Unknown),
    (USED, "", HASH, Unknown),
    ("invalid_exact_evm_payload_authorization_valid_before", "", "", Unknown),
    ("transaction_failed", "", "", Unknown),
    ("transaction_failed", OTHER_HASH, "", Unknown),
    ("transaction_failed", OTHER_HASH, HASH, Unknown),
    ("transaction_failed", HASH, HASH, Failed),
    ("invalid_transaction_state", HASH, HASH, Failed),
    ("something_else", "", "", Unknown),
]


@pytest.mark.promise("x402.outcomes")
@pytest.mark.parametrize(("reason", "named", "expected", "outcome"), LATER)
def test_after_an_unknown_outcome_only_proof_makes_a_failure(
    reason: str, named: str, expected: str, outcome: type[object]
) -> None:
    """A nonce that is used by then, an authorization that has expired, a second transaction that was turned down: all
    are what it looks like when the first settlement went through."""
    said = failed(reason, transaction=named)
    found = replies.settlement(200, said, NETWORK, PAYER, again=True, expected=expected)
    assert isinstance(found, outcome)
    if isinstance(found, Unknown):
        assert found.transaction == expected


def test_a_later_success_settles() -> None:
    assert replies.settlement(200, settled(), NETWORK, PAYER, again=True, expected=OTHER_HASH) == Settled(HASH)


def test_a_good_verification_is_one() -> None:
    assert replies.verification(200, body(isValid=True, payer=PAYER.lower()), PAYER) == Verified()
    assert replies.verification(200, body(isValid=True), PAYER) == Verified()


@pytest.mark.parametrize("status", [200, 400, 402])
def test_a_refused_payment_has_its_reason(status: int) -> None:
    said = body(isValid=False, invalidReason="insufficient_funds", invalidMessage="secret", payer=PAYER)
    assert replies.verification(status, said, PAYER) == Refused("insufficient_funds")


@pytest.mark.parametrize("reason", ["a new reason, with leaked text", "", None, 7, ["insufficient_funds"]])
def test_reasons_are_open_strings_and_only_listed_ones_are_passed_on(reason: Any) -> None:
    said = body(isValid=False, invalidReason=reason)
    assert replies.verification(200, said, PAYER) == Refused("unexpected_verify_error")


@pytest.mark.promise("x402.unavailable")
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, body(isValid=True)),
        (503, body(isValid=False, invalidReason="insufficient_funds")),
        (400, body(isValid=True)),
        (201, body(isValid=True)),
        (308, body(isValid=True)),
        (200, body(isValid="true")),
        (200, body(isValid=1)),
        (200, body(success=True)),
        (200, body(isValid=True, payer="0x" + "9" * 40)),
        (200, body(isValid=False, invalidReason="invalid_network")),
        (200, body(isValid=False, invalidReason="unsupported_scheme")),
        (200, body(isValid=False, invalidReason="unexpected_verify_error")),
    ],
    ids=str,
)
def test_a_facilitator_that_cannot_say_is_not_the_payers_fault(status: int, said: bytes) -> None:
    assert isinstance(replies.verification(status, said, PAYER), Unavailable)


KINDS: list[tuple[list[Any], bool]] = [
    ([{"x402Version": 2, "scheme": "exact", "network": NETWORK}], True),
    (
        [
            {"x402Version": 2, "scheme": "upto", "network": NETWORK},
            {"x402Version": 2, "scheme": "exact", "network": NETWORK},
        ],
        True,
    ),
    ([{"x402Version": 1, "scheme": "exact", "network": NETWORK}], False),
    ([{"x402Version": 2, "scheme": "exact", "network": "eip155:84532"}], False),
    ([{"x402Version": 2, "scheme": "upto", "network": NETWORK}], False),
    ([], False),
    (["exact"], False),
    ([None], False),
]


@pytest.mark.promise("x402.unavailable")
@pytest.mark.parametrize(("kinds", "supported"), KINDS)
def test_support_is_read_from_the_list(kinds: list[Any], supported: bool) -> None:
    assert replies.supports(200, body(kinds=kinds), "exact", NETWORK) is supported
    assert not replies.supports(500, body(kinds=kinds), "exact", NETWORK)
    assert not replies.supports(200, body(kinds={"0": kinds}), "exact", NETWORK)


REPLY = st.dictionaries(
    st.sampled_from(["success", "isValid", "transaction", "network", "payer", "errorReason", "invalidReason"]),
    st.sampled_from([True, False, None, 1, "", HASH, NETWORK, PAYER, "insufficient_funds", "leaked text", "pending"]),
)


@given(st.integers(100, 599), REPLY)
def test_nothing_but_listed_reasons_and_checked_hashes_comes_out(status: int, reply: dict[str, Any]) -> None:
    said = json.dumps(reply).encode()
    for again in (False, True):
        outcome = replies.settlement(status, said, NETWORK, PAYER, again=again)
        if isinstance(outcome, Settled):
            assert (status, reply["success"], reply["network"]) == (200, True, NETWORK)
            assert outcome.transaction == reply["transaction"] == HASH
        if isinstance(outcome, Failed):
            assert outcome.reason in replies.REASONS
    found = replies.verification(status, said, PAYER)
    if isinstance(found, Verified):
        assert (status, reply["isValid"]) == (200, True)
    if isinstance(found, Refused):
        assert found.reason in replies.REASONS


def test_the_responses_are_the_protocols() -> None:
    assert replies.receipt(PAYER, NETWORK, HASH) == {
        "success": True,
        "payer": PAYER,
        "transaction": HASH,
        "network": NETWORK,
    }
    assert replies.failure(PAYER, NETWORK, "insufficient_funds") == {
        "success": False,
        "errorReason": "insufficient_funds",
        "transaction": "",
        "network": NETWORK,
        "payer": PAYER,
    }
