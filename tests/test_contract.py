"""The contract against the running server, both ways: what it documents is answered, what is answered it documents."""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.contract import Operation
from api.openapi import public_document
from api.store import deliveries
from tests.examples import example, the_contract
from tests.fakes.stripe import event, fake_stripe
from tests.live import Answer, Live, live_server
from tests.problem_checks import assert_problem, the_problems
from tests.web.billing import post_event
from tests.web.ledger import in_store

ADMIN_TOKEN = "operator-token-of-the-contract-tests"
OPERATIONS = list(the_contract().operations.values())
PUBLIC = [operation for operation in OPERATIONS if not operation.operator]
WITH_BODY = [operation for operation in OPERATIONS if operation.body is not None]
REST_WITH_BODY = [operation for operation in WITH_BODY if not operation.json_rpc]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("contract")
    with (
        fake_stripe() as fake,
        live_server(
            folder, dist=None, clock=None, SIGNUPS_PER_HOUR="1000", ADMIN_TOKEN=ADMIN_TOKEN, **fake.settings
        ) as live,
    ):
        live.new_key()
        yield live


def call(server: Live, operation_id: str, body: Any = None, *, key: str = "", **path: str) -> Answer:
    """Sends `body`, or the operation's example, as the caller that the operation wants."""
    operation = the_contract().operations[operation_id]
    body = example(operation_id) if body is None and operation.body is not None else body
    credential = {"none": None, "operator": ADMIN_TOKEN}.get(operation.auth, key or server.keys[0])
    return server.request(operation.method, operation.path.format(**path), body, key=credential)


def throw_away(server: Live) -> str:
    """A key that may be spoiled."""
    return server.new_key(f"throw-away-{len(server.keys)}@example.com")


def key_id(server: Live, key: str) -> str:
    return str(server.request("GET", "/v1/keys/me", key=key).json["id"])


def retained_row(server: Live) -> str:
    answer = call(server, "judge", {**example("judge"), "retain": True})
    return str(answer.json["retention"]["id"])


def delivery(server: Live) -> str:
    """An alert's, of a key with a webhook."""
    call(server, "update_settings")
    of_key, alert_id = key_id(server, server.keys[0]), f"alr_{len(server.keys)}"
    now = int(server.clock())
    in_store(server, lambda database: database.write(deliveries.enqueue, of_key, alert_id, "{}", now))
    return alert_id


SUCCESSES: dict[str, Callable[[Live], Answer]] = {
    "judge": lambda server: call(server, "judge"),
    "consensus": lambda server: call(server, "consensus"),
    "create_key": lambda server: call(server, "create_key", {"email": "contract@example.com", "name": "x"}),
    "get_key": lambda server: call(server, "get_key"),
    "rotate_key": lambda server: call(server, "rotate_key", key=throw_away(server)),
    "delete_key": lambda server: call(server, "delete_key", key=throw_away(server)),
    "list_retained": lambda server: (retained_row(server), call(server, "list_retained"))[1],
    "delete_retained": lambda server: call(server, "delete_retained", id=retained_row(server)),
    "get_settings": lambda server: call(server, "get_settings"),
    "update_settings": lambda server: call(server, "update_settings"),
    "checkout": lambda server: call(server, "checkout"),
    "get_drift": lambda server: call(server, "get_drift"),
    "list_alerts": lambda server: call(server, "list_alerts"),
    "billing_webhook": lambda server: post_event(server, event("customer.created", {})),
    "admin_list_orders": lambda server: (call(server, "checkout"), call(server, "admin_list_orders"))[1],
    "admin_list_keys": lambda server: call(server, "admin_list_keys"),
    "admin_revoke_key": lambda server: call(server, "admin_revoke_key", id=key_id(server, throw_away(server))),
    "admin_list_credits": lambda server: call(server, "admin_list_credits", id=key_id(server, server.keys[0])),
    "admin_add_credits": lambda server: call(server, "admin_add_credits", id=key_id(server, server.keys[0])),
    "admin_list_deliveries": lambda server: (delivery(server), call(server, "admin_list_deliveries"))[1],
    "admin_redeliver": lambda server: call(server, "admin_redeliver", id=delivery(server)),
    "admin_list_payments": lambda server: call(server, "admin_list_payments"),
    "admin_counts": lambda server: call(server, "admin_counts"),
    "mcp": lambda server: call(server, "mcp"),
    "verify_receipt": lambda server: call(server, "verify_receipt"),
    "ready": lambda server: call(server, "ready"),
    "health": lambda server: call(server, "health"),
}
"""How each operation succeeds. A new operation needs a line here."""


