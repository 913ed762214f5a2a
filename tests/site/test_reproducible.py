"""The same sources make the same bytes, whatever the machine looks like."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from site_build.tree import ROOT
from tests.site.conftest import Project, copied, snapshot


def run(project: Project, **environment: str) -> subprocess.CompletedProcess[str]:
    places = {"content": project.content, "templates": project.templates, "out": project.out}
    places["cache"] = project.out.with_name("cache.db")
    command = [sys.executable, "-m", "site_build", "--base-url", "https://site.test"]
    command += [f"--{name}={path}" for name, path in places.items()]
    keep = {name: value for name, value in os.environ.items() if name not in ("PUBLIC_BASE_URL", "SOURCE_DATE_EPOCH")}
    return subprocess.run(command, cwd=ROOT, env=keep | environment, capture_output=True, text=True, timeout=60)


@pytest.mark.promise("site.build_identical")
def test_two_machines_make_the_same_bytes(tmp_path: Path) -> None:
    one, other = copied(tmp_path / "one", None), copied(tmp_path / "a/longer path", None)
    for path in other.content.rglob("*"):
        os.utime(path, (1, 1))
    for project, environment in (
        (one, {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"}),
        (other, {"PYTHONHASHSEED": "4242", "TZ": "Pacific/Kiritimati", "LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8"}),
    ):
        done = run(project, **environment)
        assert done.returncode == 0, done.stderr
    assert snapshot(one.out) == snapshot(other.out)


def test_a_warm_cache_shows_nowhere(project: Project, tmp_path: Path) -> None:
    project.build()
    cold = copied(tmp_path / "cold", None)
    cold.build()
    assert snapshot(project.out) == snapshot(cold.out)


def test_a_broken_cache_is_begun_anew(tmp_path: Path) -> None:
    cache = tmp_path / "site.db"
    cache.write_bytes(b"not a database" * 100)
    project = copied(tmp_path / "project", cache)
    project.build()
    assert (project.out / "index.html").is_file()
    assert cache.read_bytes().startswith(b"SQLite format 3")


@pytest.mark.promise("site.build_identical")
def test_an_unchanged_site_is_left_alone(project: Project) -> None:
    project.build()
    before = project.out.stat().st_ino
    assert "up to date" in project.build()
    assert project.out.stat().st_ino == before
    project.append("content/pages/privacy.md", "One more line.")
    assert "built" in project.build()
    assert project.out.stat().st_ino != before


def test_a_changed_dist_is_mended(project: Project) -> None:
    project.build()
    good = snapshot(project.out)
    (project.out / "index.html").write_text("gone")
    (project.out / "docs.html.br").unlink()
    project.build()
    assert snapshot(project.out) == good


def test_the_date_is_the_only_now(project: Project) -> None:
    project.build()
    undated = snapshot(project.out)
    project.build(date="2026-12-24")
    changed = {name for name, body in snapshot(project.out).items() if undated[name] != body}
    assert {name.removesuffix(".gz").removesuffix(".br") for name in changed} == {"sitemap.xml", "manifest.json"}
    assert b"<lastmod>2026-12-24</lastmod>" in (project.out / "sitemap.xml").read_bytes()


def test_the_command_line(tmp_path: Path) -> None:
    project = copied(tmp_path, None)
    assert run(project, SOURCE_DATE_EPOCH="86400").returncode == 0
    assert "<lastmod>1970-01-02</lastmod>" in (project.out / "sitemap.xml").read_text()
    line = project.append("content/pages/privacy.md", "[Away](/nowhere)")
    before = snapshot(project.out)
    done = run(project)
    assert done.returncode == 1
    assert f"pages/privacy.md:{line}:8: the link /nowhere leads nowhere" in done.stderr
    assert snapshot(project.out) == before
