"""The reader of content/ and templates/: their bytes in, a `Site` out, or every fault of them."""

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from api import contract as contracts
from api import facts as fact_files
from api import problems as problem_files
from api.contract import Contract, tools
from api.yamlfile import YamlFault, read_text
from site_build import frontmatter
from site_build.cache import Cache
from site_build.engines import consensus_result
from site_build.examples import computed_results
from site_build.faults import BuildFailed, Fault, at_text
from site_build.model import Article, Case, Integration, Listing, Page, Site, Source
from site_build.stylesheet import squeeze
from site_build.tree import Sources, shown

T = TypeVar("T")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")
TEXT_TEMPLATES = (".html", ".txt", ".xml", ".md")


class Loader:
    """Gathers faults, so that one build names them all. Names of files are paths from content/."""

    def __init__(self, sources: Sources, cache: Cache) -> None:
        self.sources, self.cache = sources, cache
        self.content = sources.content_folder
        self.content_name, self.templates_name = shown(self.content), shown(sources.templates_folder)
        self.faults: list[Fault] = []
        self.layouts: frozenset[str] = frozenset()
        self.folders = _by_folder(sources.content)
        self.texts_of: dict[str, dict[str, str]] = {}

    def load(self, base_url: str, date: str) -> Site:
        """The whole site. An empty `base_url` means the one of site.yaml. Raises BuildFailed with all that is wrong."""
        facts = self._attempt(lambda: fact_files.load(self.content), "site.yaml")
        contract = self._attempt(lambda: contracts.load(self.content), "openapi.yaml")
        base_url = (base_url or (facts.base_url if facts else "https://example.invalid")).rstrip("/")
        if not _ADDRESS.fullmatch(base_url):
            self.faults.append(Fault("PUBLIC_BASE_URL", 1, 1, f"{base_url} is not an address like https://example.org"))
        problems = self._attempt(lambda: problem_files.load(self.content, base_url), "problems.yaml")
        templates = self._templates()
        data = [self._text(name) for name in ("openapi.yaml", "problems.yaml")]
        self.layouts = frozenset(name.removesuffix(".html") for name in templates if name.endswith(".html"))
        pages, integrations = self._pages(), self._integrations()
        articles = self._articles(contract)
        digest = self.sources.shared_digest(base_url)
        results = self._attempt(lambda: self._results(contract, digest), "openapi.yaml") if contract else None
        cards = self._cards(contract)
        if self.faults or facts is None or contract is None or problems is None or results is None:
            raise BuildFailed(self.faults)
        return Site(
            digest=digest,
            base_url=base_url,
            date=date,
            facts=facts,
            contract=contract,
            problems=problems,
            data=tuple(source for source in data if source),
            results=results,
            cards=cards,
            pages=tuple(sorted(pages, key=lambda page: page.url)),
            articles=tuple(sorted(articles, key=lambda page: (page.date, page.url), reverse=True)),
            integrations=tuple(sorted(integrations, key=lambda page: (page.order, page.url))),
            templates=templates,
            static={n: squeeze(b) if n.endswith(".css") else b for n, b in self._bytes("static").items()},
            root_files=self._bytes("root"),
        )

    def _attempt(self, read: Callable[[], T], file: str) -> T | None:
        """What `read` gives, or None and a fault. YAML faults name their place; other errors are about the file."""
        name = shown(self.content / file)
        try:
            return read()
        except YamlFault as error:
            place, _, _ = str(error).partition(f":{error.line}:{error.column}: ")
            self.faults.append(Fault(shown(Path(place)), error.line, error.column, error.what))
        except OSError as error:
            self.faults.append(Fault(shown(Path(error.filename or name)), 1, 1, error.strerror or "can't be read"))
        except KeyError as error:
            self.faults.append(Fault(name, 1, 1, f"the key {error} is missing"))
        except (TypeError, ValueError, AttributeError) as error:
            self.faults.append(Fault(name, 1, 1, f"is not as it should be: {error}"))
        return None

    def _results(self, contract: Contract, digest: bytes) -> Any:
        key = self.cache.key("results", digest)
        if (stored := self.cache.get(key)) is None:
            stored = json.dumps(computed_results(contract)).encode()
            self.cache.put(key, stored)
        return json.loads(stored)

    def _text(self, name: str) -> Source | None:
        shown_name = f"{self.content_name}/{name}"
        body = self.sources.content.get(name)
        if body is None:
            self.faults.append(Fault(shown_name, 1, 1, "there is no such file"))
            return None
        return self._decoded(shown_name, body)

    def _decoded(self, name: str, body: bytes) -> Source | None:
        try:
            return Source(name, body.decode().replace("\r\n", "\n"))
        except UnicodeDecodeError as error:
            self.faults.append(Fault(name, 1, 1, f"is not UTF-8: {error.reason} at byte {error.start}"))
        return None

    def _values(self, name: str, head: str, table: Mapping[str, frontmatter.Check], line: int) -> dict[str, Any] | None:
        key = self.cache.key("front matter", ",".join(table).encode(), head.encode())
        if (stored := self.cache.get(key)) is not None:
            values: dict[str, Any] = json.loads(stored)
            return values
        try:
            values = frontmatter.read(name, head, table, line)
        except BuildFailed as failed:
            self.faults += failed.faults
            return None
        self.cache.put(key, json.dumps(values).encode())
        return values

    def _document(
        self, name: str, table: Mapping[str, frontmatter.Check]
    ) -> tuple[Source, dict[str, Any], str, int] | None:
        source = self._text(name)
        if source is None:
            return None
        try:
            head, body, line = frontmatter.split(source.name, source.text)
        except BuildFailed as failed:
            self.faults += failed.faults
            return None
        values = self._values(source.name, head, table, 2)
        return (source, values, body, line) if values is not None else None

    def _pages(self) -> list[Page]:
        pages = []
        for name in self.sources.content:
            if name.startswith("pages/") and name.endswith(".md"):
                stem = name.removeprefix("pages/").removesuffix(".md")
                url = {"index": "/", "404": "/404.html"}.get(stem, f"/{stem}")
                pages += self._page(name, url, frontmatter.PAGE, "page", self._beside(name))
        if "changelog.md" in self.sources.content:
            pages += self._page("changelog.md", "/changelog", frontmatter.CHANGELOG, "changelog", {})
        return pages

    def _page(
        self, name: str, url: str, table: Mapping[str, frontmatter.Check], layout: str, files: Mapping[str, str]
    ) -> list[Page]:
        """The page of a file in a list, or an empty one and faults."""
        read = self._document(name, table)
        if read is None:
            return []
        source, values, body, line = read
        layout = values.get("layout", layout)
        if layout not in self.layouts:
            layout = self._no_layout(source, layout)
        return [
            Page(
                url=url,
                digest=_digest(url, layout, source.text, *_flat(files)),
                source=source,
                title=values["title"],
                description=values["description"].strip(),
                layout=layout,
                label=values.get("nav_label", values["title"]),
                body=body,
                body_line=line,
                listing=_listing(values.get("llms")),
                files=files,
            )
        ]

    def _no_layout(self, source: Source, layout: str) -> str:
        if layout == "changelog":  # an optional layout: the default one does
            return "page"
        self.faults.append(at_text(source.name, source.text, layout, f"there is no template {layout}.html"))
        return layout

    def _articles(self, contract: Contract | None) -> list[Article]:
        articles = []
        for name in sorted(self.folders.get("blog", ())):
            read = self._document(name, frontmatter.ARTICLE) if name.endswith(".md") else None
            if read is None:
                continue
            source, values, body, line = read
            cases: tuple[Case, ...] = ()
            set_text = ""
            if "cases" in values:
                sets = f"blog/{values['cases']}"
                cases = self._cases(sets, source, contract)
                set_text = self.sources.content.get(sets, b"").decode(errors="replace")
            url = f"/blog/{name.removeprefix('blog/').removesuffix('.md')}"
            files = self._beside(name) if "code(" in body or "include(" in body else {}
            articles.append(
                Article(
                    url=url,
                    digest=_digest(url, source.text, set_text, *_flat(files)),
                    source=source,
                    title=values["title"],
                    description=values["description"].strip(),
                    layout="article",
                    label=values["title"],
                    body=body,
                    body_line=line,
                    date=values["date"],
                    cases=cases,
                    files=files,
                )
            )
        return articles

    def _cases(self, name: str, article: Source, contract: Contract | None) -> tuple[Case, ...]:
        if name not in self.sources.content:
            own = name.removeprefix("blog/")
            self.faults.append(at_text(article.name, article.text, own, f"there is no file {own} beside it"))
            return ()
        source = self._text(name)
        rows = self._attempt(lambda: read_text(source.text, source.name), name) if source else None
        if source is None or rows is None:
            return ()
        if not isinstance(rows, list) or not all(
            isinstance(row, dict) and set(row) == {"name", "request"} for row in rows
        ):
            self.faults.append(Fault(source.name, 1, 1, "must be a list of mappings with name and request"))
            return ()
        cases: list[Case] = []
        body = contract.operations["consensus"].body if contract else None
        for row in rows:
            wrong = body.faults(row["request"]) if body else []
            if wrong:
                self.faults += [
                    at_text(source.name, source.text, row["name"], f"request of {row['name']!r}{w.path}: {w.message}")
                    for w in wrong
                ]
            else:
                cases.append(Case(row["name"], row["request"], consensus_result(row["request"])))
        return tuple(cases)

    def _integrations(self) -> list[Integration]:
        found = []
        for folder in sorted(name for name in self.folders if name.startswith("integrations/")):
            name = folder.removeprefix("integrations/")
            if "/" in name or name.startswith("_"):
                continue
            meta = self._text(f"{folder}/meta.yaml")
            page = self._text(f"{folder}/page.md")
            values = self._values(meta.name, meta.text, frontmatter.INTEGRATION, 1) if meta else None
            if meta is None or page is None or values is None:
                continue
            files = self._beside(f"{folder}/page.md")
            if values["file"] not in files:
                self.faults.append(
                    at_text(meta.name, meta.text, values["file"], f"there is no file {values['file']} beside it")
                )
            found.append(
                Integration(
                    url=f"/{folder}",
                    digest=_digest(folder, meta.text, page.text, *_flat(files)),
                    source=page,
                    title=values["title"],
                    description=values["description"].strip(),
                    layout="integration",
                    label=values["title"],
                    body=page.text,
                    body_line=1,
                    order=values["order"],
                    file=values["file"],
                    language=values["language"],
                    install=tuple(values.get("install", ())),
                    files=files,
                )
            )
        return found

    def _cards(self, contract: Contract | None) -> dict[str, Any]:
        """The words of content/cards; the agent card's skills must be the contract's tools."""
        known = list(tools(contract)) if contract else []
        found: dict[str, Any] = {}
        for name, table in (("mcp", frontmatter.MCP_CARD), ("agent", frontmatter.AGENT_CARD)):
            source = self._text(f"cards/{name}.yaml")
            found[name] = values = self._values(source.name, source.text, table, 1) if source else None
            if source and values and contract and sorted(values.get("skills", known)) != sorted(known):
                message = f"skills must be the tools: {', '.join(known)}"
                self.faults.append(at_text(source.name, source.text, "skills", message))
        return found

    def _beside(self, name: str) -> dict[str, str]:
        """The texts that `code()` and `include()` can show: files in the same folder that are no page or meta data."""
        folder = name.rpartition("/")[0]
        if folder not in self.texts_of:
            texts = self.texts_of[folder] = {}
            for other in self.folders[folder]:
                if not other.endswith((".md", "meta.yaml")):
                    with contextlib.suppress(UnicodeDecodeError):
                        texts[other.rpartition("/")[2]] = self.sources.content[other].decode()
        return self.texts_of[folder]

    def _templates(self) -> dict[str, Source]:
        """Texts by the names that templates call each other by."""
        found = {}
        for name, body in self.sources.templates.items():
            own = name.endswith(TEXT_TEMPLATES) and not name.startswith(("static/", "root/"))
            if own and (source := self._decoded(f"{self.templates_name}/{name}", body)):
                found[name] = source
        return found

    def _bytes(self, folder: str) -> dict[str, bytes]:
        files = self.sources.templates.items()
        return {name.removeprefix(f"{folder}/"): body for name, body in files if name.startswith(f"{folder}/")}


def _by_folder(files: Mapping[str, bytes]) -> dict[str, list[str]]:
    folders: dict[str, list[str]] = {}
    for name in files:
        folders.setdefault(name.rpartition("/")[0], []).append(name)
    return folders


def _flat(files: Mapping[str, str]) -> list[str]:
    return [part for pair in files.items() for part in pair]


def _digest(*parts: str) -> bytes:
    return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).digest()


def _listing(value: Mapping[str, Any] | None) -> Listing | None:
    return Listing(value["section"], value["note"], value.get("order", 0)) if value else None
