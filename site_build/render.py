"""Pure. A `Site` into the files of dist/: {route: Output}. Reads no file and knows no time but the site's."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import jinja2
from markupsafe import Markup

from site_build import machine, pictures
from site_build.cache import Cache
from site_build.cards import cards
from site_build.faults import BuildFailed, Fault
from site_build.markdown import Converted, Converter, absolute, deeper, inline, mirror, tidy
from site_build.model import Article, Output, Page, Site, Source
from site_build.prose import Expander, fenced
from site_build.reference import reference
from site_build.templating import environment, fault_of

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
WORDS_A_MINUTE = 220
FEED_ENTRIES = 20


def render(site: Site, cache: Cache) -> dict[str, Output]:
    """Every route of the site. Raises BuildFailed with the faults of all pages together."""
    return _Renderer(site, cache).run()


class _Renderer:
    def __init__(self, site: Site, cache: Cache) -> None:
        self.site = site
        self.cache = cache
        self.converter = Converter(cache)
        self.groups = reference(site)
        self.outputs: dict[str, Output] = {}
        self.faults: list[Fault] = []
        self.texts: dict[str, str] = {}
        self.converted: dict[str, Converted] = {}
        self.assets = {name: _hashed(name, body) for name, body in site.static.items()}
        self.environment = self._environment()

    def run(self) -> dict[str, Output]:
        self._assets()
        self._prose()
        if self.faults:
            raise BuildFailed(self.faults)
        for page in self.site.all_pages:
            self._page(page)
        self._machine()
        if self.faults:
            raise BuildFailed(self.faults)
        return dict(sorted(self.outputs.items()))

    def _environment(self) -> jinja2.Environment:
        made = environment(
            {name: source.text for name, source in self.site.templates.items()},
            self.cache,
            autoescape=jinja2.select_autoescape(("html", "xml")),
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters.update(
            inline=lambda text: _markup(inline(text)),
            markdown=lambda text: _markup(self.converter.convert(text).html),
            fenced=lambda text, language: fenced(language, text),
            highlight=self._highlight,
            deeper=deeper,
            flat=lambda text: " ".join(str(text).split()),
            cell=lambda text: " ".join(str(text).split()).replace("|", "\\|"),
        )
        site = self.site
        made.globals.update(
            site=site,
            facts=site.facts,
            settings=site.facts.site,
            base_url=site.base_url,
            version=site.contract.version,
            problems=list(site.problems.kinds.values()),
            groups=self.groups,
            sections=machine.llms_sections(site),
            guides=_guides(site),
            asset=lambda name: f"/static/{self.assets[name]}",
            thumbnail=lambda case: _markup(pictures.thumbnail(case)),
        )
        return made

    def _highlight(self, code: str, language: str) -> Markup:
        """A code block. Cached by hand: it does not pass through Markdown."""
        key = self.cache.key("block", f"{language}\n{code}".encode())
        html = (self.cache.get(key) or b"").decode()
        if not html:
            from site_build.highlight import block

            html = block(code, language)
            self.cache.put(key, html.encode())
        return _markup(html)

    def _assets(self) -> None:
        for name, body in self.site.static.items():
            file = f"static/{self.assets[name]}"
            self._add(f"/{file}", Output(file, body, _type(name), "asset"))
        for name, body in self.site.root_files.items():
            self._add(f"/{name}", Output(name, body, _type(name), "page"))

    def _prose(self) -> None:
        """Fills in and converts every body first: lists, searches and feeds need all of them."""
        expander = Expander.of(self.site, self.cache)
        for page in self.site.all_pages:
            try:
                text = expander.expand(page)
                converted = self.converter.convert(text)
            except BuildFailed as failed:
                self.faults += failed.faults
                continue
            self.texts[page.url] = text
            if isinstance(page, Article):
                converted = Converted(pictures.in_html(converted.html, page.cases), converted.toc)
            self.converted[page.url] = converted

    def _page(self, page: Page) -> None:
        converted = self.converted[page.url]
        data = machine.structured_data(page, self.site)
        title, html = _own_title(converted.html, page.title)
        file = "index.html" if page.url == "/" else page.url.lstrip("/").removesuffix(".html") + ".html"
        mirror_route = "" if page.layout == "notfound" else "/" + file.removesuffix(".html") + ".md"
        context: dict[str, Any] = {
            "page": page,
            "heading": _markup(title),
            "body": _markup(html),
            "parts": [_markup(part) for part in _parts(html)],
            "toc": converted.toc,
            "mirror": mirror_route,
            "json_ld": _markup(data),
            "minutes": self._minutes(page),
            "minutes_of": self._minutes,
        }
        html_text = self._template(f"{page.layout}.html", page.source, context)
        sources = (page.source, *self._template_sources(page.layout), *self.site.data)
        hashes = (machine.script_hash(data),)
        self._add(page.url, Output(file, html_text.encode(), TYPES[".html"], "page", mirror_route, hashes, sources))
        if mirror_route:
            text = self._mirror(page)
            self._add(mirror_route, Output(mirror_route[1:], text.encode(), TYPES[".md"], "page", sources=sources))

    def _mirror(self, page: Page) -> str:
        name = f"{page.layout}.md" if f"{page.layout}.md" in self.site.templates else "page.md"
        context = {"page": page, "body": self._clean(page), "minutes": self._minutes(page)}
        return absolute(tidy(self._template(name, page.source, context)), self.site.base_url, page.url)

    def _clean(self, page: Page) -> str:
        """The page's Markdown as readers get it, without a title of its own."""
        text = mirror(self.texts[page.url])
        if isinstance(page, Article):
            text = pictures.in_text(text, page.cases)
        return re.sub(r"\A# [^\n]*\n+", "", text).strip("\n")

    def _machine(self) -> None:
        site = self.site
        self._add("/openapi.json", Output("openapi.json", machine.openapi_json(site), TYPES[".json"], "discovery"))
        self._add(
            "/search.json", Output("search.json", machine.search_index(site, self.converted), TYPES[".json"], "page")
        )
        for route, output in cards(site).items():
            self._add(route, output)
        bodies = {page.url: absolute(self._clean(page), site.base_url, page.url) for page in site.all_pages}
        common: dict[str, Any] = {"bodies": bodies}
        self._text_file("/llms.txt", "llms.txt", common)
        self._text_file("/llms-full.txt", "llms-full.txt", common, linked=True)
        self._text_file("/robots.txt", "robots.txt", common)
        self._text_file("/sitemap.xml", "sitemap.xml", {"urls": self._sitemap()})
        self._text_file("/blog/feed.xml", "feed.xml", {"entries": self._feed()})

    def _text_file(self, route: str, template: str, context: Mapping[str, Any], linked: bool = False) -> None:
        source = self.site.templates.get(template, Source(template, ""))
        text = self._template(template, source, context)
        text = tidy(text) if template.endswith(".txt") else text.strip("\n") + "\n"
        if linked:
            text = absolute(text, self.site.base_url)
        suffix = template[template.rfind(".") :]
        kind = "application/atom+xml; charset=utf-8" if template == "feed.xml" else TYPES[suffix]
        cache = "discovery" if route.startswith("/llms") else "page"
        sources = (source, *(page.source for page in self.site.all_pages), *self.site.data)
        self._add(route, Output(route[1:], text.encode(), kind, cache, sources=sources))

    def _sitemap(self) -> list[tuple[str, str]]:
        """Addresses and days of change: an article's own date, else the date that the build was given."""
        pages = [page for page in self.site.all_pages if page.layout != "notfound"]
        return [(page.url, page.date if isinstance(page, Article) else self.site.date) for page in pages]

    def _feed(self) -> list[tuple[Article, str]]:
        """The newest articles with their HTML, links made absolute."""
        base = self.site.base_url
        return [
            (article, re.sub(r'(<[^>]*\s(?:href|src)=")/', rf"\1{base}/", self.converted[article.url].html))
            for article in self.site.articles[:FEED_ENTRIES]
        ]

    def _minutes(self, page: Page) -> int:
        """Reading time: the words of the page, code included, in whole minutes, at least one."""
        return max(1, round(len(self.texts[page.url].split()) / WORDS_A_MINUTE))

    def _template(self, name: str, source: Source, context: Mapping[str, Any]) -> str:
        try:
            return self.environment.get_template(name).render(context)
        except Exception as error:
            if isinstance(error, jinja2.TemplateNotFound):
                self.faults.append(Fault(source.name, 1, 1, f"there is no template {error.message}"))
            else:
                self.faults.append(fault_of(error, self.site.templates, source))
            return ""

    def _template_sources(self, layout: str) -> tuple[Source, ...]:
        own = [
            f"{layout}.html",
            *sorted(n for n in self.site.templates if n.endswith(".html") and n != f"{layout}.html"),
        ]
        return tuple(self.site.templates[name] for name in own if name in self.site.templates)

    def _add(self, route: str, output: Output) -> None:
        if route in self.outputs:
            name = output.sources[0].name if output.sources else output.file
            self.faults.append(Fault(name, 1, 1, f"two files want the address {route}"))
        self.outputs[route] = output


