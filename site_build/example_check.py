"""Pure. Each example of the contract against its own schema: a documented body that the API would refuse is a fault."""

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs
import yaml

from api.contract import DIALECT, BodySchema
from api.openapi import example_problem
from site_build.cache import Cache
from site_build.examples import fits, success
from site_build.faults import Fault
from site_build.model import Site

_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_NOT_SCHEMAS = frozenset({"examples", "example", "default", "enum", "const"})


def check_examples(site: Site, cache: Cache) -> list[Fault]:
    """The faults of the site's examples; none at once when they had none before."""
    key = cache.key("examples", site.digest)
    if cache.get(key) is not None:
        return []
    faults = example_faults(site)
    if not faults:
        cache.put(key, b"good")
    return faults


def example_faults(site: Site) -> list[Fault]:
    """What is wrong with the request and answer bodies, the problem documents, and the values inside schemas."""
    return list(_Examples(site).faults())


class _Examples:
    def __init__(self, site: Site) -> None:
        self.site, self.source = site, site.data[0]
        self.components = site.contract.document["components"]
        self.compiled: dict[str, BodySchema] = {}

    def faults(self) -> Iterator[Fault]:
        yield from self._operations()
        for kind in ("parameters", "headers"):
            for name, item in self.components.get(kind, {}).items():
                yield from self._inside(item.get("schema", {}), ["components", kind, name, "schema"])
        for name, schema in self.components.get("schemas", {}).items():
            yield from self._inside(schema, ["components", "schemas", name])
        for code in self.site.problems.kinds:
            problem = example_problem(code, self.site.problems)
            yield from self._check(_PROBLEM, problem, ["components", "schemas", "Problem"])

    def _operations(self) -> Iterator[Fault]:
        for operation in self.site.contract.operations.values():
            at = ["paths", operation.path, operation.method.lower()]
            if operation.body:
                path = [*at, "requestBody", "content", "application/json", "example"]
                yield from self._check(operation.body.schema, operation.example, path)
            status, response = success(operation)
            media = response.get("content", {}).get("application/json", {})
            path = [*at, "responses", status, "content", "application/json"]
            value = self.site.results.get(operation.id, media.get("example"))
            if "schema" in media and value is not None:
                yield from self._check(media["schema"], value, [*path, "example"])
            elif "schema" in media and not operation.operator and fits(operation):
                yield self._fault(path, f"{operation.id} has no example of its {status} answer")

    def _inside(self, schema: Any, path: list[Any]) -> Iterator[Fault]:
        """Defaults and examples at any depth of a schema."""
        if isinstance(schema, list):
            for index, item in enumerate(schema):
                yield from self._inside(item, [*path, index])
        elif isinstance(schema, Mapping):
            if path[-1] != "properties":  # there the keys are names of fields
                for value in [*schema.get("examples", ()), *([schema["default"]] if "default" in schema else [])]:
                    yield from self._check(schema, value, path)
            for key, item in schema.items():
                if key not in _NOT_SCHEMAS or path[-1] == "properties":
                    yield from self._inside(item, [*path, key])

    def _check(self, schema: Mapping[str, Any], value: Any, path: list[Any]) -> Iterator[Fault]:
        key = repr(schema)
        if key not in self.compiled:
            whole = {"$schema": DIALECT, **schema, "components": self.components}
            validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
            self.compiled[key] = BodySchema(schema, whole, validator, None)
        for wrong in self.compiled[key].faults(value):
            inside = [step.replace("~1", "/").replace("~0", "~") for step in wrong.path.split("/")[1:]]
            where = wrong.path or "the body"
            yield self._fault([*path, *inside], f"the example does not fit its schema: {where} {wrong.message}")

    def _fault(self, path: list[Any], message: str) -> Fault:
        """The fault at the deepest part of `path` that stands in the YAML."""
        node = yaml.compose(self.source.text, yaml.CSafeLoader)
        if node is None:
            return Fault(self.source.name, 1, 1, message)
        mark = node.start_mark
        for step in path:
            if isinstance(node, yaml.MappingNode):
                pair = next(((key, value) for key, value in node.value if key.value == str(step)), None)
                if pair is None:
                    break
                mark, node = pair[0].start_mark, pair[1]
            elif isinstance(node, yaml.SequenceNode) and str(step).isdecimal() and int(step) < len(node.value):
                node = node.value[int(step)]
                mark = node.start_mark
            else:
                break
        return Fault(self.source.name, mark.line + 1, mark.column + 1, message)
