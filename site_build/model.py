"""Pure. What the site is made of, as it was read: frozen, and nothing rendered yet."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.contract import Contract
from api.facts import Facts
from api.problems import ProblemTable


@dataclass(frozen=True, slots=True)
class Source:
    """A file as text. `name` is how faults call it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Where and how llms.txt lists a page. Pages of a section stand by `order`, then by URL."""

    section: str
    note: str
    order: int


@dataclass(frozen=True, slots=True)
class Case:
    """One answer set of an article, and what the API answers to it."""

    name: str
    request: Mapping[str, Any]
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of the site. `url` begins with a slash; `body` is Markdown with Jinja expressions, from `body_line` on.

    `layout` names a template. `label` is the short name for lists. `files` are the texts beside the source, by name.
    `digest` is a hash of all the above, so of all that the page has of its own.
    """

    url: str
    digest: bytes
    source: Source
    title: str
    description: str
    layout: str
    label: str
    body: str
    body_line: int
    listing: Listing | None = None
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Article(Page):
    """A page of the blog. `date` is YYYY-MM-DD."""

    date: str
    cases: tuple[Case, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration(Page):
    """A runnable example and its page. `file` is one of `files`; `install` holds shell lines."""

    order: int
    file: str
    language: str
    install: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """Everything that a build renders. `articles` stand newest first, `integrations` in their order.

    `date` (YYYY-MM-DD or "") is the only "now" that the site knows. `results` are the computed 200 bodies by operation
    id. `data` are the texts of openapi.yaml and problems.yaml, in this order, to point into. `cards` are the words of
    content/cards by their names without .yaml. `digest` is a hash of all this but the date, the pages, the articles and
    the integrations.
    """

    digest: bytes
    base_url: str
    date: str
    facts: Facts
    contract: Contract
    problems: ProblemTable
    data: tuple[Source, ...]
    results: Mapping[str, Any]
    cards: Mapping[str, Any]
    pages: tuple[Page, ...]
    articles: tuple[Article, ...]
    integrations: tuple[Integration, ...]
    templates: Mapping[str, Source]
    static: Mapping[str, bytes]
    root_files: Mapping[str, bytes]

    @property
    def all_pages(self) -> tuple[Page, ...]:
        """Pages, then integrations, then articles."""
        return (*self.pages, *self.integrations, *self.articles)


@dataclass(frozen=True, slots=True)
class Output:
    """One file of dist/ and how it is served. `make` gives its bytes, always the same ones for one `key`.

    `cache` is page, asset or discovery; `route` its address; `markdown` the route of the page's mirror. `sources` are
    the files whose text may hold what is wrong with the output, the likeliest first.
    """

    file: str
    route: str
    type: str
    cache: str
    key: bytes
    make: Callable[[], bytes]
    markdown: str = ""
    sources: tuple[Source, ...] = ()
