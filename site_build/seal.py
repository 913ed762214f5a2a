"""What the last build of the same inputs made, by hash, so that building them again is only looking."""

from pathlib import Path

from site_build.cache import Cache
from site_build.tree import folder_digest


def put(out: Path, inputs: str, cache: Cache) -> None:
    """Notes that `out` as it stands is what these inputs make."""
    cache.put(cache.key("dist", inputs.encode()), folder_digest(out))


def holds(out: Path, inputs: str, cache: Cache) -> bool:
    """Whether `out` is to the byte what these inputs made."""
    made = cache.get(cache.key("dist", inputs.encode()))
    return made is not None and out.is_dir() and made == folder_digest(out)