SOMETIMES = {"Idempotency-Replayed", "PAYMENT-RESPONSE"}
"""Headers of which a success has none when there is nothing to say."""


def test_every_operation_has_a_way_to_succeed() -> None:
    assert set(SUCCESSES) == set(the_contract().operations)


def response_faults(operation: Operation, answer: Answer) -> list[Any]:
    """What of the body does not fit the schema that the operation documents for the status."""
    documented = operation.spec["responses"][str(answer.status)]
    name = documented["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    return the_contract().body_schema(name).faults(answer.json)


@pytest.mark.promise("contract.only_what_answers")
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_a_success_is_as_documented(server: Live, operation: Operation) -> None:
    answer = SUCCESSES[operation.id](server)
    assert str(answer.status) in operation.spec["responses"], answer.body
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert response_faults(operation, answer) == []
    documented = set(operation.spec["responses"][str(answer.status)].get("headers", {}))
    assert not [name for name in documented - SOMETIMES if name.lower() not in answer.headers]


@pytest.mark.promise("contract.only_what_answers")
@pytest.mark.parametrize("operation_id", ["judge", "consensus"])
def test_a_success_with_every_field_is_as_documented(server: Live, operation_id: str) -> None:
    known = the_contract().document["components"]["schemas"][f"{operation_id.title()}Request"]["properties"]
    more = {"agent_id": "a", "version": "v", "explain": True, "retain": True, "evidence": ["The crew size was 4."]}
    body = {**example(operation_id), **{name: value for name, value in more.items() if name in known}}
    answer = call(server, operation_id, body)
    assert answer.status == 200, answer.body
    assert response_faults(the_contract().operations[operation_id], answer) == []


TOO_LARGE = b" " * 2_097_153
BAD_BODIES: dict[str, tuple[Any, dict[str, str]]] = {
    "malformed_json": (b"{", {}),
    "invalid_request": (b"[]", {}),
    "missing_body": (b"", {}),
    "payload_too_large": (TOO_LARGE, {}),
    "unsupported_media_type": (b"{}", {"Content-Type": "text/plain"}),
}


@pytest.mark.promise("contract.only_what_answers")
@pytest.mark.parametrize("code", BAD_BODIES)
@pytest.mark.parametrize("operation", REST_WITH_BODY, ids=lambda operation: operation.id)
def test_what_is_wrong_with_a_body_is_answered_as_documented(server: Live, operation: Operation, code: str) -> None:
    body, headers = BAD_BODIES[code]
    credential = {"none": None, "operator": ADMIN_TOKEN}.get(operation.auth, server.keys[0])
    path = operation.path.format(id=key_id(server, server.keys[0])) if "{id}" in operation.path else operation.path
    answer = server.request(operation.method, path, body, key=credential, headers=headers)
    assert_problem(answer, code)
    assert code in operation.problems


MISSING = {
    "key": ("missing_key", "unknown_key"),
    "key_or_payment": ("payment_required", "unknown_key"),
    "operator": ("missing_key", "unknown_key"),
}


@pytest.mark.promise("contract.only_what_answers")
@pytest.mark.parametrize("operation", [op for op in OPERATIONS if op.auth in MISSING], ids=lambda op: op.id)
def test_a_missing_and_a_wrong_credential_are_answered_as_documented(server: Live, operation: Operation) -> None:
    missing, wrong = MISSING[operation.auth]
    path = operation.path.format(id="x") if "{id}" in operation.path else operation.path
    assert_problem(server.request(operation.method, path), missing)
    assert_problem(server.request(operation.method, path, key="scr_wrong"), wrong)
    assert {missing, wrong} <= set(operation.problems)


def document() -> dict[str, Any]:
    return public_document(the_contract(), the_problems(), "https://screwtape.ai", {})


@pytest.mark.promise("contract.private_left_out")
def test_the_public_document_is_valid_and_holds_nothing_private() -> None:
    public = document()
    OpenAPIV31SpecValidator(public).validate()
    assert public["openapi"] == "3.1.0"
    assert set(public["paths"]) == {operation.path for operation in PUBLIC}
    assert '"x-' not in json.dumps(public)
    for word in ("/v1/admin", "/metrics", "/v1/ready", "webhook"):
        assert f'"{word}' not in json.dumps(list(public["paths"]))


PROMISED = {
    "health": "200",
    "judge": "200 400 401 402 409 413 415 429 503",
    "consensus": "200 400 401 402 409 413 415 429 503",
    "create_key": "201 400 409 429",
    "get_key": "200 401",
    "delete_key": "200 401",
    "rotate_key": "200 401",
    "checkout": "200 400 401 503",
    "list_retained": "200 401",
    "delete_retained": "200 401 404",
    "get_settings": "200 401",
    "update_settings": "200 400 401",
    "get_drift": "200 400 401",
    "list_alerts": "200 400 401",
    "mcp": "200 202 400 402 403",
    "verify_receipt": "200 400",
}


@pytest.mark.promise("contract.answers_health")
@pytest.mark.promise("contract.answers_keys_me")
@pytest.mark.promise("contract.answers_validation")
@pytest.mark.promise("contract.answers_keys")
@pytest.mark.promise("contract.answers_retention")
@pytest.mark.promise("contract.answers_checkout")
@pytest.mark.promise("contract.answers_drift")
@pytest.mark.promise("contract.answers_mcp")
@pytest.mark.parametrize("operation_id", PROMISED)
def test_the_promised_answers_are_documented(operation_id: str) -> None:
    operation = the_contract().operations[operation_id]
    documented = document()["paths"][operation.path][operation.method.lower()]["responses"]
    assert set(PROMISED[operation_id].split()) <= set(documented)


@pytest.mark.promise("contract.operations")
def test_the_published_operations_are_those_of_the_product() -> None:
    published = {f"{method.upper()} {path}" for path, item in document()["paths"].items() for method in item}
    keys = {"POST /v1/keys", "GET /v1/keys/me", "DELETE /v1/keys/me", "POST /v1/keys/me/rotate"}
    kept = {"GET /v1/retention", "DELETE /v1/retention/{id}", "GET /v1/account/settings", "PATCH /v1/account/settings"}
    others = {"GET /v1/drift", "GET /v1/alerts", "POST /v1/receipts/verify", "POST /v1/billing/checkout", "POST /mcp"}
    assert published == {"GET /v1/health", "POST /v1/judge", "POST /v1/consensus", *keys, *kept, *others}


@pytest.mark.promise("http.one_problem_table")
def test_every_documented_error_comes_from_the_problem_table() -> None:
    public = document()
    for operation in PUBLIC:
        responses = public["paths"][operation.path][operation.method.lower()]["responses"]
        for code in operation.problems:
            kind = the_problems().kinds[code]
            response = responses[str(kind.status)]
            media = "application/json" if operation.json_rpc else "application/problem+json"
            assert code in response["content"][media]["examples"]
            assert set(kind.headers) <= set(response["headers"])
            assert kind.title in response["description"]


@pytest.mark.promise("contract.examples")
@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda operation: operation.id)
def test_an_example_request_fits_its_schema(operation: Operation) -> None:
    assert operation.body is not None
    assert operation.body.faults(operation.example) == []


