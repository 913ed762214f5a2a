"""What a build may reuse of earlier ones, by the hash of what it was made from. Losing it costs only time."""

import hashlib
import sqlite3
from contextlib import suppress
from pathlib import Path

LARGEST = 128 * 1024 * 1024
"""Bytes after which the file is begun anew: entries are never deleted one by one."""


AT_ONCE = 256
"""New entries that are held in memory before they are written."""


class Cache:
    """A table of bytes by key. `salt` is whatever else decides a value, such as the builder's own source."""

    def __init__(self, path: Path | None, salt: str) -> None:
        """Without a path nothing is kept longer than the object."""
        self._salt = salt.encode()
        self._new: dict[bytes, bytes] = {}
        self._db = _open(path) if path else None

    def key(self, kind: str, *content: bytes) -> bytes:
        """The key of what `kind` of work makes from `content`."""
        return hashlib.sha256(b"\0".join([self._salt, kind.encode(), *content])).digest()

    def get(self, key: bytes) -> bytes | None:
        """What was stored, or None."""
        if (new := self._new.get(key)) is not None or self._db is None:
            return new
        with suppress(sqlite3.Error):
            row = self._db.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
            return bytes(row[0]) if row else None
        return None

    def put(self, key: bytes, value: bytes) -> None:
        """Stores a value, for good at `close`."""
        self._new[key] = value
        if len(self._new) >= AT_ONCE and self._db is not None:
            self._write()

    def close(self) -> None:
        """Writes what is new. A cache that can't be written is no fault of the site."""
        if self._db is None:
            return
        self._write()
        with suppress(sqlite3.Error):
            self._db.commit()
        self._db.close()
        self._db = None

    def _write(self) -> None:
        assert self._db is not None  # noqa: S101 - both callers have just looked
        with suppress(sqlite3.Error):
            self._db.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", self._new.items())
        self._new.clear()


def _open(path: Path) -> sqlite3.Connection | None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > LARGEST:
            path.unlink()
    for _ in range(2):
        try:
            db = sqlite3.connect(path, timeout=5)
            db.execute("PRAGMA synchronous = OFF")
            db.execute("CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
            return db
        except sqlite3.OperationalError:
            return None
        except sqlite3.DatabaseError:  # not a database: whatever wrote it, it is of no use
            with suppress(OSError):
                path.unlink()
    return None
