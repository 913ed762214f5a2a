"""What the last build left in dist/: how each output was made and what its files looked like, so that the next one
makes only what differs. Losing it costs only time."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from site_build.cache import Cache
from site_build.tree import names_below

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Row:
    """A finished output without its bytes. `marks` are those of its file and of the compressed ones, by suffix."""

    key: str
    marks: Mapping[str, str]
    links: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    script_hashes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of a build by file, and the mark of its manifest. `inputs` is the digest of all that it read."""

    inputs: str = ""
    manifest: str = ""
    rows: Mapping[str, Row] = field(default_factory=dict)

    def whole(self, out: Path) -> bool:
        """Whether `out` still holds exactly the files that were left there."""
        marks = {name + suffix: mark for name, row in self.rows.items() for suffix, mark in row.marks.items()}
        marks[MANIFEST] = self.manifest
        if not out.is_dir() or names_below(out) != marks.keys():
            return False
        return all(mark_of(os.path.join(out, name)) == mark for name, mark in marks.items())


def mark_of(path: str) -> str:
    """What tells a file from one that somebody touched: its number, size and time of change. "" when it is not there.

    Reading every byte again would be surer and as slow as writing them.
    """
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return ""
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


def load(out: Path, cache: Cache) -> Kept:
    """What the last build into `out` left. Empty when nobody knows."""
    stored = cache.get(_key(out, cache))
    if stored is None:
        return Kept()
    try:
        data = json.loads(stored)
        links = data["links"]
        rows = {
            file: Row(key, marks, tuple(links[at] for at in places), tuple(ids), tuple(hashes))
            for file, (key, marks, places, ids, hashes) in data["rows"].items()
        }
        return Kept(data["inputs"], data["manifest"], rows)
    except (ValueError, KeyError, TypeError, IndexError):
        return Kept()


def save(kept: Kept, out: Path, cache: Cache) -> None:
    """Notes what is now in `out`. The pages share most links, so each is written once."""
    places: dict[str, int] = {}
    rows = {
        file: [
            row.key,
            row.marks,
            [places.setdefault(link, len(places)) for link in row.links],
            row.ids,
            row.script_hashes,
        ]
        for file, row in kept.rows.items()
    }
    data = {"inputs": kept.inputs, "manifest": kept.manifest, "links": list(places), "rows": rows}
    cache.put(_key(out, cache), json.dumps(data, separators=(",", ":")).encode())


def _key(out: Path, cache: Cache) -> bytes:
    return cache.key("kept", os.path.abspath(out).encode())
