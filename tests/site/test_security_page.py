"""The page on security names the tests that stand behind it."""

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
