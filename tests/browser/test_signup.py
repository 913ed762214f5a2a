"""Signing up in the browser: the key is shown once with its next step, and every refusal says what to do."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.examples import example
from tests.live import Live


def sign_up(page: Page, email: str, name: str = "From the browser") -> None:
    page.goto("/signup")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Name of the key").fill(name)
    page.get_by_role("button", name="Create the key").click()


@pytest.mark.promise("site.signup")
def test_a_newcomer_gets_a_key_that_works(page: Page, server: Live) -> None:
    sign_up(page, "newcomer@example.com")
    shown = page.locator("#secret-value")
    expect(shown).to_have_text(re.compile(r"^scr_\w{42}$"))
    key = shown.inner_text()
    expect(page.locator("#export-value")).to_have_text(f"export SCREWTAPE_API_KEY={key}")
    expect(page.get_by_label("Email")).to_be_hidden()
    answer = server.request("POST", "/v1/judge", example("judge"), key=key)
    assert (answer.status, answer.json["verdict"]) == (200, "pass")
    page.reload()
    assert key not in page.content()


@pytest.mark.promise("site.signup")
def test_the_keyboard_alone_is_enough(page: Page) -> None:
    page.goto("/signup")
    page.get_by_label("Email").focus()
    page.keyboard.type("keys@example.com")
    page.keyboard.press("Tab")
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    expect(page.locator("#secret-value")).to_have_text(re.compile("^scr_"))
    expect(page.locator("#secret")).to_be_focused()


@pytest.mark.promise("site.signup")
def test_a_refusal_stands_at_its_field(page: Page) -> None:
    sign_up(page, "no address")
    expect(page.locator("#email-error")).to_contain_text("is not an email address")
    expect(page.get_by_label("Email")).to_be_focused()


@pytest.mark.promise("site.signup")
def test_a_limit_says_when_to_come_back(page: Page) -> None:
    for number in range(3):
        sign_up(page, f"many{number}@example.com")
        expect(page.locator("#secret-value")).to_have_text(re.compile("^scr_"))
    sign_up(page, "many3@example.com")
    expect(page.locator("#form-error")).to_contain_text("Try again at")


def test_a_server_that_is_gone_is_said(page: Page) -> None:
    page.goto("/signup")
    page.route("**/v1/keys", lambda route: route.abort())
    page.get_by_label("Email").fill("a@example.com")
    page.get_by_label("Name of the key").fill("x")
    page.get_by_role("button", name="Create the key").click()
    expect(page.locator("#form-error")).to_contain_text("can't be reached")
