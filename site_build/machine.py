"""Pure. What programs read: openapi.json, llms.txt and llms-full.txt, sitemap, robots, feed, search index, JSON-LD."""

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from api.core.receipts.keys import JWKS_PATH
from api.openapi import public_document
from site_build.frontmatter import LISTING_SECTIONS
from site_build.model import Article, Page, Site
from site_build.reference import public_operations
from site_build.texts import Texts


@dataclass(frozen=True, slots=True)
class Link:
    """A line of llms.txt."""

    name: str
    url: str
    note: str


@dataclass(frozen=True, slots=True)
class Section:
    """A section of llms.txt."""

    name: str
    links: tuple[Link, ...]


_MACHINE_LINKS: tuple[tuple[str, int, str, str, str], ...] = (
    ("Docs", 1, "OpenAPI document", "/openapi.json", "OpenAPI 3.1, every public operation with schemas and examples"),
    (
        "Docs",
        1,
        "MCP server card",
        "/.well-known/mcp/server-card.json",
        "where and in which revisions the MCP endpoint answers",
    ),
    (
        "Machine-readable",
        1,
        "llms-full.txt",
        "/llms-full.txt",
        "the whole reference, every integration with its code, every article",
    ),
    (
        "Machine-readable",
        2,
        "A2A agent card",
        "/.well-known/agent-card.json",
        "the skills; A2A SendMessage is not implemented",
    ),
    (
        "Machine-readable",
        3,
        "Receipt keys",
        JWKS_PATH,
        "the public keys that receipts are verified with, a JSON Web Key Set",
    ),
    ("Optional", 1, "Health", "/v1/health", "which engines and ways to pay are on; needs no key"),
)
"""Section, order, name, path, note of what llms.txt lists beside pages. At one order, pages come first, then these."""


def openapi_json(site: Site) -> bytes:
    """The public OpenAPI document."""
    document = public_document(site.contract, site.problems, site.base_url, site.results)
    return json_bytes(document)


def llms_sections(site: Site) -> tuple[Section, ...]:
    """The sections of llms.txt in their order. Integrations and articles list themselves after the index of theirs."""
    rows: dict[str, list[tuple[int, int, str, Link]]] = {name: [] for name in LISTING_SECTIONS}
    for page in site.pages:
        if page.listing:
            link = Link(page.label, site.base_url + page.url, page.listing.note)
            rows[page.listing.section].append((page.listing.order, 0, page.url, link))
    for place, (section, order, name, path, note) in enumerate(_MACHINE_LINKS, 1):
        rows[section].append((order, place, path, Link(name, site.base_url + path, note)))
    for place, integration in enumerate(site.integrations):
        link = Link(integration.title, site.base_url + integration.url, _sentence(integration.description))
        rows["Integrations"].append((1000 + place, 0, "", link))
    for place, article in enumerate(site.articles):
        link = Link(article.title, site.base_url + article.url, f"{article.date}. {_sentence(article.description)}")
        rows["Blog"].append((1000 + place, 0, "", link))
    ordered = {name: tuple(row[3] for row in sorted(found, key=lambda row: row[:3])) for name, found in rows.items()}
    return tuple(Section(name, links) for name, links in ordered.items() if links)


def search_index(site: Site, texts: Texts) -> bytes:
    """Entries {u: URL, t: title, d: description, h: [[id, heading]]}, small enough to send whole."""
    entries: list[dict[str, Any]] = []
    for page in site.all_pages:
        if page.layout == "notfound":
            continue
        headings = [[entry.id, entry.text] for entry in texts.brief(page).toc]
        entries.append({"u": page.url, "t": page.title, "d": page.description, "h": headings})
    for _, operations in public_operations(site.contract):
        for operation in operations:
            title = f"{operation.method} {operation.path}"
            entries.append({"u": f"/docs#{operation.id}", "t": title, "d": operation.summary, "h": []})
    for kind in site.problems.kinds.values():
        entries.append({"u": f"/errors#{kind.code}", "t": f"{kind.status} {kind.code}", "d": kind.title, "h": []})
    return json_bytes(entries)


def structured_data(page: Page, site: Site) -> str:
    """The JSON-LD of a page, safe inside a script element."""
    organisation = {"@type": "Organization", "name": site.facts.name, "url": site.base_url + "/"}
    url = site.base_url + page.url
    data: dict[str, Any] = {"@context": "https://schema.org"}
    if isinstance(page, Article):
        data |= {
            "@type": "BlogPosting",
            "headline": page.title,
            "datePublished": page.date,
            "author": organisation,
            "publisher": organisation,
        }
    elif page.url == "/":
        data |= {"@type": "WebSite", "name": site.facts.name, "publisher": organisation}
    else:
        data |= {"@type": "TechArticle" if page.url.startswith("/docs") else "WebPage", "headline": page.title}
    data |= {"description": page.description, "url": url, "mainEntityOfPage": url}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def script_hash(text: str) -> str:
    """The CSP source of an inline script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def json_bytes(value: Any) -> bytes:
    """JSON in UTF-8 without white space, and a line break at its end."""
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _sentence(text: str) -> str:
    return " ".join(text.split())
