"""Fills the directory that will become dist/, one output at a time: what the last build left is linked, the rest made
and compressed. Only one output's bytes are in memory at once."""

import gzip
import os
from dataclasses import replace
from pathlib import Path

from site_build.check import inspected
from site_build.faults import Fault
from site_build.kept import Kept, Row, mark_of
from site_build.model import Output

SMALLEST = 256
"""Bytes from which a text file gets compressed neighbours."""

BROTLI_QUALITY = 5
"""Measured over this site's pages: 11 makes files 8% smaller and takes 40 times as long; 6 to 9 gain nothing."""

GZIP_LEVEL = 6
"""9 makes no page smaller by more than a few bytes."""

_TEXT = ("text/", "application/json", "application/xml", "application/atom+xml", "image/svg+xml")


class Stage:
    """The directory `folder` beside `out`. `changed` says whether anything in it differs from `out`; `faults` are what
    is wrong with outputs that could be made."""

    def __init__(self, folder: Path, out: Path, kept: Kept) -> None:
        self._folder, self._out, self._kept = str(folder), str(out), kept
        self._folders: set[str] = set()
        self._has_old = out.is_dir()
        self.changed = not self._has_old
        self.faults: list[Fault] = []
        os.mkdir(folder)

    def add(self, output: Output) -> Row:
        """Puts an output in place. Raises BuildFailed when it can't be made."""
        old = self._kept.rows.get(output.file)
        if old is not None and old.key == output.key.hex() and self._link_all(output.file, old):
            return old
        body = output.make()
        found = inspected(output, body)
        self.faults += found.faults
        marks = {"": self.put(output.file, body)}
        row = Row(output.key.hex(), marks, found.links, found.ids, found.script_hashes)
        if old is not None and old.marks[""] == marks[""] and self._link_all(output.file, old, ("",)):
            return replace(row, marks=old.marks)
        if len(body) > SMALLEST and output.type.startswith(_TEXT):
            marks[".gz"] = self.put(output.file + ".gz", gzip.compress(body, GZIP_LEVEL, mtime=0))
            marks[".br"] = self.put(output.file + ".br", _brotli(body))
        return row

    def put(self, name: str, body: bytes) -> str:
        """Writes a file, or links the old one when it holds the same. Its mark."""
        path = self._path(name)
        if self._has_old and _holds(os.path.join(self._out, name), body) and self._link(name, path):
            return mark_of(path)
        self.changed = True
        with open(path, "wb") as file:
            file.write(body)
        return mark_of(path)

    def _link_all(self, file: str, row: Row, but: tuple[str, ...] = ()) -> bool:
        """Whether all files of a row but these were as they had been left, and are now here too."""
        names = {file + suffix: mark for suffix, mark in row.marks.items() if suffix not in but}
        if any(mark_of(os.path.join(self._out, name)) != mark for name, mark in names.items()):
            return False
        return all(self._link(name, self._path(name)) for name in names)

    def _link(self, name: str, path: str) -> bool:
        """Whether the old file could be given its new name too: not on every file system."""
        try:
            os.link(os.path.join(self._out, name), path)
        except OSError:
            return False
        return True

    def _path(self, name: str) -> str:
        path = os.path.join(self._folder, name)
        folder = os.path.dirname(path)
        if folder not in self._folders:
            os.makedirs(folder, exist_ok=True)
            self._folders.add(folder)
        return path


def _holds(path: str, body: bytes) -> bool:
    try:
        if os.stat(path, follow_symlinks=False).st_size != len(body):
            return False
        with open(path, "rb") as file:
            return file.read() == body
    except OSError:
        return False


def _brotli(body: bytes) -> bytes:
    import brotli  # type: ignore[import-untyped]  # it ships no type information; imported when something is new

    made: bytes = brotli.compress(body, mode=brotli.MODE_TEXT, quality=BROTLI_QUALITY)
    return made
