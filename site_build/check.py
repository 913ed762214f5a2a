"""Pure. What must hold before dist/ is replaced: links lead somewhere, no id stands twice, nothing is left unread by
Markdown, and nothing is inline that the Content-Security-Policy would block."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from site_build.faults import Fault, at_offset, at_text
from site_build.kept import Row
from site_build.model import Output, Source

API_PATHS = re.compile(r"/(v1(/|$)|mcp$|\.well-known/jwks\.json$)")
"""Addresses that the server answers without a file of dist/."""

_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_LINK = re.compile(r'\s(?:href|src|action)="([^"]*)"')
_ID = re.compile(r'\sid="([^"]*)"')
_DATA = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.DOTALL)
_INLINE = re.compile(
    r'<(script)\b(?![^>]*\ssrc=)(?![^>]*type="application/ld\+json")|<(style)\b|\s(style|on[a-z]+)="'
    r'|\s(?:href|src)="\s*(javascript):'
)
_MARKDOWN_LINK = re.compile(r"\]\(([^()\s]+)\)")
_CODE_IN_HTML = re.compile(r"<(pre|code|script)\b.*?</\1>", re.DOTALL)
_UNREAD_FENCE = re.compile(r"^[ \t]*(?:<[a-z]+>)?(```|~~~)", re.MULTILINE)
_UNREAD_LINK = re.compile(r"\[[^\[\]<>]+\] ?\[[^\[\]<>]*\]")
_CODE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[^\n]*\n.*?^\1\2[ \t]*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Found:
    """What an output says of itself: the addresses it links to, its ids, the CSP sources of its data, its faults."""

    links: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    script_hashes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


def inspected(output: Output, body: bytes) -> Found:
    """What can be told from an output alone."""
    if output.type.startswith("text/html"):
        return _html(output, body.decode())
    if output.sources and output.file.endswith((".md", ".txt")):
        # Links to anchors of the page itself are the HTML's to answer for.
        links = _MARKDOWN_LINK.findall(_CODE.sub("", body.decode()))
        return Found(tuple(dict.fromkeys(link for link in links if not link.startswith("#"))))
    return Found()


def broken_links(outputs: Mapping[str, Output], rows: Mapping[str, Row], base_url: str) -> list[Fault]:
    """Every link of every output that leads nowhere. `outputs` are by route, `rows` by file."""
    ids = {route: rows[output.file].ids for route, output in outputs.items() if output.type.startswith("text/html")}
    wrong = {}
    for link in {link for row in rows.values() for link in row.links}:
        local = link.removeprefix(base_url) if link == base_url or link.startswith(base_url + "/") else link
        if message := _wrong(local, outputs, ids):
            wrong[link] = (local, message)
    if not wrong:
        return []
    return [
        _place(output, *wrong[link]) for output in outputs.values() for link in rows[output.file].links if link in wrong
    ]


def _wrong(link: str, outputs: Mapping[str, Output], ids: Mapping[str, Iterable[str]]) -> str | None:
    """What is wrong with an address; None when it leads somewhere or leaves the site."""
    if re.match(r"[a-z][a-z0-9+.-]*:|//", link):
        return None
    path, _, anchor = link.partition("#")
    path = path.partition("?")[0]
    if path and not path.startswith("/"):
        return f"the link {link} must begin with a slash"
    if API_PATHS.match(path):
        return None
    if (path or "/") not in outputs:
        return f"the link {link} leads nowhere: there is no page {path}"
    page = path.removesuffix(".md") or "/"
    if anchor and page in ids and anchor not in ids[page]:
        return f"the link {link} has no anchor: {page} has no id {anchor}"
    return None


def _html(output: Output, html: str) -> Found:
    tags = "".join(_TAG.findall(html))
    ids = _ID.findall(tags)
    links = dict.fromkeys(map(_unescaped, _LINK.findall(tags)))
    hashes = [base64.b64encode(hashlib.sha256(data.encode()).digest()).decode() for data in _DATA.findall(html)]
    faults = [*_double_ids(ids, output), *_inline(tags, output), *_unread(html, output)]
    known = set(ids)
    for link in links:
        if link.startswith("#") and link[1:] and link[1:] not in known:
            message = f"the link {link} has no anchor: {output.route} has no id {link[1:]}"
            faults.append(_place(output, link, message))
    return Found(
        tuple(link for link in links if link and not link.startswith("#")),
        tuple(ids),
        tuple(f"sha256-{digest}" for digest in hashes),
        tuple(faults),
    )


def _double_ids(ids: list[str], output: Output) -> Iterator[Fault]:
    if len(ids) == len(set(ids)):
        return
    for id in dict.fromkeys(ids):
        if ids.count(id) > 1:
            yield _place(output, id, f"the id {id} stands twice on the page")


def _inline(tags: str, output: Output) -> Iterator[Fault]:
    for match in _INLINE.finditer(tags):
        name = next(filter(None, match.groups()))
        message = f"inline {name} is blocked by the Content-Security-Policy; put it into a file of templates/static"
        needle = (
            name if name == "javascript" else f"<{name}" if name in ("script", "style") and match[3] is None else name
        )
        yield _place(output, needle, message)


def _unread(html: str, output: Output) -> Iterator[Fault]:
    """Markdown that went through as text."""
    fenced, linked = "```" in html or "~~~" in html, "][" in html or "] [" in html
    if not fenced and not linked:
        return
    text = _CODE_IN_HTML.sub("", html)
    if fenced and (found := _UNREAD_FENCE.search(text)):
        source = output.sources[0]
        fences = list(re.finditer(r"^[ \t]*(```|~~~)", source.text, re.MULTILINE))
        place = fences[-1].start() if fences else 0
        message = f"a code fence ({found[1]}) was not read as one: is it closed, and indented as its list?"
        yield at_offset(source.name, source.text, place, message)
    for link in _UNREAD_LINK.findall(text) if linked else ():
        yield _place(
            output, link, f"{link} is no link: nothing defines its reference; put it in backticks if it is code"
        )


def _place(output: Output, needle: str, message: str) -> Fault:
    """The first source that holds the words, the page's own first; else the beginning of that one."""
    for source in output.sources:
        if needle in source.text:
            return at_text(source.name, source.text, needle, message)
    first = output.sources[0] if output.sources else Source(output.file, "")
    return Fault(first.name, 1, 1, message)


def _unescaped(link: str) -> str:
    return link.replace("&amp;", "&")
