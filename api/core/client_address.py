"""Pure. Who a request comes from, with proxies in between."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network


def client_address(peer: str, forwarded_for: str | None, trusted: Sequence[Network]) -> str:
    """The nearest address that is no trusted proxy's, walking X-Forwarded-For from its right end.

    `peer` is the address of the connection. A header from an untrusted peer is not believed; an entry that is no
    address ends the walk, since whoever wrote it could have written anything to its left as well.
    """
    address = peer
    hops = [hop.strip() for hop in forwarded_for.split(",")] if forwarded_for else []
    while hops and _within(address, trusted):
        hop = hops.pop()
        try:
            ip_address(hop)
        except ValueError:
            break
        address = hop
    return address


def signup_network(address: str) -> str:
    """What the sign-up limit counts by: the address, or the /64 of an IPv6 one, since a single host is given a
    whole /64."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ip_network((parsed, 64), strict=False))
    return address


def _within(address: str, networks: Sequence[Network]) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)
