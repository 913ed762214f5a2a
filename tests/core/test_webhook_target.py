"""Which URLs may be webhooks: public https ones, and no disguise of an address that is not public."""

import pytest

from api.core.webhook_target import fault, is_public

HTTPS = "must begin with https://"
ASCII = "must be an ASCII URL without spaces; write an international name in its xn-- form"
NOT_PUBLIC = "must not point to an address that is not public"
NO_NAME = "must have a public host name"
USER = "must not hold a user name or password"
PORT = "must use port 443"
NO_URL = "is not a URL"
NO_HOST = "has no host"

GOOD = (
    "https://example.com",
    "https://example.com/",
    "https://hooks.example.com/screwtape",
    "https://hooks.example.com/a/b%20c?d=e&f=%2F#g",
    "https://example.com:443/hook",
    "https://EXAMPLE.com/Hook",
    "HTTPS://example.com/hook",
    "https://example.com./hook",
    "https://a-b.c_d.example.co.uk/hook",
    "https://xn--bcher-kva.example/hook",
    "https://hooks.xn--p1ai/hook",
    "https://1.example.com/hook",
    "https://127.0.0.1.example.com/hook",
    "https://0x7f.example.com/hook",
    "https://localhost.example.com/hook",
    "https://internal.example.com/hook",
    "https://mylocalhost.com/hook",
    "https://8.8.8.8/hook",
    "https://[2606:4700:4700::1111]/hook",
    "https://[2606:4700:4700::1111]:443/hook",
    "https://example.com/?next=http://127.0.0.1/",
    "https://example.com/@127.0.0.1/",
    f"https://{'a' * 63}.example.com/hook",
    "https://" + ".".join(["abcdefghi"] * 25) + ".com/hook",
)

NOT_HTTPS = (
    "http://example.com/hook",
    "ftp://example.com/hook",
    "file:///etc/passwd",
    "gopher://example.com/",
    "javascript:alert(1)",
    "data:text/plain,x",
    "ws://example.com/",
    "//example.com/hook",
    "example.com/hook",
    "/hook",
    "hook",
    "https",
    "httpss://example.com/",
)

LOOPBACK = (
    "127.0.0.1",
    "127.0.0.1:443",
    "127.255.255.254",
    "127.1",
    "127.0.1",
    "0",
    "0.0.0.0",
    "0.1.2.3",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0X7F000001",
    "0x7f.1",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "0177.0.0.01",
    "00000177.0.0.1",
    "0x7f.0.1",
    "127.0.0.1.",
    "127.1.",
    "2130706433.",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
)

PRIVATE = (
    "10.0.0.1",
    "10.1",
    "0xa.1",
    "012.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "172.1048577",
    "192.168.0.1",
    "192.168.257",
    "3232235521",
    "0300.0250.0.1",
    "0xc0a80001",
    "192.168.0.1.",
    "100.64.0.1",
    "198.18.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "[fc00::1]",
    "[fd12:3456:789a::1]",
    "[fec0::1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:192.168.0.1]",
    "[64:ff9b::10.0.0.1]",
    "[2002:c0a8:1::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[100::1]",
)

LINK_LOCAL_AND_METADATA = (
    "169.254.0.1",
    "169.254.169.254",
    "169.254.169.254.",
    "169.254.43518",
    "2852039166",
    "0xa9fea9fe",
    "025177524776",
    "0251.0376.0251.0376",
    "0xa9.0xfe.0xa9.0xfe",
    "169.254.170.2",
    "100.100.100.200",
    "192.0.0.192",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
)

NOT_FOR_ONE_HOST = (
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "4294967295",
    "[ff02::1]",
    "[ff0e::1]",
    "[4000::1]",
)

NO_ADDRESS_AND_NO_NAME = (
    # All numbers, or a number at the end: readers of URLs take it for an address, or give up (WHATWG URL, 3.5).
    "4294967296",
    "99999999999999999999",
    "256.256.256.256",
    "127.0.0.256",
    "127.0.0.08",
    "1.2.3.4.5",
    "example.1",
    "example.0x7f",
    "example.com.127",
)

LOCAL_NAMES = (
    "localhost",
    "LOCALHOST",
    "localhost.",
    "localhost..",
    "localhost.localdomain",
    "app.localhost",
    "app.LOCALHOST.",
    "printer.local",
    "metadata.google.internal",
    "metadata.google.internal.",
    "metadata",
    "instance-data",
    "kubernetes.default.svc.cluster.local",
    "kubernetes",
    "ip6-loopback",
    "db",
    "router.lan",
    "wiki.intranet",
    "nas.home.arpa",
    "com",
)

# No DNS name: some programs decode, cut or complete them, and then go elsewhere than the check thought.
BROKEN_NAMES = (
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "%6c%6f%63%61%6c%68%6f%73%74",
    "ex%61mple.com",
    "example.com%2f.evil.com",
    "example.com%00.evil.com",
    "127.0.0.1%23.example.com",
    "[2606:4700:4700::1111%25eth0]",
    "[fe80::1%25eth0].example.com",
    "[v1.example.com]",
    "a..example.com",
    ".example.com",
    "-a.example.com",
    "a-.example.com",
    "127.0.0.1;.example.com",
    "127.0.0.1&.example.com",
    "exam<ple.com",
    "exam'ple.com",
    "*.example.com",
    "$(id).example.com",
    "{host}.example.com",
    "a,b.example.com",
    "a!.example.com",
    f"{'a' * 64}.example.com",
    "a." * 130 + "com",
)

