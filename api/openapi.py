"""The public OpenAPI 3.1 document, made from the contract: what is private goes, what each error says comes in."""

from collections.abc import Iterator, Mapping
from typing import Any

from api.contract import METHODS, Contract, Operation
from api.problems import Problem, ProblemKind, ProblemTable

_SECURITY: dict[str, list[dict[str, list[str]]]] = {
    "none": [],
    "key": [{"bearer": []}],
    "key_or_payment": [{"bearer": []}, {"x402": []}],
    "optional": [{}, {"bearer": []}, {"x402": []}],
    "operator": [{"bearer": []}],
}
EXAMPLE_REQUEST_ID = "req_7Hc2kP9vXn4RtY1m"


def public_document(
    contract: Contract, problems: ProblemTable, base_url: str, results: Mapping[str, Any]
) -> dict[str, Any]:
    """The document that /openapi.json serves. `results` holds, by operation id, the computed 200 body of the
    operation's example."""
    document: dict[str, Any] = _without_private(contract.document)
    document["servers"] = [{"url": base_url}]
    hidden = {operation.path for operation in contract.operations.values() if operation.operator}
    for path, item in list(document["paths"].items()):
        if path in hidden:
            del document["paths"][path]
            continue
        for method in METHODS:
            if method in item:
                operation = contract.operations[item[method]["operationId"]]
                _complete(item[method], operation, problems, results.get(operation.id))
    document["components"]["schemas"] = _reachable(document)
    return document


def errors_by_status(operation: Operation, problems: ProblemTable) -> dict[int, list[str]]:
    """The codes that an operation can answer, grouped by status, ascending."""
    grouped: dict[int, list[str]] = {}
    for code in operation.problems:
        grouped.setdefault(problems.kinds[code].status, []).append(code)
    return dict(sorted(grouped.items()))


def example_problem(code: str, problems: ProblemTable) -> dict[str, Any]:
    """A problem document as it would be answered, with a made-up request id."""
    return problems.document(Problem(code), EXAMPLE_REQUEST_ID)


def _complete(spec: dict[str, Any], operation: Operation, problems: ProblemTable, result: Any) -> None:
    spec["security"] = _SECURITY[operation.auth]
    if result is not None:
        spec["responses"]["200"]["content"]["application/json"]["example"] = result
    for status, codes in errors_by_status(operation, problems).items():
        # What the contract itself documents for a status is more than an error.
        spec["responses"].setdefault(str(status), _error_response(codes, problems, json_rpc=operation.json_rpc))
    spec["responses"]["default"] = _error_response(["internal"], problems, json_rpc=operation.json_rpc)


def _error_response(codes: list[str], problems: ProblemTable, *, json_rpc: bool) -> dict[str, Any]:
    kinds = [problems.kinds[code] for code in codes]
    names = list(dict.fromkeys(["X-Request-Id", *(name for kind in kinds for name in kind.headers)]))
    return {
        "description": " ".join(f"`{kind.code}`: {kind.title}." for kind in kinds),
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
        "content": _rpc_errors(kinds, problems) if json_rpc else _documents(codes, problems),
    }


def _documents(codes: list[str], problems: ProblemTable) -> dict[str, Any]:
    return {
        "application/problem+json": {
            "schema": {"$ref": "#/components/schemas/Problem"},
            "examples": {code: {"value": example_problem(code, problems)} for code in codes},
        }
    }


def _rpc_errors(kinds: list[ProblemKind], problems: ProblemTable) -> dict[str, Any]:
    examples = {}
    for kind in kinds:
        error = {"code": kind.mcp, "message": kind.title, "data": example_problem(kind.code, problems)}
        examples[kind.code] = {"value": {"jsonrpc": "2.0", "id": 1, "error": error}}
    return {
        "application/json": {"schema": {"$ref": "#/components/schemas/RpcResponse"}, "examples": examples},
    }


def _reachable(document: Mapping[str, Any]) -> dict[str, Any]:
    """The component schemas that the public paths refer to, directly or through others, in the contract's order."""
    schemas = document["components"]["schemas"]
    seen: set[str] = set()
    waiting = [document["paths"], document["components"]["parameters"], document["components"]["headers"]]
    while waiting:
        for name in _schema_names(waiting.pop()):
            if name not in seen:
                seen.add(name)
                waiting.append(schemas[name])
    return {name: schema for name, schema in schemas.items() if name in seen}


def _schema_names(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        target = node.get("$ref")
        if isinstance(target, str) and target.startswith("#/components/schemas/"):
            yield target.split("/")[3]
        for value in node.values():
            yield from _schema_names(value)
    elif isinstance(node, list):
        for item in node:
            yield from _schema_names(item)


def _without_private(node: Any) -> Any:
    """A deep copy without the x- fields that only this code base reads."""
    if isinstance(node, Mapping):
        return {key: _without_private(value) for key, value in node.items() if not str(key).startswith("x-")}
    return [_without_private(item) for item in node] if isinstance(node, list) else node
