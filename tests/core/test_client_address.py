"""Who a request comes from."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.core.client_address import client_address, signup_network

PROXIES = tuple(map(ip_network, ("10.0.0.0/8", "2001:db8:1::/48")))


@pytest.mark.promise("ops.trusted_proxies")
@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("198.51.100.7", None, "198.51.100.7"),
        ("198.51.100.7", "203.0.113.1", "198.51.100.7"),  # not a proxy: not believed
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "203.0.113.1", "203.0.113.1"),
        ("10.0.0.1", "1.1.1.1, 203.0.113.1", "203.0.113.1"),  # the left one may be forged
        ("10.0.0.1", "203.0.113.1, 10.0.0.2", "203.0.113.1"),  # two proxies
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "203.0.113.1,198.51.100.9 , 10.0.0.2", "198.51.100.9"),
        ("10.0.0.1", "203.0.113.1, unknown, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "not an address", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", ",,", "10.0.0.1"),
        ("2001:db8:1::5", "2001:db8:2::7", "2001:db8:2::7"),
        ("10.0.0.1", "2001:db8:1::6, 2001:db8:1::5", "2001:db8:1::6"),
    ],
)
def test_the_nearest_address_that_is_no_trusted_proxy_counts(peer: str, forwarded: str | None, expected: str) -> None:
    assert client_address(peer, forwarded, PROXIES) == expected


@given(st.text(max_size=80))
def test_without_proxies_no_header_is_believed(forwarded: str) -> None:
    assert client_address("198.51.100.7", forwarded, ()) == "198.51.100.7"


@given(st.text("0123456789abcdef.:, %/", max_size=80))
def test_any_header_ends_in_an_answer(forwarded: str) -> None:
    assert client_address("10.0.0.1", forwarded, PROXIES)


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("203.0.113.1", "203.0.113.1"),
        ("::ffff:203.0.113.1", "203.0.113.1"),
        ("2001:db8:2:3:4:5:6:7", "2001:db8:2:3::/64"),
        ("2001:db8:2:3:ffff::1", "2001:db8:2:3::/64"),
        ("2001:db8:2:4::1", "2001:db8:2:4::/64"),
        ("a socket", "a socket"),
    ],
)
def test_a_host_with_a_whole_64_is_one_address(address: str, counted: str) -> None:
    assert signup_network(address) == counted
