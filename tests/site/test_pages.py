"""The pages as browsers get them: nothing inline, small, described, readable in both colour schemes."""

import base64
import hashlib
import json
import re
from itertools import pairwise

import pytest

from site_build.tree import ROOT
from tests.site.conftest import BASE_URL, Project
from tests.site.test_machine import pages, text

KB = 1024
CSS = (ROOT / "templates" / "static" / "site.css").read_text()


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def tokens() -> dict[str, tuple[str, str]]:
    found = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", CSS)
    return {name: (light, dark) for name, light, dark in found}


def test_the_measure_of_contrast() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_text_colour_can_be_read(scheme: int) -> None:
    colours = tokens()
    assert len(colours) == 15
    for name, values in colours.items():
        least = {"bg": 0.0, "panel": 0.0, "line": 0.0, "control": 3.0}.get(name, 4.5)
        for ground in ("bg", "panel"):
            assert contrast(values[scheme], colours[ground][scheme]) >= least, (name, ground)


def test_there_is_one_small_stylesheet(built: Project) -> None:
    sheets = list((built.out / "static").glob("*.css"))
    assert len(sheets) == 1
    assert sheets[0].stat().st_size <= 14 * KB
    assert CSS.startswith("@layer reset, tokens, base, layout, components, print;")
    assert "@import" not in CSS
    assert "url(" not in CSS


def test_scripts_are_few_small_and_not_inline(built: Project) -> None:
    for route, html in pages(built):
        for attributes, body in re.findall(r"<script\b([^>]*)>(.*?)</script>", html, re.DOTALL):
            if 'type="application/ld+json"' in attributes:
                json.loads(body)
                continue
            assert not body.strip(), route
            assert "defer" in attributes or "async" in attributes, route
        wanted = [(built.out / s.lstrip("/")).stat().st_size for s in re.findall(r'data-module="([^"]+)"', html)]
        assert 0 < sum(wanted) <= 6 * KB, (route, sum(wanted))
        for source in re.findall(r'/static/[^" ]+\.js', " ".join(re.findall(r'data-tool="([^"]+)"', html))):
            assert (built.out / source.lstrip("/")).stat().st_size <= 8 * KB, source
        eager = [(built.out / s.lstrip("/")).stat().st_size for s in re.findall(r'<script[^>]*src="([^"]+)"', html)]
        assert sum(eager) <= 6 * KB, (route, sum(eager))


def test_nothing_is_inline_and_nothing_is_foreign(built: Project) -> None:
    for route, html in pages(built):
        tags = re.findall(r"<[a-zA-Z][^<>]*>", html)
        for tag in tags:
            assert not re.search(r"\s(style|on\w+)=", tag), (route, tag)
            assert not tag.startswith("<style"), route
            loads = re.search(r'\s(?:src|srcset|poster)="([^"]*)"', tag)
            assert loads is None or loads[1].startswith("/"), (route, tag)
            if tag.startswith("<link") and ("stylesheet" in tag or "icon" in tag):
                assert 'href="/' in tag, (route, tag)


def test_the_manifest_allows_exactly_the_inline_data(built: Project) -> None:
    routes = json.loads(text(built, "manifest.json"))["routes"]
    for route, html in pages(built):
        blocks = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html, re.DOTALL)
        hashes = [base64.b64encode(hashlib.sha256(block.encode()).digest()).decode() for block in blocks]
        assert routes[route]["script_hashes"] == [f"sha256-{digest}" for digest in hashes], route


@pytest.mark.promise("site.metadata")
def test_each_page_describes_itself(built: Project) -> None:
    routes = json.loads(text(built, "manifest.json"))["routes"]
    titles = []
    for route, html in pages(built):
        assert html.count("<h1") == 1, route
        assert '<html lang="en">' in html
        assert '<link rel="describedby" type="text/plain" href="/llms.txt"' in html
        description = re.search(r'<meta name="description" content="([^"]*)">', html)
        assert description is not None
        titles += re.findall(r"<title>(.*?)</title>", html)
        if route == "/404.html":
            assert 'content="noindex"' in html
            continue
        assert f'<link rel="canonical" href="{BASE_URL}{route}">' in html
        assert f'<link rel="alternate" type="text/markdown" href="{routes[route]["markdown"]}"' in html
        image = re.search(rf'<meta property="og:image" content="{BASE_URL}(/static/card\.\w+\.png)">', html)
        assert image is not None
        assert routes[image[1]]["type"] == "image/png"
    assert len(titles) == len(set(titles)) == len(list(pages(built)))


def test_the_social_card_is_a_small_picture(built: Project) -> None:
    (card,) = (built.out / "static").glob("card.*.png")
    body = card.read_bytes()
    assert body.startswith(b"\x89PNG\r\n\x1a\n")
    assert (int.from_bytes(body[16:20]), int.from_bytes(body[20:24])) == (1200, 630)
    assert len(body) < 60 * KB


def test_assets_are_named_by_their_content(built: Project) -> None:
    for file in (built.out / "static").iterdir():
        if not file.name.endswith((".gz", ".br")):
            assert file.name.split(".")[-2] == hashlib.sha256(file.read_bytes()).hexdigest()[:10]


def test_headings_do_not_jump(built: Project) -> None:
    for route, html in pages(built):
        levels = [int(level) for level in re.findall(r"<h([1-6])\b", html)]
        assert levels[0] <= 2, route
        assert all(after <= before + 1 for before, after in pairwise(levels)), (route, levels)


@pytest.mark.promise("site.errors")
def test_every_error_code_has_its_anchor(built: Project) -> None:
    html = text(built, "errors.html")
    names = re.findall(r"^(\w+):$", (ROOT / "content" / "problems.yaml").read_text(), re.MULTILINE)
    assert len(names) > 10
    assert all(f'<h2 id="{name}">' in html for name in names)


@pytest.mark.promise("site.docs")
def test_the_reference_has_every_public_operation_with_all_languages(built: Project) -> None:
    html = text(built, "docs.html")
    for path, item in json.loads(text(built, "openapi.json"))["paths"].items():
        for operation in item.values():
            assert f'<h3 id="{operation["operationId"]}">' in html
            assert f"<code>{path}</code>" in html
    blocks = html.count("data-tabs>")
    assert blocks == sum(len(item) for item in json.loads(text(built, "openapi.json"))["paths"].values())
    for language in ("curl", "python", "javascript"):
        assert html.count(f'data-tab="{language}"') == blocks
    assert "/v1/admin" not in html


def test_the_signup_form_works_by_name(built: Project) -> None:
    html = text(built, "signup.html")
    assert '<form id="signup" class="card" method="post" action="/v1/keys"' in html
    for name in ("email", "name"):
        assert f'<label for="{name}">' in html
        assert f'aria-describedby="{name}-error"' in html


@pytest.mark.promise("site.docs")
def test_the_reference_shows_tools_without_their_schemas(built: Project) -> None:
    page = text(built, "docs.md")
    assert page.count('"$comment": "Shortened here.') == 4
    assert len(page) < 100_000, "what an agent reads at once"
