"""Content negotiation: Accept and Accept-Encoding (RFC 9110 section 12.5)."""

from functools import lru_cache


@lru_cache(maxsize=1_024)
def qualities(header: str) -> dict[str, float]:
    """The q-value of each entry, lower case without other parameters; an entry with a broken q-value counts 0."""
    found: dict[str, float] = {}
    for entry in header.lower().split(",")[:64]:
        name, *parameters = (part.strip() for part in entry.split(";"))
        quality = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    quality = min(1.0, max(0.0, float(parameter[2:])))
                except ValueError:
                    quality = 0.0
        if name:
            found[name] = quality
    return found


def wants_markdown(accept: str) -> bool:
    """Whether Markdown is asked for by name, and not less than HTML. A wildcard means HTML: browsers send one."""
    wanted = qualities(accept)
    markdown = wanted.get("text/markdown", 0.0)
    return markdown > 0 and markdown >= wanted.get("text/html", 0.0)


def wants_html(accept: str) -> bool:
    """Whether HTML is asked for by name."""
    return qualities(accept).get("text/html", 0.0) > 0


def best_encoding(accept_encoding: str, offered: tuple[str, ...]) -> str:
    """The offered encoding with the highest q-value, the earlier offered on a tie; "identity" when none is accepted."""
    wanted = qualities(accept_encoding)
    best, best_quality = "identity", 0.0
    for name in offered:
        quality = wanted.get(name, wanted.get("*", 0.0))
        if quality > best_quality:
            best, best_quality = name, quality
    return best
