"""Pure. Each example of the contract against its own schema: a documented body that the API would refuse is a fault."""

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs
import yaml

from api.contract import DIALECT, BodySchema, Contract
from api.openapi import example_problem
from site_build.examples import fits, success
from site_build.faults import Fault
from site_build.model import Site, Source


def example_faults(site: Site) -> Iterator[Fault]:
    """Each example of the contract against its own schema: bodies, answers, headers, and values inside schemas."""
    contract, source = site.contract, site.data[0]
    for operation in contract.operations.values():
        at = ["paths", operation.path, operation.method.lower()]
        if operation.body:
            path = [*at, "requestBody", "content", "application/json"]
            yield from _example(contract, source, operation.body.schema, operation.example, [*path, "example"])
        status, response = success(operation)
        media = response.get("content", {}).get("application/json", {})
        path = [*at, "responses", status, "content", "application/json"]
        value = site.results.get(operation.id, media.get("example"))
        if "schema" in media and value is not None:
            yield from _example(contract, source, media["schema"], value, [*path, "example"])
        elif "schema" in media and not operation.operator and fits(operation):
            yield _at(source, path, f"{operation.id} has no example of its {status} answer")
    components = contract.document["components"]
    for name, parameter in components.get("parameters", {}).items():
        yield from _inside(contract, source, parameter["schema"], ["components", "parameters", name, "schema"])
    for name, header in components.get("headers", {}).items():
        yield from _inside(contract, source, header.get("schema", {}), ["components", "headers", name, "schema"])
    for name, schema in components.get("schemas", {}).items():
        yield from _inside(contract, source, schema, ["components", "schemas", name])
    for code in site.problems.kinds:
        problem = {"$ref": "#/components/schemas/Problem"}
        yield from _example(
            contract, source, problem, example_problem(code, site.problems), ["components", "schemas", "Problem"]
        )


def _inside(contract: Contract, source: Source, schema: Any, path: list[Any]) -> Iterator[Fault]:
    """Defaults and examples at any depth of a schema."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from _inside(contract, source, item, [*path, index])
    elif isinstance(schema, Mapping):
        if path[-1] != "properties":
            for value in [*schema.get("examples", ()), *([schema["default"]] if "default" in schema else [])]:
                yield from _example(contract, source, schema, value, path)
        for key, item in schema.items():
            if key not in ("examples", "example", "default", "enum", "const"):
                yield from _inside(contract, source, item, [*path, key])


def _example(contract: Contract, source: Source, schema: Any, value: Any, path: list[Any]) -> Iterator[Fault]:
    whole = {"$schema": DIALECT, **schema, "components": contract.document["components"]}
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    for wrong in BodySchema(schema, whole, validator, None).faults(value):
        inside = [step.replace("~1", "/").replace("~0", "~") for step in wrong.path.split("/")[1:]]
        yield _at(
            source, [*path, *inside], f"the example does not fit its schema: {wrong.path or 'the body'} {wrong.message}"
        )


def _at(source: Source, path: list[Any], message: str) -> Fault:
    """The fault at the deepest part of `path` that stands in the YAML."""
    node = yaml.compose(source.text, yaml.CSafeLoader)
    mark = node.start_mark if node else None
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(step)), None)
            if pair is None:
                break
            mark, node = pair[0].start_mark, pair[1]
        elif isinstance(node, yaml.SequenceNode) and str(step).isdecimal() and int(step) < len(node.value):
            node = node.value[int(step)]
            mark = node.start_mark
        else:
            break
    return Fault(source.name, mark.line + 1 if mark else 1, mark.column + 1 if mark else 1, message)
