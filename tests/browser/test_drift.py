"""The dashboard's drift: a month of demonstration data as charts, tables and alerts."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import BASE_URL, opened_page
from tests.browser.test_dashboard import enter
from tests.browser.test_pages import barriers
from tests.examples import ROOT
from tests.live import NOON, FakeClock, Live, live_server


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory, dist: Path) -> Iterator[tuple[Live, str]]:
    """A server whose one key has a month of calls that drift, and that key."""
    folder = tmp_path_factory.mktemp("month")
    command = [sys.executable, "-m", "api", "demo-drift", "--database", f"sqlite:///{folder}/screwtape.db"]
    # In a process of its own: the browser's event loop runs in this one.
    made = subprocess.run(
        [*command, "--now", "2026-11-30T12:00:00Z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    key = made.stdout.strip()
    clock = FakeClock(NOON + 60)
    with live_server(folder, dist=dist, clock=clock, PUBLIC_BASE_URL=BASE_URL) as live:
        yield live, key


@pytest.fixture
def drift(browser: Browser, month: tuple[Live, str]) -> Iterator[Page]:
    live, key = month
    with opened_page(browser, live) as page:
        enter(page, key)
        expect(page.locator("#fail svg")).to_be_visible()
        yield page


@pytest.mark.promise("site.dashboard")
def test_each_rate_is_a_chart_with_its_words_and_its_table(drift: Page, month: tuple[Live, str]) -> None:
    live, key = month
    said = live.request("GET", "/v1/drift", key=key).json
    for place, name, field in (
        ("#fail", "Fail rate", "fail_rate"),
        ("#retry", "Retry rate", "retry_rate"),
        ("#false", "False consensus", "false_consensus_risk"),
    ):
        figure = drift.locator(place)
        expect(figure.get_by_role("img")).to_have_attribute("aria-label", re.compile(rf"{name}, by day\. Baseline .*%"))
        known = [row for row in said["series"] if row[field] is not None]
        assert figure.locator(".point").count() == len(known) > 20
        figure.get_by_text("As a table").click()
        expect(figure.get_by_role("row")).to_have_count(len(said["series"]) + 1)
        assert figure.locator(".normal").count() == 1


@pytest.mark.promise("site.dashboard")
def test_one_agent_is_read_by_itself(drift: Page) -> None:
    together = drift.locator("#day").inner_text()
    drift.get_by_label("Agent", exact=True).select_option("agent_id=planner")
    expect(drift.locator("#day")).not_to_have_text(together)
    expect(drift.locator("#versions")).to_contain_text("planner")
    expect(drift.locator("#versions")).not_to_contain_text("support")
    expect(drift.locator("#day .high").first).to_contain_text("▲")
    drift.get_by_label("Days", exact=True).select_option("7")
    drift.locator("#fail").get_by_text("As a table").click()
    expect(drift.locator("#fail").get_by_role("row")).to_have_count(8)


@pytest.mark.promise("site.dashboard")
def test_the_alerts_are_listed_with_what_became_of_them(drift: Page) -> None:
    rows = drift.locator("#alerts").get_by_role("row")
    expect(rows).to_have_count(4)
    for agent in ("planner", "support", "swarm"):
        expect(rows.filter(has_text=agent)).to_contain_text("no webhook was set")
    expect(rows.filter(has_text="swarm")).to_contain_text("False consensus")


@pytest.mark.promise("site.dashboard")
def test_a_day_without_calls_is_a_gap(drift: Page) -> None:
    counts = {
        "judge_calls": 10,
        "pass": 9,
        "fail": 1,
        "retry": 0,
        "fail_rate": 0.1,
        "retry_rate": 0.0,
        "average_score": 0.9,
        "consensus_calls": 0,
        "false_consensus_risk": None,
    }
    empty = {
        **counts,
        "judge_calls": 0,
        "pass": 0,
        "fail": 0,
        "fail_rate": None,
        "retry_rate": None,
        "average_score": None,
    }
    series = [{"date": f"2026-11-0{day}", **(empty if day == 3 else counts)} for day in range(1, 6)]
    answer = {"series": series, "baseline": empty, "last_24h": counts, "versions": [], "alerts": [], "agents": []}
    drift.route("**/v1/drift?*", lambda route: route.fulfill(json=answer))
    drift.get_by_label("Days", exact=True).select_option("7")
    expect(drift.locator("#fail .point")).to_have_count(4)
    path = drift.locator("#fail .curve").get_attribute("d")
    assert path is not None
    assert path.count("M") == 2, "the line is broken at the day without calls"
    expect(drift.locator("#fail .normal")).to_have_count(0)
    expect(drift.locator("#fail figcaption")).to_contain_text("No baseline yet")
    expect(drift.locator("#false figcaption")).to_contain_text("No consensus calls in these days")


@pytest.mark.promise("site.accessible")
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1440)])
def test_the_open_dashboard_has_no_barrier(browser: Browser, month: tuple[Live, str], scheme: str, width: int) -> None:
    live, key = month
    with opened_page(browser, live, color_scheme=scheme, viewport={"width": width, "height": 900}) as page:
        enter(page, key)
        expect(page.locator("#fail svg")).to_be_visible()
        page.locator("#fail").get_by_text("As a table").click()
        assert not barriers(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
