"""Pure. A `Site` into the files of dist/: {route: Output}. Reads no file and knows no time but the site's.

An output is a promise: its key says what it is made of, its bytes are made when they are asked for.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from markupsafe import Markup

from site_build import machine
from site_build.cache import Cache
from site_build.cards import cards
from site_build.faults import BuildFailed, Fault
from site_build.markdown import Converter, absolute, tidy
from site_build.model import Article, Output, Page, Site, Source
from site_build.needs import ANYTHING, Needs
from site_build.pagetemplates import page_environment
from site_build.templating import fault_of
from site_build.texts import Bodies, Texts

TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml; charset=utf-8",
    ".json": "application/json",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/vnd.microsoft.icon",
    ".woff2": "font/woff2",
}
FEED_ENTRIES = 20
_OF_ALL_PAGES = frozenset({"site", "sections", "minutes_of", "bodies", ANYTHING})
"""Names by which a template sees other pages than its own."""


def render(site: Site, cache: Cache) -> dict[str, Output]:
    """Every route of the site, sorted. Raises BuildFailed when two files want one; what is wrong with a page shows when
    its output is made."""
    return _Renderer(site, cache).run()


class _Renderer:
    def __init__(self, site: Site, cache: Cache) -> None:
        self.site, self.cache = site, cache
        self.outputs: dict[str, Output] = {}
        self.faults: list[Fault] = []
        self.assets = {name: _hashed(name, body) for name, body in site.static.items()}
        converter = Converter(cache)
        self.texts = Texts(site, cache, converter)
        self.guides = _guides(site)
        self.environment = page_environment(site, cache, converter, self.assets, self.guides)
        self.needs = Needs(site.templates)
        self.all_pages = _digest(*(page.digest for page in site.all_pages))
        self.all_guides = _digest(*(page.digest for page in self.guides))
        self.html_templates = [name for name in site.templates if name.endswith(".html")]

    def run(self) -> dict[str, Output]:
        for name, body in self.site.static.items():
            self._bytes(f"/static/{self.assets[name]}", body, "asset")
        for name, body in self.site.root_files.items():
            self._bytes(f"/{name}", body, "page")
        for page in self.site.all_pages:
            self._page(page)
        self._machine()
        if self.faults:
            raise BuildFailed(self.faults)
        return dict(sorted(self.outputs.items()))

    def _bytes(self, route: str, body: bytes, cache: str) -> None:
        suffix = route[route.rfind(".") :]
        kind = TYPES.get(suffix, "application/octet-stream")
        self._add(Output(route[1:], route, kind, cache, _digest(body), lambda: body))

    def _page(self, page: Page) -> None:
        file = "index.html" if page.url == "/" else page.url.lstrip("/").removesuffix(".html") + ".html"
        mirror = "" if page.layout == "notfound" else "/" + file.removesuffix(".html") + ".md"
        layout = f"{page.layout}.html"
        others = [name for name in self.html_templates if name != layout]
        templates = [self.site.templates[name] for name in (layout, *others) if name in self.site.templates]
        sources = (page.source, *templates, *self.site.data)
        make = partial(self._html, page, layout, mirror)
        self._add(Output(file, page.url, TYPES[".html"], "page", self._key(layout, page), make, mirror, sources))
        if mirror:
            template = f"{page.layout}.md" if f"{page.layout}.md" in self.site.templates else "page.md"
            make = partial(self._mirror, page, template)
            key = self._key(template, page)
            self._add(Output(mirror[1:], mirror, TYPES[".md"], "page", key, make, sources=sources))

    def _key(self, template: str, page: Page) -> bytes:
        """What decides a page: the site's own, the page's own, and other pages where its template can see them."""
        words = self.needs.of(template)
        others = self.all_pages if words & _OF_ALL_PAGES else self.all_guides if "guides" in words else b""
        return self.cache.key(template, self.site.digest, page.digest, others)

    def _html(self, page: Page, template: str, mirror: str) -> bytes:
        converted = self.texts.html(page)
        title, html = _own_title(converted.html, page.title)
        context: dict[str, Any] = {
            "heading": _markup(title),
            "body": _markup(html),
            "parts": [_markup(part) for part in _parts(html)],
            "toc": converted.toc,
            "mirror": mirror,
            "json_ld": _markup(machine.structured_data(page, self.site)),
        }
        return self._template(template, page.source, page, context).encode()

    def _mirror(self, page: Page, template: str) -> bytes:
        text = self._template(template, page.source, page, {"body": self.texts.clean(page)})
        return absolute(tidy(text), self.site.base_url, page.url).encode()

    def _machine(self) -> None:
        site, texts = self.site, self.texts
        openapi, search = partial(machine.openapi_json, site), partial(machine.search_index, site, texts)
        self._add(Output("openapi.json", "/openapi.json", TYPES[".json"], "discovery", site.digest, openapi))
        self._add(Output("search.json", "/search.json", TYPES[".json"], "page", self.all_pages + site.digest, search))
        for output in cards(site):
            self._add(output)
        self._text("llms.txt", "discovery", dict)
        self._text("llms-full.txt", "discovery", lambda: {"bodies": Bodies(texts, site, self.cache)}, linked=True)
        self._text("robots.txt", "page", dict)
        self._text("sitemap.xml", "page", lambda: {"urls": self._sitemap()})
        self._text("feed.xml", "page", lambda: {"entries": self._feed()}, "blog/feed.xml")

    def _text(
        self, template: str, cache: str, context: Callable[[], dict[str, Any]], file: str = "", linked: bool = False
    ) -> None:
        file = file or template
        source = self.site.templates.get(template, Source(template, ""))
        kind = "application/atom+xml; charset=utf-8" if template == "feed.xml" else TYPES[file[file.rfind(".") :]]
        key = self.cache.key(template, self.site.digest, self.all_pages, self.site.date.encode())
        sources = (source, *(page.source for page in self.site.all_pages), *self.site.data)

        def make() -> bytes:
            text = self._template(template, source, None, context())
            text = tidy(text) if template.endswith(".txt") else text.strip("\n") + "\n"
            return (absolute(text, self.site.base_url) if linked else text).encode()

        self._add(Output(file, f"/{file}", kind, cache, key, make, sources=sources))

    def _sitemap(self) -> list[tuple[str, str]]:
        """Addresses and days of change: an article's own date, else the date that the build was given."""
        pages = [page for page in self.site.all_pages if page.layout != "notfound"]
        return [(page.url, page.date if isinstance(page, Article) else self.site.date) for page in pages]

    def _feed(self) -> list[tuple[Article, str]]:
        """The newest articles with their HTML, links made absolute."""
        base = self.site.base_url
        return [
            (article, re.sub(r'(<[^>]*\s(?:href|src)=")/', rf"\1{base}/", self.texts.html(article).html))
            for article in self.site.articles[:FEED_ENTRIES]
        ]

    def _template(self, name: str, source: Source, page: Page | None, context: dict[str, Any]) -> str:
        """Raises BuildFailed with the place in the template, or in what it calls."""
        if page is not None:
            context |= {"page": page, "minutes": self._minutes(page)}
        try:
            return self.environment.get_template(name).render(context | {"minutes_of": self._minutes})
        except BuildFailed:
            raise
        except Exception as error:
            raise BuildFailed([fault_of(error, self.site.templates, source)]) from error

    def _minutes(self, page: Page) -> int:
        return self.texts.brief(page).minutes

    def _add(self, output: Output) -> None:
        if output.route in self.outputs:
            name = output.sources[0].name if output.sources else output.file
            self.faults.append(Fault(name, 1, 1, f"two files want the address {output.route}"))
        self.outputs[output.route] = output


def _guides(site: Site) -> list[Page]:
    """What the documentation's navigation lists: the reference, its guides and the errors, as llms.txt orders them."""
    pages = [
        page for page in site.pages if page.url.startswith("/docs") or page.url in ("/drift", "/receipts", "/errors")
    ]
    return sorted(pages, key=lambda page: (page.listing.order if page.listing else 999, page.url))


def _markup(html: str) -> Markup:
    """HTML of our own making, or from Markdown that we trust, which templates must not escape again."""
    return Markup(html)  # noqa: S704 - its callers escape what is not theirs


def _digest(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).digest()


def _hashed(name: str, body: bytes) -> str:
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}.{hashlib.sha256(body).hexdigest()[:10]}{dot}{suffix}"


def _own_title(html: str, title: str) -> tuple[str, str]:
    """The heading that the page shows, and the HTML without it: its own first-level heading, else its title."""
    match = re.match(r"\s*<h1[^>]*>(.*?)</h1>\s*", html, re.DOTALL)
    if match:
        return match[1], html[match.end() :]
    return str(Markup.escape(title)), html


def _parts(html: str) -> list[str]:
    """The HTML cut before each second-level heading; the first part has none."""
    return re.split(r"(?=<h2[ >])", html)
