"""The one reader of content/openapi.yaml: operations, their rules, and the check of a body on the contract's own
schemas."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import jsonschema_rs

from api.problems import Fault
from api.yamlfile import read_file

METHODS = ("get", "post", "patch", "put", "delete")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_FAULTS = 20
MAX_NAME = 100

Auth = Literal["none", "key", "key_or_payment", "optional", "operator"]


@dataclass(frozen=True)
class Operation:
    """One operation of the contract. `path` may hold `{name}` parts; `problems` are codes of problems.yaml. `raw_body`:
    it reads the body's bytes itself, and there is no schema. `json_rpc`: it speaks JSON-RPC, in errors too. `tool`: how
    MCP offers it, None when it does not."""

    id: str
    method: str
    path: str
    summary: str
    auth: Auth
    metered: bool
    operator: bool
    problems: tuple[str, ...]
    spec: Mapping[str, Any]
    body: "BodySchema | None"
    query: "tuple[Parameter, ...]"
    takes_idempotency_key: bool
    raw_body: bool
    json_rpc: bool
    tool: Mapping[str, str] | None

    @property
    def example(self) -> Any:
        """The example request body, or None for an operation without a body."""
        return self.spec["requestBody"]["content"]["application/json"]["example"] if self.body else None

    def read_query(self, sent: Mapping[str, str]) -> tuple[dict[str, Any], list[Fault]]:
        """The query parameters of the contract as values, defaults filled in, and what is wrong with them. Others
        are ignored."""
        values: dict[str, Any] = {}
        faults: list[Fault] = []
        for parameter in self.query:
            if parameter.name in sent:
                values[parameter.name] = value = parameter.value(sent[parameter.name])
                faults += [Fault(parameter.name, fault.message) for fault in parameter.schema.faults(value)]
            elif parameter.default is not None:
                values[parameter.name] = parameter.default
        return values, faults


@dataclass(frozen=True)
class Parameter:
    """A query parameter. `default` None: it may be left out."""

    name: str
    schema: "BodySchema"

    @property
    def default(self) -> Any:
        """What it is when left out."""
        return self.schema.schema.get("default")

    def value(self, text: str) -> Any:
        """The text as the schema's type; left as text when it can't be that, so that the schema says so."""
        match self.schema.schema["type"]:
            case "integer" if re.fullmatch(r"-?[0-9]{1,18}", text):
                return int(text)
            case "boolean" if text in ("true", "false"):
                return text == "true"
            case _:
                return text


@dataclass(frozen=True)
class BodySchema:
    """The schema of a request or response body, compiled."""

    schema: Mapping[str, Any]
    document: Mapping[str, Any]
    validator: jsonschema_rs.Draft202012Validator
    max_text: int | None

    def faults(self, body: Any) -> list[Fault]:
        """What is wrong with `body`, at most 20 faults, in the order of the schema; [] when it fits."""
        if self.validator.is_valid(body):
            if self.max_text is not None and (size := text_size(body)) > self.max_text:
                return [Fault("", f"has {size:,} characters of text in all; the limit is {self.max_text:,}")]
            return []
        oversize = list(islice(self._oversize(self.schema, body, []), MAX_FAULTS))
        if oversize:
            return oversize
        # The first fault of a place: a value of the wrong type is not one of the allowed values either.
        found: dict[str, Fault] = {}
        for error in self.validator.iter_errors(body):
            for fault in self._read(error):
                found.setdefault(fault.path, fault)
            if len(found) >= MAX_FAULTS:
                break
        return list(found.values())[:MAX_FAULTS]

    def _oversize(self, schema: Mapping[str, Any], value: Any, path: list[Any]) -> Iterator[Fault]:
        """Lists that are too long and objects with many unknown fields. They are looked for first, and what is
        inside of them is not: the validator works out every fault before it gives the first, which takes a minute
        for a million."""
        schema = resolve(schema, self.document)
        if isinstance(value, list):
            limit = schema.get("maxItems")
            if limit is not None and len(value) > limit:
                yield Fault(pointer(path), _LIMITS["maxItems"].format(limit=limit, size=len(value), s=_plural(limit)))
            elif "items" in schema:
                for index, item in enumerate(value):
                    yield from self._oversize(schema["items"], item, [*path, index])
        elif isinstance(value, dict):
            known = schema.get("properties", {})
            if schema.get("additionalProperties") is False and len(value) > len(known) + MAX_FAULTS:
                for name in islice((name for name in value if name not in known), MAX_FAULTS):
                    yield Fault(pointer([*path, name]), _unknown(name, list(known)))
            else:
                for name in known.keys() & value.keys():
                    yield from self._oversize(known[name], value[name], [*path, name])

    def _read(self, error: jsonschema_rs.ValidationError) -> Iterator[Fault]:
        path, kind = list(error.instance_path), _kind(error)
        match kind.name:
            case "required":
                yield Fault(pointer([*path, kind.property]), "is required and missing")
            case "additionalProperties":
                known = self._known_names(error.schema_path)
                for name in kind.unexpected[:MAX_FAULTS]:
                    yield Fault(pointer([*path, name]), _unknown(name, known))
            case "pattern":
                meant = str(self._schema_at(error.schema_path).get("description", "")).strip()
                yield Fault(pointer(path), f"does not have the form that it must have. {meant}".rstrip(" ."))
            case name:
                yield Fault(pointer(path), _describe(name, kind, error.instance))

    def _known_names(self, schema_path: list[Any]) -> list[str]:
        return list(self._schema_at(schema_path).get("properties", {}))

    def _schema_at(self, schema_path: list[Any]) -> Mapping[str, Any]:
        """The schema whose keyword a path ends with."""
        node: Any = self.document
        for step in schema_path[:-1]:
            node = node[step]
        return dict(node)


@dataclass(frozen=True)
class Contract:
    """The whole document. `operations` by id, in the document's order."""

    document: Mapping[str, Any]
    operations: Mapping[str, Operation]

    @property
    def version(self) -> str:
        """The version of the API and of the product."""
        return str(self.document["info"]["version"])

    def body_schema(self, name: str) -> BodySchema:
        """The schema `name` of components, compiled."""
        return _body_schema({"$ref": f"#/components/schemas/{name}"}, self.document)


