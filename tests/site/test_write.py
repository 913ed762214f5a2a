"""dist/ is replaced whole, by its own kind only, and holds nothing but what was built."""

import gzip
import json

import brotli  # type: ignore[import-untyped]  # it ships no type information
import pytest

from site_build.faults import BuildFailed
from tests.site.conftest import Project, snapshot


@pytest.mark.promise("site.build_replaces")
def test_stale_files_are_dropped(project: Project) -> None:
    project.build()
    (project.out / "old.html").write_text("from an earlier version")
    (project.content / "pages" / "extra.md").write_text(
        "---\ntitle: Extra\ndescription: A page that lives for one build only, to see that it goes.\n---\nText.\n"
    )
    project.build()
    assert (project.out / "extra.html").is_file()
    assert not (project.out / "old.html").exists()
    (project.content / "pages" / "extra.md").unlink()
    project.build()
    assert not list(project.out.glob("extra*"))
    assert not project.out.with_name("dist.stage").exists()


def test_a_foreign_directory_is_refused(project: Project) -> None:
    project.out.mkdir()
    (project.out / "thesis.txt").write_text("three years of work")
    assert project.faults()[0].startswith("dist:1:1: has no manifest.json of ours")
    assert snapshot(project.out) == {"thesis.txt": b"three years of work"}


def test_a_foreign_manifest_is_refused(project: Project) -> None:
    project.out.mkdir()
    (project.out / "manifest.json").write_text('{"name": "an app of somebody"}')
    assert "has no manifest.json of ours" in project.faults()[0]


def test_a_file_and_a_link_are_refused(project: Project) -> None:
    project.out.write_text("a file")
    assert "is not a directory" in project.faults()[0]
    project.out.unlink()
    (project.out.parent / "elsewhere").mkdir()
    project.out.symlink_to("elsewhere")
    assert "is not a directory" in project.faults()[0]


def test_an_empty_directory_is_taken(project: Project) -> None:
    project.out.mkdir()
    project.build()
    assert (project.out / "index.html").is_file()


@pytest.mark.promise("site.failed_build_keeps")
def test_a_failure_while_writing_leaves_the_old_site(project: Project) -> None:
    project.build()
    before = snapshot(project.out)
    project.append("content/pages/privacy.md", "A change.")
    stage = project.out.with_name("dist.stage")
    stage.write_text("something that can't be a directory")
    with pytest.raises(OSError, match=r"dist\.stage"):
        project.build()
    assert snapshot(project.out) == before


def test_compressed_neighbours(built: Project) -> None:
    files = snapshot(built.out)
    rows = json.loads(files["manifest.json"])["routes"].values()
    assert rows
    for row in rows:
        name, body = row["file"], files[row["file"]]
        if row["type"].startswith("text/") and len(body) > 256:
            assert gzip.decompress(files[name + ".gz"]) == body
            assert files[name + ".gz"][4:8] == b"\0\0\0\0", "the time of a gzip file is no part of its content"
            assert brotli.decompress(files[name + ".br"]) == body
        assert len(body) > 256 or name + ".gz" not in files
        assert not name.endswith((".png", ".ico")) or name + ".br" not in files


def test_the_manifest_lists_exactly_what_is_there(built: Project) -> None:
    files = snapshot(built.out)
    manifest = json.loads(files.pop("manifest.json"))
    assert manifest["base_url"] == "https://site.test"
    listed = {row["file"] for row in manifest["routes"].values()}
    assert {name for name in files if not name.endswith((".gz", ".br"))} == listed
    for route, row in manifest["routes"].items():
        if "markdown" in row:
            assert manifest["routes"][row["markdown"]]["type"].startswith("text/markdown")
        assert row["cache"] == ("asset" if route.startswith("/static/") else row["cache"])
        assert row["cache"] in ("page", "asset", "discovery")
    assert {manifest["routes"][path]["cache"] for path in ("/openapi.json", "/llms.txt", "/llms-full.txt")} == {
        "discovery"
    }
    text = (built.out / "manifest.json").read_text()
    assert text == json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


def test_an_address_that_is_none_is_refused(project: Project) -> None:
    with pytest.raises(BuildFailed, match="is not an address"):
        project.build(base_url="ftp://site.test/x")
