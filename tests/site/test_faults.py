"""Whatever is wrong is named with its file and line, all of it at once, and the site that stands stays."""

import re
from collections.abc import Callable

import pytest

from tests.site.conftest import Project, snapshot

PRIVACY = "content/pages/privacy.md"
ARTICLE = "content/blog/false-consensus.md"
CONTRACT = "content/openapi.yaml"
CURL = "content/integrations/curl/meta.yaml"
CASES = "content/blog/false-consensus.yaml"

Spoil = Callable[[Project], str]


def privacy(text: str, message: str, column: int = 1, down: int = 0) -> Spoil:
    """Appends `text` to a page; the fault is in its line number `down`."""
    return lambda p: rf"{re.escape(PRIVACY)}:{p.append(PRIVACY, text) + down}:{column}: {message}"


def edited(name: str, old: str, new: str, message: str, down: int = 0) -> Spoil:
    return lambda p: rf"{re.escape(name)}:{p.edit(name, old, new) + down}:\d+: {message}"


SPOILS: dict[str, Spoil] = {
    "broken link": privacy("See [this](/nowhere).", "the link /nowhere leads nowhere", 12),
    "broken anchor": privacy("See [this](/docs#nowhere).", "the link /docs#nowhere has no anchor", 12),
    "broken anchor of the page itself": privacy("See [this](#nowhere).", "the link #nowhere has no anchor", 12),
    "relative link": privacy("See [this](docs).", "the link docs must begin with a slash", 12),
    "absolute link to the site": privacy("[x](https://site.test/no)", "the link /no leads nowhere", 22),
    "broken link in HTML": privacy('<p><a href="/nowhere">x</a></p>', "the link /nowhere leads nowhere", 13),
    "image that is not there": privacy("![A picture](/static/none.png)", "the link /static/none.png leads nowhere", 14),
    "raw fence": privacy("- item\n\n```sh\nls\n", "a code fence", 1, 2),
    "unknown reference": privacy("See [this][nope] page.", r"\[this\]\[nope\] is no link", 5),
    "inline script": privacy("<script>alert(1)</script>", "inline script is blocked", 1),
    "inline style sheet": privacy("<style>p {}</style>", "inline style is blocked", 1),
    "inline style": privacy('<p style="color: red">x</p>', "inline style is blocked", 4),
    "inline handler": privacy('<p onclick="go()">x</p>', "inline onclick is blocked", 4),
    "javascript link": privacy('<a href="javascript:go()">x</a>', "inline javascript is blocked", 10),
    "unknown template in a page": privacy('{% include "nope.md" %}', "there is no template 'nope.md'", 13),
    "unknown template in a template": edited(
        "templates/article.md", "mirror-head.txt", "no-head.txt", "there is no template 'no-head.txt'"
    ),
    "id twice": privacy('<p id="aa">x</p>\n\n<p id="aa">y</p>', "the id aa stands twice", 8),
    "template syntax": privacy("{% if %}", ".*"),
    "unknown name": privacy("It costs {{ facts.price }}.", ".*has no attribute 'price'", 19),
    "unknown variable": privacy("It costs {{ pricee }}.", "'pricee' is undefined", 13),
    "unknown filter": privacy("It costs {{ version | nofilter }}.", "No filter named 'nofilter'", 23),
    "unknown operation": privacy("{{ curl('juge') }}", "'juge' is not an operation", 10),
    "unknown file": privacy("{{ code('x.py') }}", "there is no file 'x.py'", 10),
    "bad YAML": edited(PRIVACY, "title: ", "title: [", "did not find expected", 1),
    "duplicate key": edited(PRIVACY, "title: ", "title: x\ntitle: ", "the key 'title' stands twice", 1),
    "unknown key": edited(PRIVACY, "title: ", "titel: x\ntitle: ", "unknown key titel"),
    "title that YAML reads as false": edited(PRIVACY, "nav_label: Privacy", "nav_label: no", "nav_label must be text"),
    "short description": edited(
        "content/changelog.md", "description: ", "description: x #", "description must have 50"
    ),
    "unknown layout": edited(
        "content/pages/signup.md", "layout: signup", "layout: singup", "there is no template singup"
    ),
    "bad date": edited(ARTICLE, "date: ", "date: 2026-02-30 #", "date must be a date"),
    "missing answer sets": edited(ARTICLE, "cases: ", "cases: no-", "there is no file"),
    "answer set that does not fit": edited(CASES, "output: The crew", "text: The crew", ".*is not a known field", -4),
    "bad meta.yaml": edited(CURL, "order: ", "order: x", "order must be a whole number"),
    "integration file missing": edited(CURL, "file: ", "file: no_", "there is no file no_"),
    "bad site.yaml": edited("content/site.yaml", "name: ", "name: [", "did not find expected", 1),
    "template error": edited("templates/pricing.html", "{{ heading }}", "{{ headinng }}", "'headinng' is undefined"),
    "template syntax error": edited("templates/pricing.html", "{{ heading }}", "{% nope %}", "Encountered unknown tag"),
    "broken link in a template": edited(
        "templates/base.html", '"/privacy"', '"/privat"', "the link /privat leads nowhere"
    ),
    "broken link in the reference": edited(
        CONTRACT,
        "summary: Judge one agent output\n      description: |\n",
        "summary: Judge one agent output\n      description: |\n        [here](/nowhere)\n",
        "the link /nowhere",
        2,
    ),
    "example that does not fit": edited(
        CONTRACT, "agent_output: The crew", "agent_outptu: The crew", "the example does not fit"
    ),
    "answer example that does not fit": edited(CONTRACT, "remaining: 97", "remaining: many", "the example does"),
    "header example that does not fit": edited(CONTRACT, "examples: [30]", "examples: [soon]", "the example does"),
}


