"""What programs read: llms.txt, openapi.json, the sitemap, the feed, the search index, the mirrors."""

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import pytest
from llms_txt import parse_llms_file
from openapi_spec_validator import validate

from api import contract, facts
from api.core.receipts.keys import JWKS_PATH
from site_build.tree import ROOT
from tests.site.conftest import BASE_URL, Project

ATOM = {"a": "http://www.w3.org/2005/Atom"}
FACTS = facts.load(ROOT / "content")
VERSION = contract.load(ROOT / "content").version


def text(project: Project, name: str) -> str:
    return (project.out / name).read_text(encoding="utf-8")


def pages(project: Project) -> Iterator[tuple[str, str]]:
    """Route and HTML of each page."""
    for route, row in json.loads(text(project, "manifest.json"))["routes"].items():
        if row["type"].startswith("text/html"):
            yield route, text(project, row["file"])


@pytest.mark.promise("site.llms_txt")
@pytest.mark.promise("product.not_the_paper")
def test_llms_txt_is_what_the_reference_parser_reads(built: Project) -> None:
    parsed = parse_llms_file(text(built, "llms.txt"))
    assert parsed.title == "Screwtape.ai"
    assert parsed.summary == " ".join(FACTS.site["summary"].split())
    assert "not the arXiv paper" in parsed.info
    assert list(parsed.sections) == ["Docs", "Integrations", "Blog", "Machine-readable", "Optional"]
    links = [link for section in parsed.sections.values() for link in section]
    routes = json.loads(text(built, "manifest.json"))["routes"]
    for link in links:
        path = link.url.removeprefix(BASE_URL)
        assert path in routes or path in ("/v1/health", JWKS_PATH), link.url
        assert link.desc
    listed = [link.url.removeprefix(BASE_URL) for link in links]
    assert listed[:2] == ["/docs", "/openapi.json"]
    assert {"/privacy", "/errors", "/integrations/crewai", "/blog/false-consensus", "/llms-full.txt"} <= set(listed)
    assert len(listed) == len(set(listed))


def test_llms_txt_has_only_bullets_under_its_headings(built: Project) -> None:
    body = text(built, "llms.txt")
    assert "\r" not in body
    assert body.endswith("\n")
    _, *sections = body.split("\n## ")
    for section in sections:
        lines = [line for line in section.split("\n")[1:] if line]
        assert all(re.fullmatch(r"- \[[^\]]+\]\([^()\s]+\): \S.*", line) for line in lines), lines


@pytest.mark.promise("facts.models")
@pytest.mark.promise("facts.once")
def test_every_number_of_llms_txt_is_a_fact(built: Project) -> None:
    head, _, _ = text(built, "llms.txt").partition("\n## ")
    x402 = FACTS.x402
    known = {str(FACTS.free_calls_per_day), str(FACTS.keys_per_email), str(FACTS.retention_hours)}
    known |= {f"{pack.price_cents // 100:,}" for pack in FACTS.packs} | {f"{pack.calls:,}" for pack in FACTS.packs}
    known |= {x402.price_usd, x402.amount, "402", "403", "503"}
    words = head
    for name in (x402.network, x402.asset, x402.pay_to, FACTS.default_model, FACTS.fallback_model, "x402", "/v1/"):
        assert name in head
        words = words.replace(name, "")
    numbers = {number.rstrip(".,") for number in re.findall(r"\d[\d.,]*", words)}
    assert numbers <= known
    assert known - numbers <= {"402", "403"}


@pytest.mark.promise("facts.once")
def test_a_fact_changes_everywhere(project: Project) -> None:
    project.edit("content/plans.yaml", "calls_per_day: 100", "calls_per_day: 1234")
    project.edit("content/plans.yaml", "price_cents: 3000", "price_cents: 4550")
    project.build()
    for name in ("pricing.html", "pricing.md", "llms.txt", "llms-full.txt", "signup.html", "index.html"):
        assert "1,234" in text(project, name), name
    assert "$45.50" in text(project, "pricing.html")
    assert "$45.50" in text(project, "llms.txt")


