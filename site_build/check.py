"""Pure. What must hold before dist/ is written: links and anchors lead somewhere, examples fit their schemas, no fence is raw."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from api.contract import Contract, resolve
from api.openapi import example_problem
from site_build.examples import success
from site_build.faults import Fault, at_offset, at_text
from site_build.model import Output, Site, Source

API_PATHS = re.compile(r"/(v1|mcp)(/|$)")
"""Addresses that the server answers without a file of dist/."""

_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_LINK = re.compile(r'\s(?:href|src|action)="([^"]*)"')
_ID = re.compile(r'\sid="([^"]*)"')
_MARKDOWN_LINK = re.compile(r"\]\(([^()\s]+)\)")
_PRE = re.compile(r"<(pre|code|script)\b.*?</\1>", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(?:<[a-z]+>)?(```|~~~)", re.MULTILINE)
_CODE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[^\n]*\n.*?^\1\2[ \t]*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def check(site: Site, outputs: Mapping[str, Output], contract_source: Source) -> list[Fault]:
    """Every fault of the rendered site and of the contract's examples."""
    pages = {route: output.body.decode() for route, output in outputs.items() if output.type.startswith("text/html")}
    tags = {route: _TAG.findall(html) for route, html in pages.items()}
    ids = {route: {id for tag in found for id in _ID.findall(tag)} for route, found in tags.items()}
    faults = list(example_faults(site, contract_source))
    for route, html in pages.items():
        output = outputs[route]
        links = dict.fromkeys(_unescaped(link) for tag in tags[route] for link in _LINK.findall(tag))
        faults += _links(links, route, output, outputs, ids, site.base_url)
        faults += _raw_fences(html, output)
        faults += _double_ids(tags[route], output)
    for route, output in outputs.items():
        if output.file.endswith((".md", ".txt")) and output.sources:
            text = _CODE.sub("", output.body.decode())
            page = route.removesuffix(".md").removesuffix("index") if route == "/index.md" else route.removesuffix(".md")
            faults += _links(dict.fromkeys(_MARKDOWN_LINK.findall(text)), page, output, outputs, ids, site.base_url)
    return sorted(set(faults))


def _links(
    links: Mapping[str, None],
    route: str,
    output: Output,
    outputs: Mapping[str, Output],
    ids: Mapping[str, set[str]],
    base_url: str,
) -> Iterator[Fault]:
    for link in links:
        local = link.removeprefix(base_url) if link == base_url or link.startswith(base_url + "/") else link
        if wrong := _wrong(local, route, outputs, ids):
            yield _place(output, local, wrong)


def _wrong(link: str, route: str, outputs: Mapping[str, Output], ids: Mapping[str, set[str]]) -> str | None:
    """What is wrong with an address on the page `route`; None when it leads somewhere or leaves the site."""
    if re.match(r"[a-z][a-z0-9+.-]*:|//", link):
        return None
    path, _, anchor = link.partition("#")
    path = path.partition("?")[0]
    if path and not path.startswith("/"):
        return f"the link {link} must begin with a slash"
    target = path or route
    if API_PATHS.match(target):
        return None
    if target not in outputs:
        return f"the link {link} leads nowhere: there is no page {target}"
    target = target.removesuffix(".md") if target.endswith(".md") else target
    if anchor and target in ids and anchor not in ids[target]:
        return f"the link {link} has no anchor: {target} has no id {anchor}"
    return None


def _raw_fences(html: str, output: Output) -> Iterator[Fault]:
    if found := _FENCE.search(_PRE.sub("", html)):
        source = output.sources[0]
        fences = list(re.finditer(r"^[ \t]*(```|~~~)", source.text, re.MULTILINE))
        place = fences[-1].start() if fences else 0
        yield at_offset(source.name, source.text, place, f"a code fence ({found[1]}) was not read as one: is it closed, and indented as its list?")


def _double_ids(tags: list[str], output: Output) -> Iterator[Fault]:
    seen: set[str] = set()
    for tag in tags:
        for id in _ID.findall(tag):
            if id in seen:
                yield _place(output, id, f"the id {id} stands twice on the page")
            seen.add(id)


def _place(output: Output, needle: str, message: str) -> Fault:
    """The first source that holds the words, the page's own first; else the beginning of that one."""
    for source in output.sources:
        if needle in source.text:
            return at_text(source.name, source.text, needle, message)
    first = output.sources[0] if output.sources else Source(output.file, "")
    return Fault(first.name, 1, 1, message)


def _unescaped(link: str) -> str:
    return link.replace("&amp;", "&").replace("&#39;", "'").replace("&#34;", '"')


def example_faults(site: Site, source: Source) -> Iterator[Fault]:
    """Each example of the contract against its own schema: bodies, answers, headers, and values inside schemas."""
    contract = site.contract
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
        elif "schema" in media and not operation.operator:
            yield _at(source, path, f"{operation.id} has no example of its {status} answer")
    components = contract.document["components"]
    for name, header in components.get("headers", {}).items():
        for value in header.get("schema", {}).get("examples", ()):
            yield from _example(contract, source, header["schema"], value, ["components", "headers", name])
    for name, schema in components.get("schemas", {}).items():
        yield from _inside(contract, source, schema, ["components", "schemas", name])
    for code in site.problems.kinds:
        problem = {"$ref": "#/components/schemas/Problem"}
        yield from _example(contract, source, problem, example_problem(code, site.problems), ["components", "schemas", "Problem"])


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
    from api.contract import _body_schema

    for wrong in _body_schema(resolve(schema, contract.document), contract.document).faults(value):
        yield _at(source, path, f"the example does not fit its schema: {wrong.path or 'the body'} {wrong.message}")


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
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.start_mark
        else:
            break
    return Fault(source.name, mark.line + 1 if mark else 1, mark.column + 1 if mark else 1, message)
