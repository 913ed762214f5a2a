"""Puts a built site in place: staged beside the target, then swapped in whole. A failure leaves the old one."""

import contextlib
import ctypes
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from site_build.faults import BuildFailed, Fault
from site_build.kept import MANIFEST, Row
from site_build.model import Output

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def refuse_foreign(out: Path) -> None:
    """Raises BuildFailed when `out` is something that no build of ours made."""
    if not os.path.lexists(out):
        return
    if not out.is_dir() or out.is_symlink():
        raise BuildFailed([Fault(str(out), 1, 1, "is not a directory that a build may replace")])
    if any(out.iterdir()) and not _is_ours(out):
        message = f"has no {MANIFEST} of ours, so it was not built here; remove it or choose another --out"
        raise BuildFailed([Fault(str(out), 1, 1, message)])


def _is_ours(out: Path) -> bool:
    try:
        found = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and {"base_url", "inputs", "routes"} <= found.keys()


@contextlib.contextmanager
def staged(out: Path) -> Iterator[Path]:
    """The path of the stage of `out`, where nothing stands, now and afterwards. Builds that share a parent directory
    take turns."""
    out.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(out.parent, os.O_RDONLY)
    stage = out.with_name(out.name + ".stage")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        refuse_foreign(out)
        shutil.rmtree(stage, ignore_errors=True)
        try:
            yield stage
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    finally:
        os.close(handle)


def manifest(outputs: Mapping[str, Output], rows: Mapping[str, Row], base_url: str, inputs: str) -> bytes:
    """manifest.json: what the server serves, and what it was built from."""
    routes = {}
    for route, output in outputs.items():
        row: dict[str, object] = {"file": output.file, "type": output.type, "cache": output.cache}
        if output.markdown:
            row["markdown"] = output.markdown
        if hashes := rows[output.file].script_hashes:
            row["script_hashes"] = list(hashes)
        routes[route] = row
    document = {"base_url": base_url, "inputs": inputs, "routes": routes}
    return (json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def swap(stage: Path, out: Path) -> None:
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