@pytest.mark.promise("contract.more_examples")
def test_the_examples_of_checkout_and_mcp_are_the_promised_ones() -> None:
    assert example("checkout") == {"pack": "starter"}
    assert example("mcp") == {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def test_example_responses_fit_their_schemas() -> None:
    for operation in OPERATIONS:
        for status, response in operation.spec["responses"].items():
            media = response.get("content", {}).get("application/json", {})
            if "example" in media:
                schema = the_contract().body_schema(media["schema"]["$ref"].rpartition("/")[2])
                assert schema.faults(media["example"]) == [], (operation.id, status)


def test_every_schema_and_property_is_described() -> None:
    """The reference is made from these; a bare one would be a hole in it."""

    def bare(schema: Any, name: str) -> Iterator[str]:
        for prop, inner in schema.get("properties", {}).items():
            if "$ref" not in inner and "description" not in inner:
                yield f"{name}.{prop}"
            yield from bare(inner, f"{name}.{prop}")
        if isinstance(schema.get("items"), dict):
            yield from bare(schema["items"], f"{name}[]")

    schemas = the_contract().document["components"]["schemas"]
    operator_only = {"AdminKeyPage", "Ledger", "CreditChange", "Balance", "Counts", "Ready"}
    assert not [place for name, schema in schemas.items() if name not in operator_only for place in bare(schema, name)]


def calls_made(function: Callable[[], object]) -> int:
    """How many Python functions `function` calls: a measure of work that is the same on every machine."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("operation_id", ["judge", "consensus", "create_key"])
def test_the_work_for_unknown_fields_is_bounded(operation_id: str) -> None:
    body = the_contract().operations[operation_id].body
    assert body is not None
    few, many = ({f"k{n}": n for n in range(count)} for count in (40, 4_000))
    for request in (few, many):
        assert len(body.faults(request)) == 20
    assert calls_made(lambda: body.faults(many)) < 2 * calls_made(lambda: body.faults(few))
