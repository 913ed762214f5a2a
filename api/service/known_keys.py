"""Keys seen lately, so that a metered call needs no read before its commit.

It only saves time: the commit reads the key again and gives a deleted one no answer, and an error is answered only
after the key was looked up. A key whose call was refused is forgotten, so that its next one is looked up and
refused before any work.
"""

from collections import OrderedDict

MAX_KEYS = 20_000


class KnownKeys:
    """Key ids by the hash of their secrets, the least recently used dropped first."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, str] = OrderedDict()

    def find(self, secret_hash: str) -> str | None:
        """The key's id if it was seen lately."""
        key_id = self._ids.get(secret_hash)
        if key_id is not None:
            self._ids.move_to_end(secret_hash)
        return key_id

    def add(self, secret_hash: str, key_id: str) -> None:
        """Remembers a key that has just been granted a call."""
        self._ids[secret_hash] = key_id
        if len(self._ids) > MAX_KEYS:
            self._ids.popitem(last=False)

    def forget(self, secret_hash: str) -> None:
        """Drops a key that was refused, deleted or rotated."""
        self._ids.pop(secret_hash, None)
