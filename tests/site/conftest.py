"""Real builds of copies of the real sources, into temporary directories."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from site_build.build import build
from site_build.faults import BuildFailed
from site_build.tree import ROOT, Sources

BASE_URL = "https://site.test"


@dataclass(frozen=True)
class Project:
    """A copy of the sources and the directory that they are built into."""

    content: Path
    templates: Path
    out: Path
    cache: Path | None

    def build(self, base_url: str = BASE_URL, date: str = "") -> str:
        """One build. Raises BuildFailed."""
        return build(Sources.read(self.content, self.templates), self.out, base_url, date, self.cache)

    def faults(self) -> list[str]:
        """The lines of a build that must fail, with paths from the project's own directory."""
        with pytest.raises(BuildFailed) as failed:
            self.build()
        return [str(fault).replace(f"{self.content.parent}/", "") for fault in failed.value.faults]

    def edit(self, name: str, old: str, new: str) -> int:
        """Replaces the first `old` in a file of the copy; the line at which it stood."""
        path = self.content.parent / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} has no {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return text.count("\n", 0, text.index(old)) + 1

    def append(self, name: str, text: str) -> int:
        """Adds lines to the end of a file of the copy; the number of the first of them."""
        path = self.content.parent / name
        before = path.read_text(encoding="utf-8").rstrip("\n") + "\n\n"
        path.write_text(before + text + "\n", encoding="utf-8")
        return before.count("\n") + 1


def copied(top: Path, cache: Path | None) -> Project:
    """A project of its own below `top`."""
    for name in ("content", "templates"):
        shutil.copytree(ROOT / name, top / name, ignore=shutil.ignore_patterns("__pycache__"))
    return Project(top / "content", top / "templates", top / "dist", cache)


def snapshot(out: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


@pytest.fixture(scope="session")
def cache_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests: what it returns must never show in the output."""
    return tmp_path_factory.mktemp("cache") / "site.db"


@pytest.fixture
def project(tmp_path: Path, cache_file: Path) -> Project:
    """An unbuilt project that the test may change."""
    return copied(tmp_path, cache_file)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, cache_file: Path) -> Project:
    """The real site, built once. Tests only read it."""
    found = copied(tmp_path_factory.mktemp("built"), cache_file)
    found.build()
    return found
