"""Pure. The contract as documentation: groups of operations with their fields, limits, responses and examples.

Each $ref is followed; a schema that contains itself is cut where it meets itself on the way down. What decides is the
path's own stack of references, so two fields of one type are both shown whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.contract import Contract, Operation
from api.openapi import errors_by_status
from api.problems import ProblemKind
from site_build.examples import LANGUAGES, response_example, success
from site_build.layout import as_json
from site_build.model import Site

Schema = Mapping[str, Any]

AUTH_SENTENCES = {
    "none": "No key is needed.",
    "key": "Needs an API key: `Authorization: Bearer scr_...`.",
    "key_or_payment": "Needs an API key, `Authorization: Bearer scr_...`, or an x402 payment.",
    "optional": "Calling a tool needs an API key, `Authorization: Bearer scr_...`, or an x402 payment.",
}


_SCHEMAS = ("inputSchema", "outputSchema")
_SCHEMA = {"type": "object", "$comment": "Shortened here. It is the schema of the operation of that name."}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a body. `limits` and `values` are ready to read; `fields` are its own fields, or those of its items.

    `alternatives` are the branches of oneOf and anyOf, each with its own name and fields. `required` is None where it
    is no question, as for a branch.
    """

    name: str
    type: str
    description: str
    required: bool | None
    limits: tuple[str, ...]
    values: tuple[str, ...]
    example: str
    fields: tuple["Field", ...]
    alternatives: tuple["Field", ...]