def load(content: Path) -> Contract:
    """Reads content/openapi.yaml. Raises YamlFault for broken YAML, KeyError for a missing x- field."""
    document = read_file(content / "openapi.yaml")
    operations = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                spec = item[method]
                operations[spec["operationId"]] = _operation(method.upper(), path, spec, document)
    return Contract(document, operations)


def pointer(path: list[Any]) -> str:
    """A JSON Pointer (RFC 6901). A name of more than 100 characters is cut: it is the caller's, and may be
    megabytes."""
    return "".join("/" + _cut(str(step)).replace("~", "~0").replace("/", "~1") for step in path)


def _cut(name: str) -> str:
    return name if len(name) <= MAX_NAME else name[:MAX_NAME] + "..."


def text_size(value: Any) -> int:
    """The characters of all strings in `value` together; keys do not count."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(text_size, value.values()))
    return sum(map(text_size, value)) if isinstance(value, list) else 0


def _operation(method: str, path: str, spec: Mapping[str, Any], document: Mapping[str, Any]) -> Operation:
    body = None
    if "requestBody" in spec:
        body = _body_schema(spec["requestBody"]["content"]["application/json"]["schema"], document)
    parameters = [resolve(parameter, document) for parameter in spec.get("parameters", ())]
    return Operation(
        id=spec["operationId"],
        method=method,
        path=path,
        summary=spec["summary"],
        auth=spec["x-auth"],
        metered=spec.get("x-metered", False),
        operator=spec.get("x-operator", False),
        problems=tuple(spec["x-problems"]),
        spec=spec,
        body=body,
        query=tuple(
            Parameter(parameter["name"], _body_schema(parameter["schema"], document))
            for parameter in parameters
            if parameter["in"] == "query"
        ),
        takes_idempotency_key=any(parameter["name"] == "Idempotency-Key" for parameter in parameters),
        raw_body=spec.get("x-raw-body", False),
        json_rpc=spec.get("x-json-rpc", False),
        tool=spec.get("x-mcp-tool"),
    )


def _body_schema(schema: Mapping[str, Any], document: Mapping[str, Any]) -> BodySchema:
    whole = {"$schema": DIALECT, **schema, "components": document["components"]}
    return BodySchema(
        schema=schema,
        document=whole,
        validator=jsonschema_rs.Draft202012Validator(whole),
        max_text=resolve(schema, document).get("x-max-text"),
    )


def resolve(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a `{"$ref": "#/..."}` names, or `schema` itself when it is no reference."""
    while "$ref" in schema:
        node: Any = document
        for step in schema["$ref"].removeprefix("#/").split("/"):
            node = node[step]
        schema = node
    return schema


