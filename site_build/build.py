"""One build: load, render, check, write. Everything is made in memory first, so a fault writes nothing."""

from pathlib import Path

from site_build import seal, tree
from site_build.cache import Cache
from site_build.check import check
from site_build.faults import BuildFailed
from site_build.load import Loader
from site_build.render import render
from site_build.tree import shown
from site_build.write import changes, files_of, refuse_foreign, write


def build(
    content: Path, templates: Path, out: Path, base_url: str, date: str, cache_file: Path | None, inputs: str
) -> str:
    """Builds the site into `out` and says what was done in a line. Raises BuildFailed with every fault."""
    refuse_foreign(out)
    cache = Cache(cache_file, tree.builder_digest())
    try:
        site = Loader(content, templates).load(base_url, date)
        outputs = render(site, cache)
        if faults := check(site, outputs):
            raise BuildFailed(faults)
        files = files_of(outputs, site.base_url, inputs, cache)
        changed = changes(out, files)
        if changed:
            write(out, files, changed)
        seal.put(out, inputs, cache)
    finally:
        cache.close()
    return f"{shown(out)} {'built' if changed else 'is up to date'}: {len(outputs)} addresses, {len(files)} files"