@pytest.mark.promise("site.llms_full")
def test_llms_full_has_the_reference_the_integrations_and_the_articles(built: Project) -> None:
    full, head = text(built, "llms-full.txt"), text(built, "llms.txt").partition("\n## ")[0]
    assert full.startswith(head.rstrip("\n"))
    document = json.loads(text(built, "openapi.json"))
    for path, item in document["paths"].items():
        for method in item:
            assert f"\n### {method.upper()} {path}\n" in full
    for folder in (ROOT / "content" / "integrations").iterdir():
        for file in folder.glob("screwtape_*"):
            assert file.read_text().rstrip() in full, file
    article = text(built, "blog/false-consensus.md")
    assert "\n## False consensus in multi-agent swarms and how to catch it\n" in full
    for block in re.findall(r"```json\n.*?```", article, re.DOTALL):
        assert block in full
    assert "](/" not in full, "links out of context must be absolute"


@pytest.mark.promise("site.openapi_json")
def test_openapi_json_is_valid_and_public(built: Project) -> None:
    document = json.loads(text(built, "openapi.json"))
    validate(document)
    assert document["servers"] == [{"url": BASE_URL}]
    assert not re.search(r'"x-(auth|metered|problems|operator|max-text)"', text(built, "openapi.json"))
    assert not [path for path in document["paths"] if path.startswith("/v1/admin")]
    judge = document["paths"]["/v1/judge"]["post"]
    assert judge["responses"]["200"]["content"]["application/json"]["example"]["verdict"] == "pass"
    assert {"400", "401", "402", "429", "503"} <= judge["responses"].keys()


@pytest.mark.promise("site.sitemap")
@pytest.mark.promise("site.robots")
def test_the_sitemap_lists_every_page_once(built: Project) -> None:
    root = ElementTree.fromstring(text(built, "sitemap.xml"))
    found = [element.text for element in root.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert sorted(map(str, found)) == sorted(BASE_URL + route for route, _ in pages(built) if route != "/404.html")
    assert f"Sitemap: {BASE_URL}/sitemap.xml" in text(built, "robots.txt")


@pytest.mark.promise("site.feed")
def test_the_feed(built: Project) -> None:
    feed = ElementTree.fromstring(text(built, "blog/feed.xml"))
    entry = feed.find("a:entry", ATOM)
    assert entry is not None
    assert entry.findtext("a:id", "", ATOM) == f"{BASE_URL}/blog/false-consensus"
    assert feed.findtext("a:updated", "", ATOM) == entry.findtext("a:updated", "", ATOM) == "2026-10-20T00:00:00Z"
    html = entry.findtext("a:content", "", ATOM)
    assert "<h2" in html
    assert not re.search(r'(href|src)="/', html)


def test_search_finds_pages_operations_and_errors(built: Project) -> None:
    index = json.loads(text(built, "search.json"))
    html = dict(pages(built))
    for entry in index:
        path, _, anchor = entry["u"].partition("#")
        ids = [anchor] * bool(anchor) + [heading[0] for heading in entry["h"]]
        assert entry["t"]
        assert all(f'id="{id}"' in html[path] for id in ids), entry
    titles = {entry["t"] for entry in index}
    assert {"POST /v1/judge", "429 quota_exceeded", "Quick start"} <= titles
    assert len(text(built, "search.json")) < 40_000


@pytest.mark.promise("facts.base_url")
def test_another_address_is_followed(project: Project) -> None:
    project.build(base_url="http://127.0.0.1:8000/")
    for name in ("openapi.json", "sitemap.xml", "blog/feed.xml", "robots.txt", "docs/quickstart.html", "signup.md"):
        assert "http://127.0.0.1:8000/" in text(project, name), name
        assert "https://screwtape.ai" not in text(project, name), name
    own = FACTS.base_url
    assert f"]({own}" not in text(project, "llms.txt")


@pytest.mark.promise("site.markdown_mirror")
@pytest.mark.parametrize("name", ["index", "docs", "docs/quickstart", "errors", "pricing", "blog/false-consensus"])
def test_mirrors_are_clean_markdown(name: str, built: Project) -> None:
    body = text(built, f"{name}.md")
    assert body.startswith("# ")
    prose = re.sub(r"^```.*?^```", "CODE", body, flags=re.DOTALL | re.MULTILINE)
    assert "{{" not in prose
    assert "{%" not in prose
    assert not re.search(r"<(div|p|span|svg|figure)\b", prose)
    assert not re.search(r"\n{3,}", prose), "no heaps of blank lines"
    assert body.count("```") % 2 == 0


def test_the_reference_mirror_has_what_the_page_has(built: Project) -> None:
    body = text(built, "docs.md")
    assert "### POST /v1/judge" in body
    assert "`agent_output` (string, required, up to 64,000 characters)" in body
    errors = text(built, "errors.md")
    assert "## quota_exceeded" in errors
