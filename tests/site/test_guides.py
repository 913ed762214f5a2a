"""The guides of the documentation, and the page on security, which names the tests that stand behind it."""

import re

import pytest

from tests.examples import ROOT
from tests.site.conftest import Project


@pytest.mark.promise("site.security_page")
def test_each_defence_names_a_test_that_exists(built: Project) -> None:
    page = (built.out / "security.md").read_text(encoding="utf-8")
    defended, _, open_ = page.partition("## Not defended")
    rows = [line for line in defended.splitlines() if line.startswith("| ") and not line.startswith("| attack")]
    assert len(rows) > 15
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)`", row)
        assert named, row
        assert all((ROOT / name).is_file() for name in named), row
    assert open_.count("\n- **") >= 8


@pytest.mark.promise("site.doc_guides")
@pytest.mark.parametrize(
    "guide", ["quickstart", "judge", "consensus", "paying", "self-hosting", "benchmarks", "architecture"]
)
def test_the_documentation_has_its_guides(guide: str, built: Project) -> None:
    page = (built.out / "docs" / f"{guide}.md").read_text(encoding="utf-8")
    assert len(page.split()) > 300
    assert f"/docs/{guide}" in (built.out / "llms.txt").read_text(encoding="utf-8")


def test_the_benchmarks_tell_the_machine_and_the_day(built: Project) -> None:
    page = (built.out / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert re.search(r"Measured on \d+ \w+ 20\d\d: \d+ cores? of ", page)
    assert len(re.findall(r"^\| \d+ \| Screwtape \|", page, re.MULTILINE)) == 3