_ANNOTATIONS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


def tools(contract: Contract) -> dict[str, dict[str, Any]]:
    """The operations that are MCP tools, by name, as tools/list has them. In the contract's order."""
    return {
        operation.id: {
            "name": operation.id,
            "title": operation.tool["title"],
            "description": operation.tool["description"].strip(),
            "inputSchema": inlined(operation.body.schema if operation.body else {}, contract.document),
            "outputSchema": inlined(_success_schema(operation), contract.document),
            "annotations": {"title": operation.tool["title"], **_ANNOTATIONS},
        }
        for operation in contract.operations.values()
        if operation.tool is not None
    }


def _success_schema(operation: Operation) -> Any:
    return operation.spec["responses"]["200"]["content"]["application/json"]["schema"]


def inlined(schema: Any, document: Mapping[str, Any]) -> Any:
    """A schema that stands alone: each reference replaced by what it names, without the x- fields. For schemas that
    do not contain themselves."""
    if isinstance(schema, Mapping):
        whole = {**resolve(schema, document), **schema}
        whole.pop("$ref", None)
        return {key: inlined(value, document) for key, value in whole.items() if not str(key).startswith("x-")}
    return [inlined(item, document) for item in schema] if isinstance(schema, list) else schema


def _kind(error: jsonschema_rs.ValidationError) -> Any:
    """Typed as the base of all kinds, which lacks the members that each kind has."""
    return error.kind


def _unknown(name: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(name[:100], known, n=1, cutoff=0.5)
    hint = f"the nearest known one is {nearest[0]}" if nearest else f"the known ones are {', '.join(known)}"
    return f"is not a known field; {hint}"


_TYPE_NAMES = {"object": "an object", "array": "an array", "string": "a string", "integer": "an integer"} | {
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_LIMITS = {
    "minLength": "must have at least {limit:,} character{s}, and has {size:,}",
    "maxLength": "must have at most {limit:,} character{s}, and has {size:,}",
    "minItems": "must have at least {limit:,} item{s}, and has {size:,}",
    "maxItems": "must have at most {limit:,} item{s}, and has {size:,}",
    "minimum": "must be at least {limit}",
    "maximum": "must be at most {limit}",
}


def _plural(count: int) -> str:
    return "" if count == 1 else "s"


def _describe(name: str, kind: Any, instance: Any) -> str:
    """One fault in words. Never repeats the value that was sent: it may be long, and it is the caller's."""
    if name in _LIMITS:
        size = len(instance) if isinstance(instance, str | list) else 0
        return _LIMITS[name].format(limit=kind.limit, size=size, s=_plural(kind.limit))
    match name:
        case "type":
            return f"must be {' or '.join(_TYPE_NAMES[t] for t in kind.types)}"
        case "enum":
            return f"must be one of {', '.join(map(str, kind.options))}"
        case "minProperties":
            return "must have at least one field"
        case "not":
            return "must not have that value"
        case _:
            return f"breaks the rule {name} of the schema"
