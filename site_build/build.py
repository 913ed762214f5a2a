"""One build: load, render, inspect, stage, check, swap. A fault at any step leaves dist/ as it was."""

import gc
from pathlib import Path

from site_build import kept as keeping
from site_build import tree
from site_build.cache import Cache
from site_build.check import broken_links
from site_build.example_check import check_examples
from site_build.faults import BuildFailed, Fault
from site_build.kept import MANIFEST, Kept, Row
from site_build.load import Loader
from site_build.model import Output, Site
from site_build.render import render
from site_build.stage import Stage
from site_build.tree import Sources, shown
from site_build.write import manifest, staged, swap


def build(sources: Sources, out: Path, base_url: str, date: str, cache_file: Path | None) -> str:
    """Builds the site into `out` and says what was done in a line. Raises BuildFailed with every fault, or OSError."""
    inputs = sources.digest(f"{base_url}\n{date}")
    cache = Cache(cache_file, tree.builder_digest())
    try:
        with staged(out) as folder:
            site = Loader(sources, cache).load(base_url, date)
            outputs = render(site, cache)
            # What is there now lives to the end: looking for cycles in it again and again only costs time.
            gc.freeze()
            stage = Stage(folder, out, keeping.load(out, cache))
            rows = _fill(stage, site, outputs, cache)
            mark = stage.put(MANIFEST, manifest(outputs, rows, site.base_url, inputs))
            count = sum(len(row.marks) for row in rows.values()) + 1
            changed = stage.changed or count != len(tree.names_below(out))
            if changed:
                swap(folder, out)
            keeping.save(Kept(inputs, mark, rows), out, cache)
    finally:
        gc.unfreeze()
        cache.close()
    return f"{shown(out)} {'built' if changed else 'is up to date'}: {len(outputs)} addresses, {count} files"


def _fill(stage: Stage, site: Site, outputs: dict[str, Output], cache: Cache) -> dict[str, Row]:
    """Every output into the stage; its row by file. Raises BuildFailed with the faults of all outputs together."""
    rows: dict[str, Row] = {}
    faults: list[Fault] = check_examples(site, cache)
    for output in outputs.values():
        try:
            rows[output.file] = stage.add(output)
        except BuildFailed as failed:
            faults += failed.faults
    faults += stage.faults
    # A page that could not be made is no address to miss: its own fault says enough.
    if len(rows) == len(outputs):
        faults += broken_links(outputs, rows, site.base_url)
    if faults:
        raise BuildFailed(faults)
    return rows
