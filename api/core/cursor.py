"""Pure. Cursors of lists: where a page ended, as opaque text."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

_LATEST = 2**62


def encode(created_at: int, row_id: str) -> str:
    """The position after that row."""
    return urlsafe_b64encode(f"{created_at}:{row_id}".encode()).decode().rstrip("=")


def decode(text: str) -> tuple[int, str] | None:
    """The position, or None for text that `encode` did not make."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
        before, _, row_id = raw.partition(":")
        created_at = int(before)
    except ValueError:
        return None
    return (created_at, row_id) if 0 <= created_at < _LATEST and row_id.isprintable() else None
