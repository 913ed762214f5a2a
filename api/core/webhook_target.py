"""Pure. Which URLs a webhook may have: public https ones, and no disguise of an address that is not public.

What a name resolves to is checked where it is resolved, with `is_public`.
"""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

_NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            *("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96", "fec0::/10", "3fff::/20"),
            *("192.0.0.0/24", "192.88.99.0/24"),
        ),
    )
)
"""Ranges that carry an IPv4 address inside, or that `is_global` takes for public though they lead elsewhere: of old
site-local addresses, documentation (RFC 9637), clouds' metadata (192.0.0.192) and relays to 6to4 (RFC 7526)."""

_LOCAL_NAMES = ("localhost", "local", "internal", "localdomain", "home.arpa", "lan", "intranet")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_MAX_NAME = 253


def is_public(address: str) -> bool:
    """Whether an IP address, as a resolver gives it, is one that a webhook may be sent to."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        return is_public(str(parsed.ipv4_mapped))
    if any(parsed in network for network in _NOT_PUBLIC):
        return False
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


def fault(url: str, *, allow_private: bool = False) -> str | None:
    """Why `url` can't be a webhook's, or None. `allow_private` is for tests: http, any port and loopback are let
    through."""
    if not url.isascii() or any(character.isspace() or not character.isprintable() for character in url) or "\\" in url:
        return "must be an ASCII URL without spaces; write an international name in its xn-- form"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a URL"
    host = (parts.hostname or "").removesuffix(".")
    if parts.scheme != "https" and not (allow_private and parts.scheme == "http"):
        return "must begin with https://"
    if not host:
        return "has no host"
    if "[" in parts.netloc and ":" not in host:
        return "is not a URL"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user name or password"
    if allow_private:
        return None
    if port not in (None, 443):
        return "must use port 443"
    return _host_fault(host)


def _host_fault(host: str) -> str | None:
    address = _as_address(host)
    if address is not None:
        return None if is_public(str(address)) else "must not point to an address that is not public"
    if not _is_name(host) or host.endswith(tuple("." + name for name in _LOCAL_NAMES)):
        return "must have a public host name"
    return None


def _is_name(host: str) -> bool:
    """Whether a lower-case host is a DNS name of several labels as it stands. What is percent-encoded or holds other
    signs is read differently by different programs, and a number at the end makes it an address (WHATWG URL, 3.5)."""
    labels = host.split(".")
    return (
        len(host) <= _MAX_NAME
        and len(labels) > 1
        and all(map(_LABEL.fullmatch, labels))
        and not _NUMBER.fullmatch(labels[-1])
    )


def _as_address(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host spells, in any form that C libraries read: 127.1, 0x7f000001, 017700000001,
    2130706433."""
    if "%" in host:
        return None
    try:
        return ip_address(host)
    except ValueError:
        pass
    parts = host.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    *leading, last = (_number(part) for part in parts)
    if last is None or last >= 256 ** (4 - len(leading)) or any(part is None or part > 255 for part in leading):
        # All numeric, yet no address: nothing that a public name looks like.
        return IPv4Address(0)
    value = last
    for index, part in enumerate(leading):
        value += (part or 0) << (8 * (3 - index))
    return IPv4Address(value)


def _number(text: str) -> int | None:
    try:
        if text[:2].lower() == "0x":
            return int(text[2:] or "0", 16)
        return int(text, 8) if text.startswith("0") and len(text) > 1 else int(text)
    except ValueError:
        return None
