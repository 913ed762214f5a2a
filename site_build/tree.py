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


def shown(path: Path) -> str:
    """How faults call a file: below the working directory, its relative path."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


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


def code_digest(folders: tuple[str, ...] = CODE, names: tuple[str, ...] = CODE_FILES) -> str:
    """A hash of code below the project: by default of all that decides the site, and of the pinned packages."""
    digest = hashlib.sha256()
    for folder in folders:
        _add(digest, ROOT / folder, ROOT)
    for name in names:
        if (ROOT / name).is_file():
            _add_file(digest, ROOT / name, ROOT)
    return digest.hexdigest()


def builder_digest() -> str:
    """A hash of what turns a text into HTML, whatever the text says: the builder's own code and its packages."""
    return code_digest(("site_build",), ("requirements.txt",))


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
    for name in names_below(top):
        with open(os.path.join(top, name), "rb") as file:
            digest.update(name.encode() + b"\0" + hashlib.sha256(file.read()).digest())
    return digest.digest()


def names_below(top: Path) -> list[str]:
    """The paths of all files below `top`, from there, sorted. Strings, because thousands of Path objects are slow."""
    found, start = [], len(os.path.join(top, ""))
    for folder, _, names in os.walk(top):
        found += [os.path.join(folder, name)[start:] for name in names]
    return sorted(found)


def _add(digest: "hashlib._Hash", top: Path, base: Path) -> None:
    for path in files(top):
        _add_file(digest, path, base)


def _add_file(digest: "hashlib._Hash", path: Path, base: Path) -> None:
    data = path.read_bytes()
    digest.update(f"{path.relative_to(base).as_posix()}\0{len(data)}\0".encode())
    digest.update(data)
