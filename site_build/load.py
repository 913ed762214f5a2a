"""The only reader of content/ and templates/: files in, a `Site` out, or every fault of them."""

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from api import contract as contracts
from api import facts as fact_files
from api import problems as problem_files
from api.contract import Contract, tools
from api.yamlfile import YamlFault, read_text
from site_build import frontmatter, tree
from site_build.engines import consensus_result
from site_build.examples import computed_results
from site_build.faults import BuildFailed, Fault, at_text
from site_build.model import Article, Case, Integration, Listing, Page, Site, Source
from site_build.stylesheet import squeeze
from site_build.tree import shown

T = TypeVar("T")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")
TEXT_TEMPLATES = (".html", ".txt", ".xml", ".md")


class Loader:
    """Gathers faults, so that one build names them all."""

    def __init__(self, content: Path, templates: Path) -> None:
        self.content, self.templates = content, templates
        self.faults: list[Fault] = []
        self.layouts: frozenset[str] = frozenset()
        self.folders: dict[Path, dict[str, str]] = {}

    def load(self, base_url: str, date: str) -> Site:
        """The whole site. An empty `base_url` means the one of site.yaml. Raises BuildFailed with all that is wrong."""
        facts = self._attempt(lambda: fact_files.load(self.content), "site.yaml")
        contract = self._attempt(lambda: contracts.load(self.content), "openapi.yaml")
        base_url = (base_url or (facts.base_url if facts else "https://example.invalid")).rstrip("/")
        if not _ADDRESS.fullmatch(base_url):
            self.faults.append(Fault("PUBLIC_BASE_URL", 1, 1, f"{base_url} is not an address like https://example.org"))
        problems = self._attempt(lambda: problem_files.load(self.content, base_url), "problems.yaml")
        templates = self._templates()
        data = [self._text(self.content / name) for name in ("openapi.yaml", "problems.yaml")]
        self.layouts = frozenset(name.removesuffix(".html") for name in templates if name.endswith(".html"))
        pages, integrations = self._pages(), self._integrations()
        articles = self._articles(contract)
        results = self._attempt(lambda: computed_results(contract), "openapi.yaml") if contract else None
        cards = self._cards(contract)
        if self.faults or facts is None or contract is None or problems is None or results is None:
            raise BuildFailed(self.faults)
        return Site(
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

    def _text(self, path: Path) -> Source | None:
        try:
            return Source(shown(path), path.read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            self.faults.append(Fault(shown(path), 1, 1, f"is not UTF-8: {error.reason} at byte {error.start}"))
        except OSError as error:
            self.faults.append(Fault(shown(path), 1, 1, error.strerror or "can't be read"))
        return None

    def _values(self, name: str, head: str, table: Mapping[str, frontmatter.Check], line: int) -> dict[str, Any] | None:
        try:
            return frontmatter.read(name, head, table, line)
        except BuildFailed as failed:
            self.faults += failed.faults
            return None

    def _document(
        self, path: Path, table: Mapping[str, frontmatter.Check]
    ) -> tuple[Source, dict[str, Any], str, int] | None:
        source = self._text(path)
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
        pages, top = [], self.content / "pages"
        for path in tree.files(top):
            if path.suffix == ".md":
                name = path.relative_to(top).with_suffix("").as_posix()
                url = {"index": "/", "404": "/404.html"}.get(name, f"/{name}")
                pages += self._page(path, url, frontmatter.PAGE, "page", self._beside(path))
        changelog = self.content / "changelog.md"
        if changelog.exists():
            pages += self._page(changelog, "/changelog", frontmatter.CHANGELOG, "changelog", {})
        return pages

    def _page(
        self, path: Path, url: str, table: Mapping[str, frontmatter.Check], layout: str, files: Mapping[str, str]
    ) -> list[Page]:
        """The page at `path` in a list, or an empty one and faults."""
        read = self._document(path, table)
        if read is None:
            return []
        source, values, body, line = read
        layout = values.get("layout", layout)
        if layout not in self.layouts:
            layout = self._no_layout(source, layout)
        return [
            Page(
                url=url,
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
        articles, top = [], self.content / "blog"
        for path in sorted(top.glob("*.md")):
            read = self._document(path, frontmatter.ARTICLE)
            if read is None:
                continue
            source, values, body, line = read
            cases: tuple[Case, ...] = ()
            if "cases" in values:
                cases = self._cases(path.parent / values["cases"], source, contract)
            articles.append(
                Article(
                    url=f"/blog/{path.stem}",
                    source=source,
                    title=values["title"],
                    description=values["description"].strip(),
                    layout="article",
                    label=values["title"],
                    body=body,
                    body_line=line,
                    date=values["date"],
                    cases=cases,
                    files=self._beside(path) if "code(" in body or "include(" in body else {},
                )
            )
        return articles

    def _cases(self, path: Path, article: Source, contract: Contract | None) -> tuple[Case, ...]:
        if not path.is_file():
            self.faults.append(
                at_text(article.name, article.text, path.name, f"there is no file {path.name} beside it")
            )
            return ()
        source = self._text(path)
        rows = self._attempt(lambda: read_text(source.text, source.name), path.name) if source else None
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
        found, top = [], self.content / "integrations"
        for folder in sorted(path for path in top.glob("*") if path.is_dir() and not path.name.startswith((".", "_"))):
            meta = self._text(folder / "meta.yaml")
            page = self._text(folder / "page.md")
            values = self._values(meta.name, meta.text, frontmatter.INTEGRATION, 1) if meta else None
            if meta is None or page is None or values is None:
                continue
            files = self._beside(folder / "page.md")
            if values["file"] not in files:
                self.faults.append(
                    at_text(meta.name, meta.text, values["file"], f"there is no file {values['file']} beside it")
                )
            found.append(
                Integration(
                    url=f"/integrations/{folder.name}",
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
            source = self._text(self.content / "cards" / f"{name}.yaml")
            found[name] = values = self._values(source.name, source.text, table, 1) if source else None
            if source and values and contract and sorted(values.get("skills", known)) != sorted(known):
                message = f"skills must be the tools: {', '.join(known)}"
                self.faults.append(at_text(source.name, source.text, "skills", message))
        return found

    def _beside(self, path: Path) -> dict[str, str]:
        """The texts that `code()` and `include()` can show: files in the same folder that are no page or meta data."""
        if path.parent not in self.folders:
            texts = self.folders[path.parent] = {}
            for entry in sorted(os.scandir(path.parent), key=lambda entry: entry.name):
                if entry.is_file() and not entry.name.startswith(".") and not entry.name.endswith((".md", "meta.yaml")):
                    with contextlib.suppress(UnicodeDecodeError):
                        texts[entry.name] = Path(entry.path).read_text(encoding="utf-8")
        return self.folders[path.parent]

    def _templates(self) -> dict[str, Source]:
        """Texts by the names that templates call each other by."""
        found = {}
        for path in tree.files(self.templates):
            name = path.relative_to(self.templates).as_posix()
            own = path.suffix in TEXT_TEMPLATES and not name.startswith(("static/", "root/"))
            if own and (source := self._text(path)):
                found[name] = source
        return found

    def _bytes(self, folder: str) -> dict[str, bytes]:
        top = self.templates / folder
        return {path.relative_to(top).as_posix(): path.read_bytes() for path in tree.files(top)}


def _listing(value: Mapping[str, Any] | None) -> Listing | None:
    return Listing(value["section"], value["note"], value.get("order", 0)) if value else None
