"""The built site as the server answers it, beside the API, over a real socket."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.live import Answer, Live, live_server
from tests.site.conftest import BASE_URL, Project

HTML = "text/html,application/xhtml+xml,*/*;q=0.8"


@pytest.fixture(scope="module")
def server(built: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("served"), dist=built.out, PUBLIC_BASE_URL=BASE_URL) as live:
        yield live


@pytest.fixture(scope="module")
def routes(built: Project) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((built.out / "manifest.json").read_text())["routes"]
    return found


def get(server: Live, path: str, method: str = "GET", **headers: str) -> Answer:
    return server.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.promise("product.two_halves")
def test_every_file_of_the_site_is_served_beside_the_api(server: Live, routes: dict[str, Any], built: Project) -> None:
    assert server.request("GET", "/v1/health").status == 200
    for path, route in routes.items():
        answer = get(server, path)
        assert answer.status == 200, path
        assert answer.headers["content-type"] == route["type"], path
        assert answer.body == (built.out / route["file"]).read_bytes(), path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-request-id"].startswith("req_")


@pytest.mark.promise("http.head")
def test_head_answers_as_get_does(server: Live, routes: dict[str, Any]) -> None:
    for path in (*routes, "/nowhere"):
        head, full = get(server, path, "HEAD", Accept=HTML), get(server, path, Accept=HTML)
        assert (head.status, head.body) == (full.status, b"")
        kept = [{n: v for n, v in a.headers.items() if n not in ("date", "x-request-id")} for a in (head, full)]
        assert kept[0] == kept[1], path


@pytest.mark.promise("site.markdown_accept")
@pytest.mark.parametrize(
    ("accept", "markdown"),
    [
        ("text/markdown", True),
        ("text/markdown, text/html;q=0.9", True),
        ("text/html;q=0.5, text/markdown;q=0.6", True),
        ("TEXT/MARKDOWN", True),
        ("text/markdown;q=0.4, text/html;q=0.5", False),
        ("text/markdown;q=0", False),
        (HTML, False),
        ("*/*", False),
        ("", False),
    ],
)
def test_a_page_is_markdown_for_who_asks_for_it(server: Live, accept: str, markdown: bool) -> None:
    answer = get(server, "/pricing", Accept=accept)
    assert "Accept" in re.split(", *", answer.headers["vary"])
    mirror = get(server, "/pricing.md")
    if markdown:
        assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
        assert answer.body == mirror.body
    else:
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["etag"] != mirror.headers["etag"]


@pytest.mark.promise("site.markdown_mirror")
def test_every_page_has_its_mirror(server: Live, routes: dict[str, Any]) -> None:
    pages = [path for path, route in routes.items() if route["type"].startswith("text/html") and path != "/404.html"]
    assert len(pages) >= 18
    for path in pages:
        mirror = "/index.md" if path == "/" else f"{path}.md"
        answer = get(server, mirror)
        assert (answer.status, answer.headers["content-type"]) == (200, "text/markdown; charset=utf-8"), mirror
        assert answer.body.startswith(b"# ")


@pytest.mark.promise("http.discovery_cors")
@pytest.mark.parametrize("path", ["/openapi.json", "/llms.txt", "/llms-full.txt"])
@pytest.mark.parametrize("origin", ["https://anywhere.example", "null", None])
def test_discovery_files_can_be_read_from_anywhere(server: Live, path: str, origin: str | None) -> None:
    answer = get(server, path, **({} if origin is None else {"Origin": origin}))
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == "*"


def test_pages_can_not_be_read_by_other_origins(server: Live) -> None:
    assert "access-control-allow-origin" not in get(server, "/pricing", Origin="https://anywhere.example").headers


@pytest.mark.promise("site.not_found_page")
@pytest.mark.promise("http.not_found")
@pytest.mark.parametrize(
    "path", ["/nowhere", "/docs/nowhere", "/../etc/passwd", "/%2e%2e/x", "/static/", "/index.html"]
)
def test_an_unknown_page_is_a_404_for_people_and_for_programs(server: Live, path: str) -> None:
    page = get(server, path, Accept=HTML)
    assert page.status == 404
    assert page.body == get(server, "/404.html").body
    assert_not_found(get(server, path))
    assert_not_found(get(server, path, Accept="application/json"))
    assert_not_found(get(server, path, "POST", Accept=HTML))


def assert_not_found(answer: Answer) -> None:
    assert (answer.status, answer.json["code"]) == (404, "not_found")
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.promise("http.method_not_allowed")
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_a_page_takes_no_other_method(server: Live, method: str) -> None:
    answer = get(server, "/pricing", method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


def test_an_unchanged_page_is_not_sent_again(server: Live) -> None:
    first = get(server, "/docs", Accept_Encoding="br")
    assert first.headers["content-encoding"] == "br"
    assert "Accept-Encoding" in first.headers["vary"]
    again = get(server, "/docs", Accept_Encoding="br", If_None_Match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    other = get(server, "/docs", If_None_Match=first.headers["etag"])
    assert other.status == 200


def test_a_slash_too_many_leads_to_the_page(server: Live) -> None:
    answer = get(server, "/docs/?a=b")
    assert (answer.status, answer.headers["location"]) == (308, "/docs?a=b")
    # Not to another host: "//evil.example/" is a path like any other.
    assert get(server, "//evil.example/").status == 404


def text(server: Live, path: str) -> str:
    answer = get(server, path)
    assert answer.status == 200
    return answer.body.decode()


def flat(server: Live, path: str) -> str:
    """The Markdown without its line breaks, to look for sentences in."""
    return " ".join(text(server, path).split())


@pytest.mark.promise("site.landing")
def test_the_landing_page_shows_a_live_example_and_the_price(server: Live) -> None:
    page = text(server, "/index.md")
    assert "/v1/judge" in page
    assert '"verdict": "pass"' in page
    assert "100 calls a day are free" in flat(server, "/index.md")
    for link in ("/pricing", "/docs", "/integrations", "/blog/false-consensus"):
        assert f"({link})" in page or f"]({BASE_URL}{link}" in page, link


@pytest.mark.promise("site.pricing")
@pytest.mark.promise("facts.packs")
def test_the_prices_are_the_documented_ones(server: Live) -> None:
    for path in ("/pricing.md", "/llms.txt"):
        page = flat(server, path)
        for word in ("100", "$30", "10,000", "$100", "50,000", "$0.005", "USDC"):
            assert word in page, (path, word)


@pytest.mark.promise("site.privacy")
def test_the_privacy_page_says_what_is_stored_and_what_is_not(server: Live) -> None:
    page = text(server, "/privacy.md")
    assert "## Stored" in page
    assert "## Not stored" in page
    assert "24 hours" in page
    assert "DELETE" in page


@pytest.mark.promise("keys.unverified")
def test_the_docs_say_that_an_email_proves_nothing(server: Live) -> None:
    page = flat(server, "/docs.md")
    assert "Emails are not verified, so that cap is no proof of identity." in page


@pytest.mark.promise("judge.score_meaning")
def test_the_docs_say_what_the_score_is_not(server: Live) -> None:
    page = flat(server, "/docs/judge.md")
    assert "how acceptable the output is" in page
    assert "not the confidence in the verdict" in page
    assert re.search(r"a certain `fail` is near 0", page)
    for edge in ("0.40", "0.70"):
        assert edge in page


@pytest.mark.promise("site.changelog")
@pytest.mark.promise("site.blog_index")
def test_the_changelog_and_the_blog_have_entries(server: Live) -> None:
    assert re.search(r"^## ", text(server, "/changelog.md"), re.MULTILINE)
    assert "/blog/false-consensus" in text(server, "/blog.md")


@pytest.mark.promise("site.article")
def test_the_article_has_its_title_and_date(server: Live) -> None:
    page = text(server, "/blog/false-consensus")
    assert "False consensus in multi-agent swarms and how to catch it" in page
    assert "20 October 2026" in page


REASONS = (
    "Answers are nearly verbatim. High agreement may be copied rather than independent.",
    "The agreed answer is too thin to treat as an independent consensus.",
    "A minority answer materially disagrees with the majority.",
    "Agents disagree, so there is no false consensus and no stable majority.",
    "The majority agrees without a verbatim pile-on or a strong dissent.",
)


@pytest.mark.promise("site.article_rules")
def test_the_article_gives_every_rule(server: Live) -> None:
    page = flat(server, "/blog/false-consensus.md")
    for number in ("0.55", "0.8", "0.9", "0.6", "0.35", "four"):
        assert number in page, number
    for reason in (*REASONS, "Agreement is token overlap, not a model judgment."):
        assert reason in page
    for heading in ("How to read each risk", "What a model changes", "What the HTTP response adds"):
        assert f"## {heading}" in page


@pytest.mark.promise("site.article_caveats")
def test_the_article_says_whose_figures_it_shows(server: Live) -> None:
    page = flat(server, "/blog/false-consensus.md")
    assert "deterministic function's figures" in page
    assert "no model key is set" in page
    assert "`request_id` is left out because it is made per call" in page


@pytest.mark.promise("site.llms_prose")
@pytest.mark.promise("site.llms_user_agents")
def test_llms_txt_says_what_agents_need_to_know(server: Live) -> None:
    prose, _, _ = flat(server, "/llms.txt").partition(" ## ")
    for word in (
        "not the arXiv paper",
        "24 hours",
        "$30",
        "$100",
        "100 free calls",
        'amount "5000"',
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        "0x028Bb9A57B8C27c22f6B39dd00e7eFF1FB60344B",
        "eip155:8453",
        "openai/gpt-oss-120b",
        "qwen/qwen3.8-27b",
        "Python urllib",
        "Cloudflare Bot Fight Mode is a zone setting, not this server",
        "can answer 403 to Python urllib before the server runs",
        "https://screwtape.ai and https://www.screwtape.ai",
        "without an Origin header are allowed",
    ):
        assert word in prose, word


def test_errors_point_to_their_place_on_the_errors_page(server: Live) -> None:
    answer = server.request("GET", "/v1/keys/me")
    path, _, anchor = answer.json["type"].removeprefix(BASE_URL).partition("#")
    assert f'id="{anchor}"' in text(server, path)


def test_the_api_is_not_shadowed_by_a_page(server: Live) -> None:
    answer = get(server, "/v1/nothing", Accept=HTML)
    assert (answer.status, answer.json["code"]) == (404, "not_found")
    key = server.new_key()
    assert_problem_type(server.request("POST", "/v1/judge", b"{", key=key))


def assert_problem_type(answer: Answer) -> None:
    assert answer.json["type"] == f"{BASE_URL}/errors#malformed_json"