@dataclass(frozen=True, slots=True)
class Header:
    """A response header."""

    name: str
    description: str
    example: str


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """The problems that an operation answers with one status."""

    status: int
    kinds: tuple[ProblemKind, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """The call of an operation in one language."""

    id: str
    label: str
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class OperationDoc:
    """All that the reference says of an operation. `request` and `response` are JSON texts, "" when there is none."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    auth: str
    metered: bool
    body: Field | None
    parameters: tuple[Field, ...]
    status: str
    success: str
    answer: Field | None
    headers: tuple[Header, ...]
    errors: tuple[ErrorRow, ...]
    calls: tuple[Call, ...]
    request: str
    response: str


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one tag."""

    id: str
    name: str
    description: str
    operations: tuple[OperationDoc, ...]


def public_operations(contract: Contract) -> list[tuple[Mapping[str, Any], list[Operation]]]:
    """The document's tags in their order, each with its operations, without operator routes and empty tags."""
    public = [operation for operation in contract.operations.values() if not operation.operator]
    tags = [
        (tag, [operation for operation in public if tag["name"] in operation.spec.get("tags", [])])
        for tag in contract.document.get("tags", [])
    ]
    return [(tag, operations) for tag, operations in tags if operations]


def reference(site: Site) -> tuple[Group, ...]:
    """The groups, one for each tag."""
    return tuple(
        Group(
            tag["name"].lower().replace(" ", "-"),
            tag["name"],
            tag.get("description", ""),
            tuple(_operation(operation, site) for operation in operations),
        )
        for tag, operations in public_operations(site.contract)
    )


def _operation(operation: Operation, site: Site) -> OperationDoc:
    document = site.contract.document
    status, response = success(operation)
    answer = response.get("content", {}).get("application/json", {}).get("schema")
    example = response_example(operation, site.results)
    return OperationDoc(
        id=operation.id,
        method=operation.method,
        path=operation.path,
        summary=operation.summary,
        description=str(operation.spec.get("description", "")).strip(),
        auth=AUTH_SENTENCES[operation.auth],
        metered=operation.metered,
        body=field("", operation.body.schema, document) if operation.body else None,
        parameters=tuple(_parameter(p, document) for p in operation.spec.get("parameters", ())),
        status=status,
        success=response["description"],
        answer=field("", answer, document) if answer else None,
        headers=tuple(_header(name, header, document) for name, header in response.get("headers", {}).items()),
        errors=tuple(
            ErrorRow(status, tuple(site.problems.kinds[code] for code in codes))
            for status, codes in errors_by_status(operation, site.problems).items()
        ),
        calls=tuple(
            Call(id, label, fence, make(operation, site.base_url)) for id, (label, fence, make) in LANGUAGES.items()
        ),
        request=as_json(operation.example) if operation.body else "",
        response=as_json(_shortened(example)) if example is not None else "",
    )


def _shortened(example: Any) -> Any:
    """The example without the schemas of tools in it, which would be larger than the rest of the reference."""
    if isinstance(example, dict):
        return {key: _SCHEMA if key in _SCHEMAS else _shortened(value) for key, value in example.items()}
    return [_shortened(value) for value in example] if isinstance(example, list) else example


def field(
    name: str, schema: Schema, document: Mapping[str, Any], required: bool | None = None, stack: tuple[str, ...] = ()
) -> Field:
    """A schema as a field. Words beside a $ref win over those of what it names (OpenAPI 3.1 allows them)."""
    merged: dict[str, Any] = {}
    while "$ref" in schema:
        reference = schema["$ref"]
        merged = {**{k: v for k, v in schema.items() if k != "$ref"}, **merged}
        if reference in stack:
            return _recursive(name, reference, merged, required)
        stack, schema = (*stack, reference), _resolve(reference, document)
    schema = {**schema, **merged}
    inner, branches = _inner(schema, document, stack), _branches(schema, document, stack)
    return Field(
        name=name,
        type=type_name(schema, document, stack),
        description=" ".join(str(schema.get("description", "")).split()),
        required=required,
        limits=_limits(schema, document),
        values=_values(schema),
        example=_example(schema),
        fields=inner,
        alternatives=branches,
    )


def type_name(schema: Schema, document: Mapping[str, Any], stack: tuple[str, ...] = ()) -> str:
    """The type in words: "string", "integer or null", "array of object"."""
    while "$ref" in schema:
        if schema["$ref"] in stack:
            return str(schema["$ref"].rpartition("/")[2])
        stack, schema = (*stack, schema["$ref"]), _resolve(schema["$ref"], document)
    for word in ("oneOf", "anyOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(type_name(branch, document, stack) for branch in schema[word]))
    kinds = schema.get("type", "any")
    names = []
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if kind == "array" and "items" in schema:
            names.append(f"array of {type_name(schema['items'], document, stack)}")
        else:
            names.append(str(kind))
    return " or ".join(names)


def _inner(schema: Schema, document: Mapping[str, Any], stack: tuple[str, ...]) -> tuple[Field, ...]:
    items = schema.get("items")
    if "properties" not in schema and isinstance(items, Mapping):
        while "$ref" in items:
            if items["$ref"] in stack:
                return ()
            stack, items = (*stack, items["$ref"]), _resolve(items["$ref"], document)
        return _inner(items, document, stack)
    needed = schema.get("required", ())
    return tuple(field(n, s, document, n in needed, stack) for n, s in schema.get("properties", {}).items())


def _branches(schema: Schema, document: Mapping[str, Any], stack: tuple[str, ...]) -> tuple[Field, ...]:
    found = []
    for branch in [*schema.get("oneOf", ()), *schema.get("anyOf", ())]:
        made = field(str(branch.get("title", "")), branch, document, None, stack)
        if made.fields or made.description or made.limits:
            found.append(made)
    return tuple(found)


def _recursive(name: str, reference: str, words: Schema, required: bool | None) -> Field:
    target = reference.rpartition("/")[2]
    description = str(words.get("description", f"The same shape as {target} above."))
    return Field(name, target, description, required, (), (), "", (), ())


def _resolve(reference: str, document: Mapping[str, Any]) -> Schema:
    node: Any = document
    for step in reference.removeprefix("#/").split("/"):
        node = node[step.replace("~1", "/").replace("~0", "~")]
    schema: Schema = node
    return schema


def _parameter(parameter: Mapping[str, Any], document: Mapping[str, Any]) -> Field:
    if "$ref" in parameter:
        parameter = _resolve(parameter["$ref"], document)
    schema = {"description": parameter.get("description", ""), **parameter.get("schema", {})}
    return field(parameter["name"], schema, document, parameter.get("required", False))


def _header(name: str, header: Mapping[str, Any], document: Mapping[str, Any]) -> Header:
    if "$ref" in header:
        header = _resolve(header["$ref"], document)
    examples = header.get("schema", {}).get("examples", [])
    return Header(name, header.get("description", ""), str(examples[0]) if examples else "")


def _limits(schema: Schema, document: Mapping[str, Any]) -> tuple[str, ...]:
    limits = _range(schema, "Length", "character") + _range(schema, "Items", "item")
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        limits.append(f"{low} to {high}")
    elif low is not None or high is not None:
        limits.append(f"at least {low}" if low is not None else f"at most {high}")
    if "pattern" in schema:
        limits.append(f"matches `{schema['pattern']}`")
    if "format" in schema:
        limits.append(f"format {schema['format']}")
    if "x-max-text" in schema:
        limits.append(f"{schema['x-max-text']:,} characters of text in all")
    if "default" in schema:
        limits.append(f"default `{as_json(schema['default'])}`")
    items = schema.get("items")
    if isinstance(items, Mapping):
        while "$ref" in items:
            items = _resolve(items["$ref"], document)
        limits += [f"each {limit}" for limit in _range(items, "Length", "character")]
    return tuple(limits)


def _range(schema: Schema, suffix: str, noun: str) -> list[str]:
    low, high = schema.get(f"min{suffix}"), schema.get(f"max{suffix}")
    if low is None and high is None:
        return []
    if high is None:
        return [f"at least {low:,} {noun}{'' if low == 1 else 's'}"]
    return [f"{low:,} to {high:,} {noun}s"] if low is not None else [f"up to {high:,} {noun}s"]


def _values(schema: Schema) -> tuple[str, ...]:
    values = [schema["const"]] if "const" in schema else list(schema.get("enum", ()))
    return tuple(v if isinstance(v, str) else as_json(v) for v in values)


def _example(schema: Schema) -> str:
    examples = [schema["example"]] if "example" in schema else list(schema.get("examples", ()))
    return ", ".join(v if isinstance(v, str) else as_json(v) for v in examples)
