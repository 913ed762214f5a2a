"""Pure. Markdown bodies with their Jinja expressions filled in: the text of the mirror and the source of the HTML."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import jinja2

from api.core.text import STOPWORDS
from site_build.cache import Cache
from site_build.engines import answered, consensus_signals_of
from site_build.examples import LANGUAGES, response_example, webhook_delivery
from site_build.faults import BuildFailed
from site_build.layout import as_json
from site_build.model import Article, Integration, Page, Site
from site_build.pictures import placeholder
from site_build.templating import environment, fault_of

FENCE_LANGUAGES = {
    ".py": "python",
    ".sh": "sh",
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".js": "js",
    ".mjs": "js",
    ".ts": "ts",
    ".toml": "toml",
}


class CannotExpand(jinja2.TemplateRuntimeError):
    """A function of the Markdown context was asked for something that does not exist."""


class Expander:
    """Fills in the bodies of one site's pages. Its environment is made when a page with expressions is first met."""

    def __init__(self, site: Site, cache: Cache) -> None:
        self._site, self._cache = site, cache
        self._sources = {page.url: page.source for page in site.all_pages}

    def expand(self, page: Page) -> str:
        """The page's Markdown. Raises BuildFailed that names the line of the expression that failed."""
        if not _has_code(page.body):
            return page.body.strip("\n")
        try:
            return self._environment.get_template(page.url).render({**self._shared, **_own(page)}).strip("\n")
        except Exception as error:
            raise BuildFailed([fault_of(error, self._sources, page.source)]) from error

    @cached_property
    def _environment(self) -> jinja2.Environment:
        # The blank lines keep the line numbers of the template those of the file.
        pages = [page for page in self._site.all_pages if _has_code(page.body)]
        texts = {page.url: "\n" * (page.body_line - 1) + page.body for page in pages}
        # "{#" begins an attribute list of a heading in Markdown, so comments look otherwise.
        return environment(texts, self._cache, comment_start_string="{*#", comment_end_string="#*}")

    @cached_property
    def _shared(self) -> dict[str, Any]:
        return _shared(self._site)


def _has_code(body: str) -> bool:
    return "{{" in body or "{%" in body or "{*#" in body


def fenced(language: str, text: str) -> str:
    """A fenced block that survives fences inside `text`."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def _shared(site: Site) -> dict[str, Any]:
    operations = site.contract.operations

    def operation(id: str) -> Any:
        if id not in operations:
            raise CannotExpand(f"{id!r} is not an operation; they are {', '.join(operations)}")
        return operations[id]

    def call(language: str) -> Callable[[str], str]:
        _, fence, make = LANGUAGES[language]
        return lambda id: fenced(fence, make(operation(id), site.base_url))

    def request(id: str) -> str:
        if operation(id).body is None:
            raise CannotExpand(f"{id!r} has no request body")
        return fenced("json", as_json(operation(id).example))

    def stopwords() -> str:
        return fenced("text", _wrapped(sorted(STOPWORDS), 76))

    return {
        "facts": site.facts,
        "site": site.facts.site,
        "base_url": site.base_url,
        "version": site.contract.version,
        "problems": list(site.problems.kinds.values()),
        "operations": operations,
        "request": request,
        "response": lambda id: fenced("json", as_json(response_example(operation(id), site.results))),
        "signals": lambda outputs, names: fenced("json", as_json(consensus_signals_of(outputs, names))),
        "stopwords": stopwords,
        "delivery": lambda: fenced("http", webhook_delivery(site.contract)),
        **{name: call(name) for name in LANGUAGES},
    }


def _own(page: Page) -> dict[str, Any]:
    """What only this page's text can use: files beside it, and its answer sets."""

    def code(name: str) -> str:
        if name not in page.files:
            raise CannotExpand(f"there is no file {name!r} beside {page.source.name}")
        suffix = name[name.rfind(".") :] if "." in name else ""
        language = FENCE_LANGUAGES.get(suffix, "text")
        if isinstance(page, Integration) and name == page.file:
            language = page.language
        return fenced(language, page.files[name])

    def include(name: str) -> str:
        if name not in page.files:
            raise CannotExpand(f"there is no file {name!r} beside {page.source.name}")
        return page.files[name].strip("\n")

    own: dict[str, Any] = {"code": code, "include": include, "page": page}
    if isinstance(page, Article):
        cases = page.cases

        def chosen(index: int) -> Any:
            if not 0 <= index < len(cases):
                raise CannotExpand(f"there is no answer set {index}; they are 0 to {len(cases) - 1}")
            return cases[index]

        def case(index: int) -> str:
            found = chosen(index)
            request, result = (fenced("json", as_json(value)) for value in (found.request, found.result))
            return f"Request:\n\n{request}\n\nResult:\n\n{result}"

        own |= {
            "cases": cases,
            "case": case,
            "picture": lambda index: placeholder(index, chosen(index)),
            "request_of": lambda index: fenced("json", as_json(chosen(index).request)),
            "result_of": lambda index: fenced("json", as_json(chosen(index).result)),
            "response_of": lambda index: fenced("json", as_json(answered(chosen(index).result))),
        }
    return own


def _wrapped(words: list[str], width: int) -> str:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".lstrip()
    return "\n".join(lines)