def _guides(site: Site) -> list[Page]:
    """What the documentation's navigation lists: the reference, its guides and the errors, as llms.txt orders them."""
    pages = [page for page in site.pages if page.url.startswith("/docs") or page.url == "/errors"]
    return sorted(pages, key=lambda page: (page.listing.order if page.listing else 999, page.url))


def _markup(html: str) -> Markup:
    """HTML of our own making, or from Markdown that we trust, which templates must not escape again."""
    return Markup(html)  # noqa: S704 - its callers escape what is not theirs


def _hashed(name: str, body: bytes) -> str:
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}.{hashlib.sha256(body).hexdigest()[:10]}{dot}{suffix}"


def _type(name: str) -> str:
    return TYPES.get(name[name.rfind(".") :], "application/octet-stream")


def _own_title(html: str, title: str) -> tuple[str, str]:
    """The heading that the page shows, and the HTML without it: its own first-level heading, else its title."""
    match = re.match(r"\s*<h1[^>]*>(.*?)</h1>\s*", html, re.DOTALL)
    if match:
        return match[1], html[match.end() :]
    return str(Markup.escape(title)), html


def _parts(html: str) -> list[str]:
    """The HTML cut before each second-level heading; the first part has none."""
    return re.split(r"(?=<h2[ >])", html)
