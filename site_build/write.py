"""Puts a built site in place: staged beside the target, then swapped in whole. A failure leaves the old one."""

import contextlib
import ctypes
import fcntl
import gzip
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

import brotli  # type: ignore[import-untyped]  # it ships no type information

from site_build.cache import Cache
from site_build.faults import BuildFailed, Fault
from site_build.model import Output
from site_build.tree import names_below

MANIFEST = "manifest.json"
SMALLEST = 256
"""Bytes from which a text file gets compressed neighbours."""

BROTLI_QUALITY = 5
"""11 makes files an eighth smaller and takes twenty times as long; the cache does not help a first build."""

_TEXT = ("text/", "application/json", "application/xml", "application/atom+xml", "image/svg+xml")
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def refuse_foreign(out: Path) -> None:
    """Raises BuildFailed when `out` is something that no build of ours made."""
    if not os.path.lexists(out):
        return
    if not out.is_dir() or out.is_symlink():
        raise BuildFailed([Fault(str(out), 1, 1, "is not a directory that a build may replace")])
    if any(out.iterdir()) and read_manifest(out) is None:
        raise BuildFailed(
            [
                Fault(
                    str(out),
                    1,
                    1,
                    f"has no {MANIFEST} of ours, so it was not built here; remove it or choose another --out",
                )
            ]
        )


def read_manifest(out: Path) -> dict[str, object] | None:
    """The manifest of a built site, or None when there is none that can be read."""
    try:
        found = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and {"base_url", "inputs", "routes"} <= found.keys() else None


def files_of(outputs: Mapping[str, Output], base_url: str, inputs: str, cache: Cache) -> dict[str, bytes]:
    """Every file of dist/ by its path: the outputs, their compressed neighbours, the manifest."""
    files = {}
    for output in outputs.values():
        files[output.file] = output.body
        if len(output.body) > SMALLEST and output.type.startswith(_TEXT):
            files[output.file + ".gz"] = _compressed("gzip", output.body, cache)
            files[output.file + ".br"] = _compressed("brotli", output.body, cache)
    files[MANIFEST] = _manifest(outputs, base_url, inputs)
    return files


def write(out: Path, files: Mapping[str, bytes], changed: Set[str]) -> None:
    """Replaces `out` by these files, of which those not in `changed` are linked and not written again.

    Builds that share a parent directory take turns.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with _turn(out.parent):
        refuse_foreign(out)
        stage = out.with_name(out.name + ".stage")
        shutil.rmtree(stage, ignore_errors=True)
        try:
            _fill(stage, files, out, changed)
            _swap(stage, out)
        finally:
            shutil.rmtree(stage, ignore_errors=True)


def changes(out: Path, files: Mapping[str, bytes]) -> set[str]:
    """The names at which `out` differs from these files: other bytes, missing, or to be dropped."""
    there = set(names_below(out)) if out.is_dir() else set()
    changed = there ^ files.keys()
    for name in there & files.keys():
        with open(os.path.join(out, name), "rb") as file:
            if file.read() != files[name]:
                changed.add(name)
    return changed


def _compressed(kind: str, body: bytes, cache: Cache) -> bytes:
    key = cache.key(kind, body)
    if (stored := cache.get(key)) is not None:
        return stored
    if kind == "gzip":
        made = gzip.compress(body, 9, mtime=0)
    else:
        made = brotli.compress(body, mode=brotli.MODE_TEXT, quality=BROTLI_QUALITY)
    cache.put(key, made)
    return made


def _manifest(outputs: Mapping[str, Output], base_url: str, inputs: str) -> bytes:
    routes = {}
    for route, output in outputs.items():
        row: dict[str, object] = {"file": output.file, "type": output.type, "cache": output.cache}
        if output.markdown:
            row["markdown"] = output.markdown
        if output.script_hashes:
            row["script_hashes"] = list(output.script_hashes)
        routes[route] = row
    document = {"base_url": base_url, "inputs": inputs, "routes": routes}
    return (json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _fill(stage: Path, files: Mapping[str, bytes], out: Path, changed: Set[str]) -> None:
    for folder in sorted({os.path.dirname(name) for name in files} | {""}):
        (stage / folder).mkdir(parents=True, exist_ok=True)
    for name, body in files.items():
        if name in changed or not _linked(os.path.join(out, name), os.path.join(stage, name)):
            with open(os.path.join(stage, name), "wb") as file:
                file.write(body)


def _linked(old: str, new: str) -> bool:
    """Whether the old file could be given its new name too: not on every file system."""
    try:
        os.link(old, new)
    except OSError:
        return False
    return True


def _swap(stage: Path, out: Path) -> None:
    """Puts `stage` at `out` in one step where the system can exchange two names; what was there is then at `stage`."""
    if not out.exists():
        stage.rename(out)
        return
    if not _exchange(stage, out):
        old = out.with_name(out.name + ".old")
        shutil.rmtree(old, ignore_errors=True)
        out.rename(old)
        stage.rename(out)
        shutil.rmtree(old)


def _exchange(a: Path, b: Path) -> bool:
    with contextlib.suppress(AttributeError, OSError):
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        return bool(rename(_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE) == 0)
    return False


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
