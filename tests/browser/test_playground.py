"""The playground: the documented calls, drawn; and every way in which a call is refused, said where it helps."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import opened_page
from tests.browser.test_pages import barriers
from tests.examples import example
from tests.live import Live

JUDGE, CONSENSUS = "#one .result", "#several .result"


def opened(page: Page, key: str) -> None:
    page.goto("/playground")
    page.get_by_label("Your API key").fill(key)


@pytest.mark.promise("site.playground")
def test_the_documented_judgement_is_drawn_with_its_parts(page: Page, server: Live) -> None:
    opened(page, server.new_key())
    with page.expect_request("**/v1/judge") as sent:
        page.get_by_role("button", name="Judge it").click()
    assert sent.value.post_data_json == {**example("judge"), "explain": True}
    result = page.locator(JUDGE)
    expect(result.get_by_role("heading", name="pass")).to_be_visible()
    expect(result.locator(".icon").first).to_have_text("✓")
    expect(result.get_by_role("img")).to_have_attribute("aria-label", re.compile(r"Score 0\.\d+: pass\. Fail is below"))
    expect(result).to_contain_text('Criterion "crew size" is met')
    expect(result).to_contain_text("supported")
    expect(result).to_contain_text("Free calls left99")
    result.get_by_text("The answer as JSON").click()
    expect(result.locator("pre")).to_contain_text('"verdict": "pass"')


@pytest.mark.promise("site.playground")
def test_the_shown_command_is_the_request(page: Page, server: Live) -> None:
    opened(page, server.new_key())
    page.get_by_label("Task", exact=True).first.fill("Say it's so.")
    page.locator("#one").get_by_text("This request as curl").click()
    shown = page.locator("#one .as-curl pre")
    expect(shown).to_contain_text("/v1/judge")
    expect(shown).to_contain_text("$SCREWTAPE_API_KEY")
    expect(shown).to_contain_text("Say it'\\''s so.")
    assert "scr_" not in shown.inner_text()


@pytest.mark.promise("site.playground")
def test_clusters_agreement_and_risk_are_drawn(page: Page, server: Live) -> None:
    opened(page, server.new_key())
    page.get_by_role("tab", name="Consensus").click()
    page.get_by_role("button", name="Add answer").click()
    page.get_by_label("Answer 4", exact=True).fill("Nobody knows who was aboard.")
    with page.expect_request("**/v1/consensus") as sent:
        page.get_by_role("button", name="Compare them").click()
    assert (sent.value.post_data_json or {})["answers"] == [
        *example("consensus")["answers"],
        {"output": "Nobody knows who was aboard."},
    ]
    result = page.locator(CONSENSUS)
    expect(result.get_by_role("heading", name="medium risk")).to_be_visible()
    expect(result.get_by_role("img")).to_have_attribute("aria-label", re.compile("Agreement 0.75"))
    expect(result.locator(".clusters li")).to_have_text(["alphabetagamma", "answer-4"])
    expect(result.locator(".clusters .won")).to_have_count(1)
    expect(result).to_contain_text("3 of 4 agents answer")


@pytest.mark.promise("site.playground")
def test_rows_come_and_go_and_keep_their_numbers(page: Page) -> None:
    page.goto("/playground")
    form = page.locator("#judge")
    form.get_by_role("button", name="Remove evidence 1").click()
    expect(form.get_by_label("Evidence 1", exact=True)).to_have_value("The crew size was 4.")
    expect(form.get_by_label("Evidence 2", exact=True)).to_have_count(0)
    form.get_by_role("button", name="Add criterion").click()
    expect(form.get_by_label("Criterion 3", exact=True)).to_be_focused()


@pytest.mark.promise("site.playground")
def test_each_fault_stands_at_its_field(page: Page, server: Live) -> None:
    opened(page, server.new_key())
    page.get_by_label("Task", exact=True).first.fill("")
    page.get_by_label("Criterion 1", exact=True).fill("")  # left out, so that the next one is /criteria/0
    page.get_by_label("Criterion 2", exact=True).evaluate("field => { field.value = 'x'.repeat(501) }")
    page.get_by_text("Tags and keeping").first.click()
    page.get_by_label("agent_id").first.fill("no spaces")
    page.get_by_text("Tags and keeping").first.click()
    page.get_by_role("button", name="Judge it").click()
    task = page.get_by_label("Task", exact=True).first
    expect(task).to_be_focused()
    expect(task).to_have_attribute("aria-invalid", "true")
    expect(task).to_have_accessible_description(re.compile("at least 1 character"))
    expect(page.get_by_label("Criterion 2", exact=True)).to_have_accessible_description(re.compile("500 characters"))
    expect(page.get_by_label("agent_id").first).to_be_visible()
    expect(page.get_by_label("agent_id").first).to_have_attribute("aria-invalid", "true")
    expect(page.locator(JUDGE)).to_contain_text("400")
    task.fill("State the crew size and launch site.")
    page.get_by_label("Criterion 2", exact=True).fill("crew size")
    page.get_by_label("agent_id").first.fill("planner")
    page.get_by_role("button", name="Judge it").click()
    expect(page.locator(JUDGE).get_by_role("heading", name="pass")).to_be_visible()
    expect(page.locator("[aria-invalid]")).to_have_count(0)


@pytest.mark.promise("site.playground")
def test_a_fault_of_the_whole_list_stands_at_the_list(page: Page, server: Live) -> None:
    opened(page, server.new_key())
    page.get_by_role("tab", name="Consensus").click()
    for _ in range(2):
        page.get_by_role("button", name="Remove answer 1").click()
    page.get_by_role("button", name="Compare them").click()
    expect(page.get_by_role("group", name="Answers").locator(".error")).to_contain_text("at least 2")


@pytest.mark.promise("site.playground")
@pytest.mark.parametrize(
    ("key", "status", "says"),
    [("", 402, "Its offer: 0.005"), ("scr_wrong", 401, "An API key"), ("scr_" + "a" * 42, 401, "Get a free key")],
)
def test_a_call_without_a_good_key_says_how_to_get_one(page: Page, key: str, status: int, says: str) -> None:
    opened(page, key)
    page.get_by_role("button", name="Judge it").click()
    result = page.locator(JUDGE)
    expect(result.locator(".refusal")).to_contain_text(str(status))
    expect(result.get_by_role("link", name="Get a free key")).to_have_attribute("href", "/signup")
    if status == 402:
        expect(result).to_contain_text(says)
        expect(result.get_by_role("link", name="Pay per call")).to_have_attribute("href", "/docs/paying")
    else:
        expect(page.get_by_label("Your API key")).to_have_attribute("aria-invalid", "true")


@pytest.mark.promise("site.playground")
def test_used_up_calls_say_when_they_come_back(page: Page, server: Live) -> None:
    key = server.new_key()
    server.use_up(key)
    opened(page, key)
    page.get_by_role("button", name="Judge it").click()
    result = page.locator(JUDGE)
    expect(result.locator(".refusal")).to_contain_text("429")
    expect(result).to_contain_text(re.compile("Try again at .*, in 12 hours"))
    expect(result.get_by_role("link", name="Buy a pack")).to_have_attribute("href", "/pricing")


@pytest.mark.promise("site.playground")
def test_a_server_that_is_overloaded_or_gone_is_said(page: Page, server: Live) -> None:
    opened(page, server.new_key())
    problem = '{"title": "The server has too much to do", "detail": "Busy.", "code": "overloaded", "status": 503}'
    busy = {"content-type": "application/problem+json", "retry-after": "20"}
    page.route("**/v1/judge", lambda route: route.fulfill(status=503, headers=busy, body=problem))
    page.get_by_role("button", name="Judge it").click()
    expect(page.locator(JUDGE)).to_contain_text(re.compile("503.*in 20 seconds", re.DOTALL))
    page.unroute("**/v1/judge")
    page.context.set_offline(True)
    page.get_by_role("button", name="Judge it").click()
    expect(page.locator(JUDGE)).to_contain_text("can't be reached")
    expect(page.locator(JUDGE)).to_contain_text("offline")
    page.context.set_offline(False)
    page.get_by_role("button", name="Judge it").click()
    expect(page.locator(JUDGE).get_by_role("heading", name="pass")).to_be_visible()


@pytest.mark.promise("site.playground")
def test_the_keyboard_alone_judges_and_compares(page: Page, server: Live) -> None:
    key = server.new_key()
    page.goto("/playground")
    page.get_by_label("Your API key").focus()
    page.keyboard.type(key)
    for _ in range(3):  # the tabs, then the task, then the output
        page.keyboard.press("Tab")
    expect(page.get_by_label("Output of the agent")).to_be_focused()
    page.get_by_role("button", name="Judge it").focus()
    page.keyboard.press("Enter")
    expect(page.locator(JUDGE).get_by_role("heading", name="pass")).to_be_visible()
    page.get_by_role("tab", name="Judge").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Consensus")).to_be_focused()
    expect(page.get_by_role("button", name="Compare them")).to_be_visible()


@pytest.mark.promise("site.playground")
@pytest.mark.promise("site.no_js")
def test_without_scripts_the_page_shows_the_commands_and_no_form(browser: Browser, server: Live) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=f"http://127.0.0.1:{server.port}")
    page = context.new_page()
    for path, command in (("/playground", "/v1/judge"), ("/dashboard", "/v1/keys/me"), ("/signup", "/v1/keys")):
        page.goto(path)
        assert not page.get_by_label("Your API key").is_visible()
        assert page.get_by_role("textbox").count() == 0
        assert page.get_by_text(command).locator("visible=true").count() >= 1
    context.close()


@pytest.mark.promise("site.playground")
def test_a_typed_key_is_kept_nowhere(page: Page, server: Live) -> None:
    key = server.new_key()
    opened(page, key)
    page.get_by_role("button", name="Judge it").click()
    expect(page.locator(JUDGE).get_by_role("heading", name="pass")).to_be_visible()
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
    assert "scr_" not in stored
    page.reload()
    assert page.get_by_label("Your API key").input_value() == ""


@pytest.mark.promise("site.accessible")
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1440)])
def test_what_is_drawn_has_no_barrier(browser: Browser, server: Live, scheme: str, width: int) -> None:
    key = server.new_key()
    with opened_page(browser, server, color_scheme=scheme, viewport={"width": width, "height": 900}) as page:
        opened(page, key)
        page.get_by_role("button", name="Judge it").click()
        expect(page.locator(JUDGE).get_by_role("heading", name="pass")).to_be_visible()
        assert not barriers(page)
        page.get_by_label("Your API key").fill("")
        page.get_by_label("Task", exact=True).first.fill("")
        page.get_by_role("button", name="Judge it").click()
        expect(page.locator(JUDGE).locator(".refusal")).to_contain_text("402")
        assert not barriers(page)
        page.get_by_label("Your API key").fill(key)
        page.get_by_role("button", name="Judge it").click()
        expect(page.locator("#judge .error")).to_be_visible()
        assert not barriers(page)
        page.get_by_role("tab", name="Consensus").click()
        page.get_by_role("button", name="Compare them").click()
        expect(page.locator(CONSENSUS).get_by_role("heading", name="high risk")).to_be_visible()
        assert not barriers(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
