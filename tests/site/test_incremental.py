"""What a build reuses never shows: after any edit dist/ is to the byte what a first build makes of the same sources."""

from collections.abc import Callable
from pathlib import Path

import pytest

from site_build.faults import BuildFailed
from site_build.model import Source
from site_build.needs import ANYTHING, Needs
from tests.site.conftest import Project, copied, snapshot

POST = "---\ntitle: {title}\ndescription: {title}, a post that a test has written to see what an edit of it changes.\n"
POST += "date: {date}\n---\nSome words.\n\n## A heading\n\nMore of them, and a [link](/docs).\n"

Edit = Callable[[Project], object]


def post(project: Project, slug: str, title: str, date: str = "2026-11-01") -> None:
    (project.content / "blog" / f"{slug}.md").write_text(POST.format(title=title, date=date))


def rename(project: Project) -> None:
    (project.content / "blog" / "second.md").rename(project.content / "blog" / "renamed.md")


EDITS: dict[str, Edit] = {
    "a body": lambda p: p.append("content/blog/first.md", "One more line."),
    "a heading, which the search index lists": lambda p: p.edit("content/blog/first.md", "## A heading", "## Another"),
    "a title, which lists, feed and llms.txt show": lambda p: p.edit("content/blog/first.md", "First", "Foremost"),
    "a date, which changes the order": lambda p: p.edit("content/blog/first.md", "2026-11-01", "2026-11-20"),
    "a new post": lambda p: post(p, "third", "Third"),
    "a rename": rename,
    "a deletion": lambda p: (p.content / "blog" / "third.md").unlink(),
    "a guide's label, which the other guides show": lambda p: p.edit(
        "content/pages/docs/judge.md", "title: H", "title: Just h"
    ),
    "a file that a page includes": lambda p: p.append("content/pages/docs/judge-measured.txt", "One more row."),
    "a program of an integration": lambda p: p.append("content/integrations/curl/screwtape_curl.sh", "# The end."),
    "an answer set": lambda p: p.edit("content/blog/false-consensus.yaml", "output: alpha bravo}", "output: alpha}"),
    "a template": lambda p: p.edit("templates/base.html", "Not the arXiv paper", "Certainly not the arXiv paper"),
    "a template that others call": lambda p: p.edit("templates/macros.html", "View as Markdown", "See as Markdown"),
    "a style sheet": lambda p: p.append("templates/static/site.css", ".end { color: red; }"),
    "the contract": lambda p: p.edit("content/openapi.yaml", "summary: Judge one", "summary: Please judge one"),
    "a fact": lambda p: p.edit("content/plans.yaml", "calls_per_day: 100", "calls_per_day: 1234"),
    "a new page": lambda p: (p.content / "pages" / "extra.md").write_text(
        POST.format(title="Extra", date="x").replace("date: x\n", "")
    ),
}


@pytest.mark.promise("site.build_identical")
def test_each_edit_makes_what_a_first_build_makes(project: Project, tmp_path: Path) -> None:
    post(project, "first", "First")
    post(project, "second", "Second")
    project.build()
    for number, (name, edit) in enumerate(EDITS.items()):
        edit(project)
        before = snapshot(project.out)
        assert "built" in project.build(), name
        afresh = Project(project.content, project.templates, tmp_path / f"afresh-{number}", None)
        afresh.build()
        made, wanted = snapshot(project.out), snapshot(afresh.out)
        assert {file for file in made.keys() | wanted.keys() if made.get(file) != wanted.get(file)} == set(), name
        assert made != before, name


def test_an_edit_leaves_the_files_of_other_pages_alone(project: Project) -> None:
    post(project, "first", "First")
    project.build()
    numbers = {path: path.stat().st_ino for path in project.out.rglob("*") if path.is_file()}
    project.append("content/blog/first.md", "One more line.")
    project.build()
    changed = {
        path.relative_to(project.out).as_posix() for path, number in numbers.items() if path.stat().st_ino != number
    }
    pages = {name.removesuffix(".br").removesuffix(".gz") for name in changed}
    assert pages == {"blog/first.html", "blog/first.md", "blog/feed.xml", "llms-full.txt", "manifest.json"}


def test_a_build_after_a_failed_one_starts_from_the_last_good_one(project: Project, tmp_path: Path) -> None:
    project.build()
    line = project.append("content/pages/privacy.md", "{{ nope }}")
    with pytest.raises(BuildFailed, match=rf"privacy\.md:{line}:4: 'nope' is undefined"):
        project.build()
    project.edit("content/pages/privacy.md", "{{ nope }}", "Mended.")
    project.build()
    afresh = Project(project.content, project.templates, tmp_path / "afresh", None)
    afresh.build()
    assert snapshot(project.out) == snapshot(afresh.out)


def test_a_file_that_somebody_touched_is_not_reused(project: Project) -> None:
    project.build()
    good = snapshot(project.out)
    page = project.out / "privacy.html"
    page.write_bytes(page.read_bytes().replace(b"Privacy", b"Pryvaci"))
    project.append("content/pages/pricing.md", "One more line.")
    project.build()
    assert (project.out / "privacy.html").read_bytes() == good["privacy.html"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{{ asset("site.css") }} site {{ page.site }}', False),
        ("{% for article in site.articles %}", True),
        ("{{ minutes or site }}", True),
        ('{% include "inner.html" %}', True),
        ("{%- import 'inner.html' as inner with context %}", True),
        ("{{ 'inner.html' }}", False),
    ],
)
def test_what_a_template_needs(text: str, expected: bool) -> None:
    templates = {"outer.html": Source("outer", text), "inner.html": Source("inner", "{% if site %}")}
    assert ("site" in Needs(templates).of("outer.html")) == expected


def test_a_template_that_is_chosen_by_an_expression_may_need_anything() -> None:
    assert ANYTHING in Needs({"a.html": Source("a", "{% extends layout %}")}).of("a.html")


def test_two_projects_do_not_share_what_was_left(tmp_path: Path, cache_file: Path) -> None:
    one, other = copied(tmp_path / "one", cache_file), copied(tmp_path / "other", cache_file)
    one.build()
    other.append("content/pages/privacy.md", "One more line.")
    other.build()
    assert "One more line." in (other.out / "privacy.html").read_text()
    assert "One more line." not in (one.out / "privacy.html").read_text()