@pytest.mark.promise("site.fault_places")
@pytest.mark.promise("site.failed_build_keeps")
@pytest.mark.parametrize("name", SPOILS)
def test_a_fault_is_named_and_dist_stays(name: str, project: Project) -> None:
    project.out.mkdir()
    (project.out / "manifest.json").write_text('{"base_url": "", "inputs": "", "routes": {}}')
    (project.out / "page.html").write_text("an earlier site")
    before = snapshot(project.out)
    expected = SPOILS[name](project)
    faults = project.faults()
    assert any(re.match(expected, fault) for fault in faults), f"{expected}\n" + "\n".join(faults)
    assert snapshot(project.out) == before
    assert not project.out.with_name("dist.stage").exists()


@pytest.mark.promise("site.fault_places")
def test_missing_keys_and_front_matter(project: Project) -> None:
    project.edit("content/changelog.md", "title: ", "#title: ")
    project.edit("content/pages/privacy.md", "---\n", "")
    assert project.faults() == [
        "content/changelog.md:1:1: the key title is missing",
        "content/pages/privacy.md:1:1: the file must begin with front matter between two lines of ---",
    ]


def test_all_faults_of_a_stage_come_at_once(project: Project) -> None:
    lines = [
        project.append(f"content/pages/{name}.md", f"[x](/no-{name})") for name in ("pricing", "privacy", "signup")
    ]
    project.append("content/pages/errors.md", "[x](/docs#none)")
    found = [fault.rpartition(": ")[0].split(" ")[0] for fault in project.faults()]
    assert len(found) == 4
    assert f"content/pages/privacy.md:{lines[1]}:5:" in found


def test_faults_of_front_matter_and_contract_come_together(project: Project) -> None:
    project.edit("content/openapi.yaml", "openapi: ", "openapi: [")
    project.edit("content/pages/privacy.md", "title: ", "titel: x\ntitle: ")
    files = {fault.partition(":")[0] for fault in project.faults()}
    assert files == {"content/openapi.yaml", "content/pages/privacy.md"}


def test_two_pages_can_not_share_an_address(project: Project) -> None:
    (project.content / "pages" / "changelog.md").write_text((project.content / "changelog.md").read_text())
    assert any("two files want the address /changelog" in fault for fault in project.faults())
