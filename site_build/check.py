"""Pure. What must hold before dist/ is written: links lead somewhere, no fence is raw, no id stands twice."""

import re
from collections.abc import Iterator, Mapping

from site_build.example_check import example_faults
from site_build.faults import Fault, at_offset, at_text
from site_build.model import Output, Site, Source

API_PATHS = re.compile(r"/(v1(/|$)|mcp$|\.well-known/jwks\.json$)")
"""Addresses that the server answers without a file of dist/."""

_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_LINK = re.compile(r'\s(?:href|src|action)="([^"]*)"')
_ID = re.compile(r'\sid="([^"]*)"')
_MARKDOWN_LINK = re.compile(r"\]\(([^()\s]+)\)")
_PRE = re.compile(r"<(pre|code|script)\b.*?</\1>", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(?:<[a-z]+>)?(```|~~~)", re.MULTILINE)
_CODE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[^\n]*\n.*?^\1\2[ \t]*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def check(site: Site, outputs: Mapping[str, Output]) -> list[Fault]:
    """Every fault of the rendered site and of the contract's examples."""
    pages = {route: output.body.decode() for route, output in outputs.items() if output.type.startswith("text/html")}
    tags = {route: _TAG.findall(html) for route, html in pages.items()}
    ids = {route: {id for tag in found for id in _ID.findall(tag)} for route, found in tags.items()}
    faults = example_faults(site)
    for route, html in pages.items():
        output = outputs[route]
        links = dict.fromkeys(_unescaped(link) for tag in tags[route] for link in _LINK.findall(tag))
        faults += _links(links, route, output, outputs, ids, site.base_url)
        faults += _raw_fences(html, output)
        faults += _double_ids(tags[route], output)
    for route, output in outputs.items():
        if output.file.endswith((".md", ".txt")) and output.sources:
            text = _CODE.sub("", output.body.decode())
            page = (
                route.removesuffix(".md").removesuffix("index") if route == "/index.md" else route.removesuffix(".md")
            )
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
        yield at_offset(
            source.name,
            source.text,
            place,
            f"a code fence ({found[1]}) was not read as one: is it closed, and indented as its list?",
        )


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