USERS = (
    "https://user@example.com/",
    "https://user:password@example.com/",
    "https://:password@example.com/",
    "https://@example.com/",
    "https://example.com@127.0.0.1/",
    "https://example.com:443@127.0.0.1/",
    "https://127.0.0.1@example.com/",
    "https://a@b@example.com/",
)

PORTS = (
    "https://example.com:80/",
    "https://example.com:8443/",
    "https://example.com:22/",
    "https://example.com:0/",
    "https://example.com:1/",
    "https://example.com:65535/",
    "https://8.8.8.8:8080/",
    "https://[2606:4700:4700::1111]:6379/",
)

NOT_URLS = (
    "https://example.com:65536/",
    "https://example.com:99999/",
    "https://example.com:port/",
    "https://example.com:-443/",
    "https://example.com:+443/",
    "https://example.com:4_43/",
    "https://[::1/",
    "https://::1]/",
    "https://[]/",
    "https://[::g]/",
    "https://[1.2.3.4]/",
    "https://[::ffff:127.0.0.1/",
)

NO_HOSTS = (
    "https://",
    "https:///",
    "https:///example.com",
    "https:example.com",
    "https:/example.com",
    "https://?a",
    "https://#a",
    "https://.",
)

NOT_ASCII_OR_NOT_PLAIN = (
    "https://exаmple.com/",
    "https://еxample.com/",
    "https://bücher.example/",
    "https://ⓔxample.com/",
    "https://①②⑦.⓪.⓪.①/",
    "https://127。0。0。1/",
    "https://１２７.0.0.1/",
    "https://example.com／@127.0.0.1/",
    "https://exam\u00adple.com/",
    "https://example\u200b.com/",
    "https://ſocalhost.com/",
    "https://example.com/ü",
    "https:\\\\example.com\\",
    "https:/\\example.com/",
    "https://example.com\\@127.0.0.1/",
    "https://127.0.0.1\\.example.com/",
    "https://example.com/a\\b",
    "https://exam\tple.com/",
    "https://127.0.\t0.1/",
    "https://exam\nple.com/",
    "https://example.com/\r\nHost: evil",
    " https://example.com/",
    "https://example.com/ ",
    "https://example.com/a b",
    "https:// example.com/",
    "\x00https://example.com/",
    "https://example.com/\x00",
    "https://example.com/\x1b",
    "https://example.com/\x7f",
    "ht\ntps://example.com/",
    "https://\x01127.0.0.1/",
)

HOSTILE = {
    **dict.fromkeys(NOT_HTTPS, HTTPS),
    **{f"https://{host}/": NOT_PUBLIC for host in (*LOOPBACK, *PRIVATE, *LINK_LOCAL_AND_METADATA, *NOT_FOR_ONE_HOST)},
    **{f"https://{host}/": NOT_PUBLIC for host in NO_ADDRESS_AND_NO_NAME[:5]},
    **{f"https://{host}/": NO_NAME for host in NO_ADDRESS_AND_NO_NAME[5:]},
    **{f"https://{host}/": NO_NAME for host in LOCAL_NAMES},
    **dict.fromkeys(USERS, USER),
    **dict.fromkeys(PORTS, PORT),
    **dict.fromkeys(NOT_URLS, NO_URL),
    **dict.fromkeys(NO_HOSTS, NO_HOST),
    **dict.fromkeys(NOT_ASCII_OR_NOT_PLAIN, ASCII),
}


@pytest.mark.parametrize("url", GOOD)
def test_a_public_https_url_is_taken(url: str) -> None:
    assert fault(url) is None


@pytest.mark.parametrize("url", HOSTILE)
def test_a_url_that_leads_elsewhere_is_refused_with_its_reason(url: str) -> None:
    assert fault(url) == HOSTILE[url]


@pytest.mark.parametrize("host", BROKEN_NAMES)
def test_a_host_that_is_no_name_is_refused(host: str) -> None:
    """Which of the reasons is given may differ between Python's releases, which know more brackets to be wrong."""
    assert fault(f"https://{host}/") in (NO_NAME, NO_URL, NOT_PUBLIC)


def test_the_tables_are_what_they_say() -> None:
    assert len(HOSTILE) + len(BROKEN_NAMES) > 200
    assert not set(GOOD) & set(HOSTILE)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "2a00:1450:4001:80b::200e"],
)
def test_a_public_address(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *(host.strip("[]") for host in (*PRIVATE[:6], *PRIVATE[13:], *LINK_LOCAL_AND_METADATA[-9:])),
        *("127.0.0.1", "::1", "::", "fe80::1%eth0", "::ffff:127.0.0.1", "64:ff9b::8.8.8.8", "2002:808:808::1"),
        *("0.0.0.0", "224.0.0.1", "255.255.255.255", "ff02::1"),
        *("", "localhost", "example.com", "127.1", "2130706433", "8.8.8.8 ", "８.8.8.8"),
    ],
)
def test_what_a_resolver_gives_is_refused_unless_it_is_a_public_address(address: str) -> None:
    assert not is_public(address)


ALLOWED_IN_TESTS = ("http://127.0.0.1:8000/hook", "http://localhost/", "https://[::1]:1/", "http://db:80/")


@pytest.mark.parametrize("url", ALLOWED_IN_TESTS)
def test_private_targets_are_let_through_where_a_test_says_so(url: str) -> None:
    assert fault(url, allow_private=True) is None
    assert fault(url) is not None


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://", "http://user@127.0.0.1/", "http://a b/", "http://[/"])
def test_nonsense_is_refused_all_the_same(url: str) -> None:
    assert fault(url, allow_private=True) is not None
