"""Pure. The texts of a site's pages in their forms: filled in, as HTML, as the mirror's Markdown, and in short. Each is
made when it is asked for and kept in the cache, so that a list of a thousand pages needs none of their bodies."""

import json
import re
from dataclasses import dataclass

from site_build import pictures
from site_build.cache import Cache
from site_build.markdown import Converted, Converter, Entry, absolute, mirror
from site_build.model import Article, Page, Site
from site_build.prose import Expander

WORDS_A_MINUTE = 220


@dataclass(frozen=True, slots=True)
class Brief:
    """What lists say of a page: its headings, and its reading time in whole minutes, at least one."""

    toc: tuple[Entry, ...]
    minutes: int


class Texts:
    """The texts of one site. Every method raises BuildFailed when the page's own expressions are at fault."""

    def __init__(self, site: Site, cache: Cache, converter: Converter) -> None:
        self._site, self._cache, self._converter = site, cache, converter
        self._expander = Expander(site, cache)
        self._last = ("", "")
        self._briefs: dict[str, Brief] = {}
        self.by_url = {page.url: page for page in site.all_pages}

    def filled(self, page: Page) -> str:
        """The page's Markdown with its expressions filled in."""
        if self._last[0] != page.url:  # its HTML and its mirror are made one after the other
            self._last = (page.url, self._expander.expand(page))
        return self._last[1]

    def html(self, page: Page) -> Converted:
        """The page's body as HTML, pictures drawn."""
        converted = self._converter.convert(self.filled(page))
        if isinstance(page, Article):
            return Converted(pictures.in_html(converted.html, page.cases), converted.toc)
        return converted

    def brief(self, page: Page) -> Brief:
        """The page in short. Code counts as words too."""
        if page.url in self._briefs:
            return self._briefs[page.url]
        key = self._cache.key("brief", self._site.digest, page.digest)
        if (stored := self._cache.get(key)) is None:
            toc = [(entry.level, entry.id, entry.text) for entry in self.html(page).toc]
            minutes = max(1, round(len(self.filled(page).split()) / WORDS_A_MINUTE))
            stored = json.dumps([toc, minutes]).encode()
            self._cache.put(key, stored)
        rows, minutes = json.loads(stored)
        made = self._briefs[page.url] = Brief(tuple(Entry(*row) for row in rows), minutes)
        return made

    def clean(self, page: Page) -> str:
        """The page's Markdown as readers get it, without a title of its own."""
        text = mirror(self.filled(page))
        if isinstance(page, Article):
            text = pictures.in_text(text, page.cases)
        return re.sub(r"\A# [^\n]*\n+", "", text).strip("\n")


class Bodies:
    """The clean Markdown of pages by URL with absolute links, for templates that put many of them into one file."""

    def __init__(self, texts: Texts, site: Site, cache: Cache) -> None:
        self._texts, self._site, self._cache = texts, site, cache

    def __getitem__(self, url: str) -> str:
        page = self._texts.by_url[url]
        key = self._cache.key("body", self._site.digest, page.digest)
        if (stored := self._cache.get(key)) is None:
            stored = absolute(self._texts.clean(page), self._site.base_url, page.url).encode()
            self._cache.put(key, stored)
        return stored.decode()
