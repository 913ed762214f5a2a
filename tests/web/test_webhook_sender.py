"""The client that posts to webhooks, against real servers on loopback: where it connects, and what it makes of
receivers that misbehave.

127.0.0.1 stands for the public internet in these tests, and 127.0.0.2 for the inside.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from api.clients.names import Names
from api.clients.ports import Posted
from api.clients.webhook import HttpWebhooks
from tests.core.test_webhook_target import BROKEN_NAMES, HOSTILE
from tests.fakes.webhook_receiver import BROKEN, SILENT, WORDY, Receiver, webhook_receiver
from tests.web.certificates import Authority, authority

OUTSIDE, INSIDE = "127.0.0.1", "127.0.0.2"
HEADERS = {"Content-Type": "application/json", "webhook-id": "alr_1"}
BODY = b'{"id":"alr_1"}'


class Dns:
    """Answers look-ups of any name with each of `answers` in turn, the last one from then on, and counts them."""

    def __init__(self, *answers: Sequence[str] | OSError) -> None:
        self.answers, self.asked = list(answers), list[str]()

    async def __call__(self, host: str) -> list[str]:
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(host)
        if isinstance(answer, OSError):
            raise answer
        return list(answer)


@pytest.fixture
def outside() -> Iterator[Receiver]:
    with webhook_receiver(host=OUTSIDE) as receiver:
        yield receiver


def sender(dns: Dns | None = None, timeout_s: float = 15, **settings: Any) -> HttpWebhooks:
    """A client that may use plain http, as tests may, and whose only public address is OUTSIDE."""
    return HttpWebhooks(
        allow_private=True, resolve=dns, lets_through=lambda ip: ip == OUTSIDE, timeout_s=timeout_s, **settings
    )


def post(url: str, dns: Dns | None = None, timeout_s: float = 15, **settings: Any) -> Posted:
    async def scenario() -> Posted:
        return await sender(dns, timeout_s, **settings).post(url, HEADERS, BODY)

    return asyncio.run(scenario())


def outcome(posted: Posted) -> tuple[int | None, str | None]:
    return posted.status, posted.failure


def test_a_delivery_arrives_whole_with_no_more_than_it_was_given(
    outside: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.2:1")
    outside.headers = {"Set-Cookie": "a=b", "Retry-After": "7"}
    for _ in range(2):
        posted = post(f"http://hooks.example.com:{outside.port}/in?token=t%20t#part", Dns([OUTSIDE]))
    assert outcome(posted) == (200, None)
    assert posted.retry_after == "7"
    received = outside.received[-1]
    assert (received.path, received.body) == ("/in?token=t%20t", BODY)
    assert received.headers == {
        "host": f"hooks.example.com:{outside.port}",
        "connection": "close",
        "content-length": str(len(BODY)),
        "content-type": "application/json",
        "webhook-id": "alr_1",
    }


@pytest.mark.parametrize("status", [204, 301, 302, 307, 400, 404, 410, 429, 500, 503])
def test_a_status_is_reported_and_no_redirect_is_followed(outside: Receiver, status: int) -> None:
    with webhook_receiver(host=INSIDE) as inside:
        outside.answer = status
        outside.headers = {"Location": f"{inside.url}/latest/meta-data/", "Retry-After": "60"}
        assert outcome(post(outside.url)) == (status, None)
        assert len(outside.received) == 1
        assert inside.connections == 0


@pytest.mark.parametrize("how", BROKEN)
def test_an_answer_that_is_none(outside: Receiver, how: str) -> None:
    outside.answer = how
    assert outcome(post(outside.url)) == (None, "no_answer")


@pytest.mark.parametrize("how", SILENT)
def test_an_answer_that_never_comes_is_given_up(outside: Receiver, how: str) -> None:
    outside.answer = how
    assert outcome(post(outside.url, timeout_s=0.3)) == (None, "timeout")


@pytest.mark.parametrize("how", WORDY)
def test_what_comes_after_a_good_head_changes_nothing_and_is_not_waited_for(outside: Receiver, how: str) -> None:
    outside.answer = how
    assert outcome(post(outside.url)) == (200, None)


def test_a_port_where_nobody_listens_is_refused() -> None:
    with socket.create_server((OUTSIDE, 0)) as server:
        port = server.getsockname()[1]
    assert outcome(post(f"http://{OUTSIDE}:{port}/")) == (None, "refused")


def test_of_several_addresses_the_first_that_answers_is_used(outside: Receiver) -> None:
    async def scenario() -> Posted:
        client = HttpWebhooks(allow_private=True, resolve=Dns(["127.0.0.3", OUTSIDE]), lets_through=lambda ip: True)
        return await client.post(f"http://hooks.example.com:{outside.port}/", HEADERS, BODY)

    assert outcome(asyncio.run(scenario())) == (200, None)


def test_a_receiver_that_takes_no_connection_is_given_up() -> None:
    with socket.create_server((OUTSIDE, 0), backlog=0) as server:
        # The queue of connections is full: nothing more is taken, and nothing refused.
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(server.getsockname())
        assert outcome(post(f"http://{OUTSIDE}:{server.getsockname()[1]}/", timeout_s=0.3)) == (None, "timeout")
        for one in waiting:
            one.close()


@pytest.mark.promise("webhooks.public_only")
@pytest.mark.parametrize(
    "answer",
    [
        *([INSIDE], [OUTSIDE, INSIDE], [INSIDE, OUTSIDE], ["10.0.0.1"], ["169.254.169.254"], ["::1"]),
        *(["::ffff:127.0.0.2"], ["fe80::1%lo"], ["64:ff9b::7f00:2"], ["not an address"]),
    ],
)
def test_one_address_that_is_not_public_refuses_all_and_nothing_connects(answer: list[str], outside: Receiver) -> None:
    with webhook_receiver(host=INSIDE, port=outside.port) as inside:
        posted = post(f"http://hooks.example.com:{outside.port}/", Dns(answer))
        assert outcome(posted) == (None, "not_public")
        assert (outside.connections, inside.connections) == (0, 0)


@pytest.mark.promise("webhooks.public_only")
def test_a_name_that_changes_between_check_and_connect_does_not_reach_the_inside(outside: Receiver) -> None:
    with webhook_receiver(host=INSIDE, port=outside.port) as inside:
        dns = Dns([OUTSIDE], [INSIDE])
        assert outcome(post(f"http://hooks.example.com:{outside.port}/", dns)) == (200, None)
        assert dns.asked == ["hooks.example.com"], "looked up once: there is no second answer to fall for"
        assert outcome(post(f"http://hooks.example.com:{outside.port}/", dns)) == (None, "not_public")
        assert (outside.connections, inside.connections) == (1, 0)


@pytest.mark.parametrize("answer", [OSError("no such name"), []])
def test_a_name_without_addresses(answer: list[str] | OSError) -> None:
    assert outcome(post("http://hooks.example.com/", Dns(answer))) == (None, "dns")


@pytest.mark.promise("webhooks.public_only")
def test_every_hostile_target_is_refused_at_delivery_too() -> None:
    """As when it was saved before a rule was stricter. Nothing is even looked up but what looks like a public name."""

    async def scenario() -> dict[str, str | None]:
        client = HttpWebhooks(resolve=(dns := Dns(["8.8.8.8"])))
        urls = [*HOSTILE, *(f"https://{host}/" for host in BROKEN_NAMES)]
        found: dict[str, str | None] = {url: (await client.post(url, HEADERS, BODY)).failure for url in urls}
        assert dns.asked == []
        return found

    refused = asyncio.run(scenario())
    assert len(refused) > 200
    assert set(refused.values()) == {"not_public"}


@pytest.mark.promise("webhooks.public_only")
@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["10.1.2.3"], ["8.8.8.8", "192.168.0.1"], ["::1"], ["2002:7f00:1::"], ["fd00::1"]]
)
def test_a_public_name_for_a_private_address_is_refused_without_any_setting(addresses: list[str]) -> None:
    async def scenario() -> tuple[bool, Posted]:
        client = HttpWebhooks(resolve=Dns(addresses))
        inside = await client.leads_inside("https://hooks.example.com/")
        return inside, await client.post("https://hooks.example.com/", HEADERS, BODY)

    inside, posted = asyncio.run(scenario())
    assert inside
    assert outcome(posted) == (None, "not_public")


@pytest.mark.promise("ops.webhook_allow_private")
@pytest.mark.parametrize(("address", "is_refused"), [("127.0.0.1", False), ("::1", False), ("10.0.0.1", True)])
def test_what_tests_are_allowed_is_loopback_and_no_other_inside(address: str, is_refused: bool) -> None:
    client = HttpWebhooks(allow_private=True, resolve=Dns([address]))
    assert asyncio.run(client.leads_inside("http://db/")) is is_refused


class Silence(Dns):
    """Name servers that never answer."""

    async def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        return await asyncio.Future()


def test_name_servers_that_never_answer_hold_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.clients.webhook.LOOK_S", 0.05)
    dns = Silence()
    assert asyncio.run(HttpWebhooks(resolve=dns).leads_inside("https://hooks.example.com/")) is False
    assert outcome(post("http://hooks.example.com/", dns, timeout_s=0.05)) == (None, "timeout")
    assert len(dns.asked) == 2


def test_the_system_is_asked_for_names_and_knows_addresses() -> None:
    async def scenario() -> None:
        names = Names()
        assert "127.0.0.1" in await names("localhost")
        assert await names("192.0.2.7") == ["192.0.2.7"]
        assert await names("2001:db8::7") == ["2001:db8::7"]
        for wrong in ("no-such-name.invalid", "x" * 64 + ".example", "a..example"):
            with pytest.raises(OSError):  # noqa: PT011 - whatever the system says
                await names(wrong)
        assert len(await asyncio.gather(*(names("127.0.0.1") for _ in range(200)))) == 200

    asyncio.run(scenario())


@pytest.fixture
def trusted(tmp_path: Path) -> Authority:
    return authority(tmp_path)


def test_tls_is_checked_against_the_name_and_not_the_address(trusted: Authority) -> None:
    with webhook_receiver(host=OUTSIDE, tls=trusted.server("hooks.example.com")) as receiver:
        for url in ("https://hooks.example.com", "https://hooks.example.com.", "https://HOOKS.example.com"):
            posted = post(f"{url}:{receiver.port}/in", Dns([OUTSIDE]), tls=trusted.client())
            assert outcome(posted) == (200, None), url
        assert len(receiver.received) == 3


@pytest.mark.logs_errors
@pytest.mark.parametrize("case", ["another name", "expired", "unknown authority", "no TLS"])
def test_tls_that_does_not_check_out_gets_no_delivery(
    trusted: Authority, tmp_path: Path, case: str, caplog: pytest.LogCaptureFixture
) -> None:
    server: ssl.SSLContext | None
    match case:
        case "another name":
            server = trusted.server("other.example.com")
        case "expired":
            server = trusted.server("hooks.example.com", days=-1)
        case "unknown authority":
            server = authority(tmp_path).server("hooks.example.com")
        case _:
            server = None
    with webhook_receiver(host=OUTSIDE, tls=server) as receiver:
        url = f"https://hooks.example.com:{receiver.port}/secret-path"
        assert outcome(post(url, Dns([OUTSIDE]), tls=trusted.client())) == (None, "tls")
        assert receiver.received == []
    assert "secret-path" not in caplog.text


def test_many_at_once_are_not_held_up_by_one_that_hangs(outside: Receiver) -> None:
    with webhook_receiver(host=OUTSIDE) as slow:
        slow.answer = "hang"

        async def scenario() -> list[Posted]:
            client = sender()
            hanging = asyncio.create_task(client.post(slow.url, HEADERS, BODY))
            posted = await asyncio.gather(*(client.post(outside.url, HEADERS, BODY) for _ in range(100)))
            assert not hanging.done()
            hanging.cancel()
            await asyncio.wait([hanging])
            return posted

        assert {outcome(posted) for posted in asyncio.run(scenario())} == {(200, None)}
