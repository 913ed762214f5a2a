"""What a build reads, and the digest of it. Imports little: an unchanged build ends here."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The project: defaults are below it, and the code that decides the output."""

CODE = ("site_build", "api/core")
CODE_FILES = (
    "api/contract.py",
    "api/openapi.py",
    "api/problems.py",
    "api/facts.py",
    "api/yamlfile.py",
    "requirements.txt",
)
SKIPPED = frozenset({"__pycache__", "node_modules"})


def files(top: Path) -> Iterator[Path]:
    """All files below `top`, in the order of their paths, without hidden ones and caches."""
    entries = sorted(os.scandir(top), key=lambda entry: entry.name) if top.is_dir() else []
    for entry in entries:
        if entry.name.startswith(".") or entry.name in SKIPPED or entry.name.endswith((".pyc", "~")):
            continue
        if entry.is_dir():
            yield from files(Path(entry.path))
        else:
            yield Path(entry.path)


def code_digest() -> str:
    """A hash of the code that makes the site and of the pinned packages."""
    digest = hashlib.sha256()
    for folder in CODE:
        _add(digest, ROOT / folder, ROOT)
    for name in CODE_FILES:
        if (ROOT / name).is_file():
            _add_file(digest, ROOT / name, ROOT)
    return digest.hexdigest()


def inputs_digest(content: Path, templates: Path, settings: str) -> str:
    """A hash of all that decides the output. Where the folders lie and when their files changed does not count."""
    digest = hashlib.sha256(f"{code_digest()}\n{settings}\n".encode())
    for name, top in (("content", content), ("templates", templates)):
        digest.update(name.encode() + b"\n")
        _add(digest, top, top)
    return digest.hexdigest()


def folder_digest(top: Path) -> bytes:
    """A hash of every file below `top`, hidden ones too."""
    digest = hashlib.sha256()
    for path in sorted(path for path in top.rglob("*") if not path.is_dir()):
        _add_file(digest, path, top)
    return digest.digest()


def _add(digest: "hashlib._Hash", top: Path, base: Path) -> None:
    for path in files(top):
        _add_file(digest, path, base)


def _add_file(digest: "hashlib._Hash", path: Path, base: Path) -> None:
    data = path.read_bytes()
    digest.update(f"{path.relative_to(base).as_posix()}\0{len(data)}\0".encode())
    digest.update(data)
