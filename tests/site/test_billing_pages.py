"""The pages to which Stripe sends people back, and the one on which packs are bought."""

import re

import pytest

from tests.site.conftest import Project
from tests.site.test_machine import text


def scripts(html: str) -> set[str]:
    """The page's own scripts, those that come when they are wanted included, by their names in templates/static."""
    return {name.split(".")[0] for name in re.findall(r'/static/([^" ]+)\.\w+\.js\b', html)}


@pytest.mark.promise("site.billing_pages")
@pytest.mark.promise("stripe.webhook_credits")
def test_the_success_page_says_that_it_credits_nothing_and_asks_for_the_balance(built: Project) -> None:
    html = text(built, "billing/success.html")
    assert "Coming here credits nothing" in html
    assert "pending" in html
    assert {"ask", "balance"} <= scripts(html)
    assert re.search(r'<p id="balance-state" role="status"></p>', html)
    assert "Thank you" not in html


@pytest.mark.promise("site.billing_pages")
def test_the_cancel_page_says_that_nothing_was_taken(built: Project) -> None:
    html = text(built, "billing/cancel.html")
    assert "nothing was taken and nothing was credited" in html
    assert 'href="/pricing#packs"' in html


@pytest.mark.promise("site.pricing")
def test_packs_are_bought_on_the_pricing_page_by_the_plans(built: Project) -> None:
    html = text(built, "pricing.html")
    options = re.findall(r'<option value="(\w+)">([^<]+)</option>', html)
    assert options == [("starter", "Starter: 10,000 calls for $30"), ("builder", "Builder: 50,000 calls for $100")]
    assert {"ask", "buy"} <= scripts(html)
    assert "not yet" not in html


@pytest.mark.promise("site.billing_pages")
def test_a_typed_key_is_stored_nowhere_and_filled_in_by_nobody(built: Project) -> None:
    for name in ("billing/success.html", "pricing.html", "playground.html", "dashboard.html"):
        (field,) = re.findall(r'<input id="key"[^>]*>', text(built, name))
        assert 'autocomplete="off"' in field
    for path in (built.out / "static").glob("*.js"):
        if path.name.split(".")[0] in ("ask", "buy", "balance", "playground", "dashboard", "settings"):
            assert not re.search(r"Storage|cookie|indexedDB|https?:", path.read_text())
