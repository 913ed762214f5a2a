"""Every page: no barrier that axe finds, no error in the console, nothing wider than the screen; in both colour
schemes."""

import json
from pathlib import Path
from typing import Literal

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page

from tests.live import Live

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDTHS = (390, 1440)
Scheme = Literal["light", "dark"]


def barriers(page: Page) -> dict[str, list[str]]:
    """What axe finds on the page as it stands: rules, each with the elements that break it."""
    page.evaluate(AXE)
    result = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
    return {fault["id"]: [node["html"][:120] for node in fault["nodes"]] for fault in result["violations"]}


@pytest.mark.promise("site.accessible")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_has_a_barrier_or_an_error(
    browser: Browser, server: Live, dist: Path, scheme: Scheme, width: int
) -> None:
    routes = json.loads((dist / "manifest.json").read_text())["routes"]
    pages = [path for path, route in routes.items() if route["type"].startswith("text/html")]
    assert len(pages) > 15
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    page, errors = context.new_page(), []
    page.on(
        "console", lambda message: errors.append(f"{page.url}: {message.text}") if message.type == "error" else None
    )
    found: dict[str, list[str]] = {}
    for path in pages:
        page.goto(f"http://127.0.0.1:{server.port}{path}")
        found |= {f"{path} {name}": nodes for name, nodes in barriers(page).items()}
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found[f"{path} is wider than {width}"] = []
    context.close()
    assert not found
    assert not errors


@pytest.mark.promise("site.no_js")
def test_the_pages_read_without_scripts(browser: Browser, server: Live) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=f"http://127.0.0.1:{server.port}")
    page = context.new_page()
    page.goto("/docs")
    for language in ("curl", "Python", "JavaScript"):
        assert page.get_by_text(language, exact=True).count() >= 1
    assert page.get_by_text("SCREWTAPE_API_KEY").first.is_visible()
    page.goto("/signup")
    assert page.locator("noscript").count() == 1
    assert page.get_by_text("curl -X POST").locator("visible=true").count() >= 1
    context.close()
