"""What a build reads: every source file at once, and digests of it. Imports little: an unchanged build ends here."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
PAGES = ("pages/", "blog/", "integrations/", "changelog.md")
"""Where in content/ the pages are. Whatever else lies there can show on every page."""


def shown(path: Path) -> str:
    """How faults call a file: below the working directory, its relative path."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


@dataclass(frozen=True, slots=True)
class Sources:
    """The bytes of all files of both folders, by their paths from there, in order."""

    content_folder: Path
    templates_folder: Path
    content: Mapping[str, bytes]
    templates: Mapping[str, bytes]

    @staticmethod
    def read(content: Path, templates: Path) -> "Sources":
        """Reads both folders. A folder that is not there has no files. Raises OSError."""
        return Sources(content, templates, _read(content), _read(templates))

    def digest(self, settings: str) -> str:
        """A hash of all that decides the output. Where the folders lie and when their files changed does not count."""
        return _hash(code_digest(), settings, self.content, self.templates).hexdigest()

    def shared_digest(self, base_url: str) -> bytes:
        """A hash of what decides every page beside its own source: code, templates, contract, facts, address."""
        return _hash(code_digest(), base_url, self._shared(), self.templates).digest()

    def contract_digest(self) -> bytes:
        """A hash of what the server reads too: all of content/ but the pages."""
        return _hash("", "", self._shared()).digest()

    def _shared(self) -> dict[str, bytes]:
        return {name: body for name, body in self.content.items() if not name.startswith(PAGES)}


def files(top: str) -> Iterator[str]:
    """All files below `top`, in the order of their paths, without hidden ones and caches."""
    entries = sorted(os.scandir(top), key=lambda entry: entry.name) if os.path.isdir(top) else []
    for entry in entries:
        if entry.name.startswith(".") or entry.name in SKIPPED or entry.name.endswith((".pyc", "~")):
            continue
        if entry.is_dir():
            yield from files(entry.path)
        else:
            yield entry.path


def code_digest(folders: tuple[str, ...] = CODE, names: tuple[str, ...] = CODE_FILES) -> str:
    """A hash of code below the project: by default of all that decides the site, and of the pinned packages."""
    digest = hashlib.sha256()
    for folder in folders:
        digest.update(_hash(folder, "", _read(ROOT / folder)).digest())
    for name in names:
        path = ROOT / name
        digest.update(f"{name}\0".encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.hexdigest()


def builder_digest() -> str:
    """A hash of what turns a text into HTML, whatever the text says: the builder's own code and its packages."""
    return code_digest(("site_build",), ("requirements.txt",))


def names_below(top: Path) -> set[str]:
    """The paths of all files below `top`, from there. Strings, because thousands of Path objects are slow."""
    found: set[str] = set()
    start = len(os.path.join(top, ""))
    for folder, _, names in os.walk(top):
        found.update(os.path.join(folder, name)[start:] for name in names)
    return found


def _read(top: Path) -> dict[str, bytes]:
    found, start = {}, len(os.path.join(top, ""))
    for path in files(str(top)):
        with open(path, "rb") as file:
            found[path[start:].replace(os.sep, "/")] = file.read()
    return found


def _hash(code: str, settings: str, *folders: Mapping[str, bytes]) -> "hashlib._Hash":
    digest = hashlib.sha256(f"{code}\n{settings}\n".encode())
    for folder in folders:
        digest.update(f"{len(folder)}\n".encode())
        for name, body in folder.items():
            digest.update(f"{name}\0{len(body)}\0".encode())
            digest.update(body)
    return digest
