"""The picture of the architecture is that of the code."""

import pytest

from tests.architecture import FILE, PARTS, part_of, picture
from tests.test_layers import MODULES


@pytest.mark.promise("site.architecture")
def test_the_picture_is_drawn_from_the_imports() -> None:
    assert FILE.read_text(encoding="utf-8") == picture(MODULES), "run `python -m tests.architecture`"


def test_every_module_has_its_part() -> None:
    assert [module.name for module in MODULES if part_of(module.name) is None and module.name != "api"] == []
    assert {part_of(module.name) for module in MODULES} >= set(PARTS)
