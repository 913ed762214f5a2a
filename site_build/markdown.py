"""Markdown to HTML. One converter for the whole build, reset per page, and imported only when the cache misses."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from site_build.cache import Cache

_HEADING = re.compile(r'<h([23]) id="([^"]+)">(.*?)</h\1>')
_ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*[#.][^{}\n]*\}[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[^\n]*\n.*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a table of contents."""

    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Converted:
    """The HTML of a Markdown text and its headings of levels 2 and 3, in order."""

    html: str
    toc: tuple[Entry, ...]


class Converter:
    """Turns trusted Markdown into HTML, through the cache."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def convert(self, text: str) -> Converted:
        """The HTML. Headings have stable ids and a link to themselves; tables and code can be scrolled by keyboard."""
        key = self._cache.key("markdown", text.encode())
        if stored := self._cache.get(key):
            html, toc = json.loads(stored)
        else:
            html, toc = self._run(text)
            self._cache.put(key, json.dumps([html, toc]).encode())
        return Converted(html, tuple(Entry(*entry) for entry in toc))

    def _run(self, text: str) -> tuple[str, list[tuple[int, str, str]]]:
        converter = self._converter
        converter.reset()
        html = converter.convert(text)
        toc = [(int(level), id, _plain(inner)) for level, id, inner in _HEADING.findall(html)]
        html = _HEADING.sub(_with_link, html)
        html = html.replace("<th></th>", "<td></td>")  # a header without a name is none
        html = html.replace("<table>", '<div class="table" tabindex="0"><table>').replace("</table>", "</table></div>")
        return html, toc

    @cached_property
    def _converter(self) -> Any:
        import markdown

        from site_build.highlight import block

        def fence(source: str, language: str, *_: Any, **__: Any) -> str:
            return block(source, language)

        return markdown.Markdown(
            extensions=["tables", "attr_list", "footnotes", "toc", "pymdownx.superfences"],
            extension_configs={
                "toc": {"toc_depth": "2-3"},
                "pymdownx.superfences": {"custom_fences": [{"name": "*", "class": "", "format": fence}]},
            },
            output_format="html",
        )


def mirror(text: str) -> str:
    """The Markdown that readers get: the source without attribute lists."""
    return _outside_fences(text, lambda part: _ATTRIBUTES.sub("", part))


def absolute(text: str, base_url: str, page: str = "") -> str:
    """The Markdown with its links absolute: those that begin with a slash, and those to anchors of `page` itself."""

    def change(part: str) -> str:
        part = re.sub(r"\]\((/[^)\s]*)", lambda m: f"]({base_url}{m[1]}", part)
        return re.sub(r"\]\((#[^)\s]*)", lambda m: f"]({base_url}{page}{m[1]}", part) if page else part

    return _outside_fences(text, change)


def deeper(text: str, levels: int) -> str:
    """The Markdown with every heading that many levels down."""
    return _outside_fences(
        text, lambda part: re.sub(r"(?m)^(#{1,6}) ", lambda m: f"{'#' * min(6, len(m[1]) + levels)} ", part)
    )


def tidy(text: str) -> str:
    """The Markdown with one blank line where templates left several, and one line break at its end."""
    return _outside_fences(text, lambda part: re.sub(r"\n{3,}", "\n\n", part)).strip("\n") + "\n"


def inline(text: str) -> str:
    """A line of YAML prose as HTML: code in backticks and links, nothing else."""
    html = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(" ".join(text.split()), quote=False))
    return re.sub(r"\[([^\]]+)\]\(([^)\s\"]+)\)", r'<a href="\2">\1</a>', html)


def _outside_fences(text: str, change: Any) -> str:
    if "```" not in text and "~~~" not in text:
        return str(change(text))
    parts, at = [], 0
    for match in _FENCE.finditer(text):
        parts += [change(text[at : match.start()]), match[0]]
        at = match.end()
    return "".join([*parts, change(text[at:])])


def _plain(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html)


def _with_link(match: re.Match[str]) -> str:
    level, id, inner = match.groups()
    label = _plain(inner).replace('"', "&quot;")
    return f'<h{level} id="{id}">{inner} <a class="anchor" href="#{id}" aria-label="Link to {label}"></a></h{level}>'
