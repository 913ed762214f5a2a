"""Requests over kept connections, against a server on a real socket that misbehaves as told."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from api.clients.kept import KeptConnections
from api.clients.ports import HttpAnswer, Unanswered

MAX_BODY = 64 * 1024
WELL = b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"ok":true}'
HANG = b"hang"


@dataclass
class Script:
    """What each connection is answered, one item for each of its requests; after the last it is closed."""

    connections: list[list[bytes]]
    seen: list[int] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""
    done: threading.Event = field(default_factory=threading.Event)
    closed: list[threading.Event] = field(default_factory=list)


def request(stream: socket.SocketIO) -> bytes | None:
    """The body of the next request, None at the end."""
    length = 0
    while (line := stream.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return stream.read(length) if line else None


@contextmanager
def server(*connections: list[bytes]) -> Iterator[Script]:
    """Serves as many connections as the script has, one after the other."""
    script = Script(list(connections), closed=[threading.Event() for _ in connections])
    listener = socket.create_server(("127.0.0.1", 0))
    script.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/chat"

    def serve() -> None:
        for number, answers in enumerate(script.connections):
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as stream:
                for answer in answers:
                    body = request(stream)  # type: ignore[arg-type]  # a buffered reader reads alike
                    if body is None:
                        break
                    script.seen.append(number)
                    script.bodies.append(body)
                    if answer == HANG:
                        script.done.wait()
                        break
                    try:
                        connection.sendall(answer)
                    except OSError:
                        break
            script.closed[number].set()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield script
    finally:
        script.done.set()
        # Wakes an accept that nobody came to.
        with socket.create_connection(listener.getsockname()):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


async def ask(client: KeptConnections, text: str = "{}") -> HttpAnswer:
    return await client.post_json({"Authorization": "Bearer x"}, text)


def test_requests_one_after_the_other_share_a_connection() -> None:
    async def main(script: Script) -> None:
        client = KeptConnections(script.url, 20, MAX_BODY)
        for number in range(3):
            assert (await ask(client, f"[{number}]")) == HttpAnswer(200, b'{"ok":true}')
        client.close()

    with server([WELL] * 3) as script:
        asyncio.run(main(script))
    assert script.seen == [0, 0, 0]
    assert script.bodies == [b"[0]", b"[1]", b"[2]"]


def test_requests_at_once_have_connections_of_their_own() -> None:
    async def main(script: Script) -> None:
        client = KeptConnections(script.url, 20, MAX_BODY)
        hanging = asyncio.create_task(ask(client))
        while not script.seen:
            await asyncio.sleep(0)
        script.done.set()
        with pytest.raises(Unanswered):
            await hanging
        assert (await ask(client)).status == 200
        client.close()

    with server([HANG], [WELL]) as script:
        asyncio.run(main(script))
    assert script.seen == [0, 1]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    ],
    ids=["it says close", "HTTP/1.0"],
)
def test_a_connection_that_the_server_ends_is_not_used_again(answer: bytes) -> None:
    async def main(script: Script) -> None:
        client = KeptConnections(script.url, 20, MAX_BODY)
        assert (await ask(client)).body == b"{}"
        assert (await ask(client)).status == 200
        client.close()

    with server([answer, WELL], [WELL]) as script:
        asyncio.run(main(script))
    assert script.seen == [0, 1]


def test_a_kept_connection_that_was_closed_meanwhile_costs_nothing() -> None:
    async def main(script: Script) -> None:
        client = KeptConnections(script.url, 20, MAX_BODY)
        assert (await ask(client)).status == 200
        script.closed[0].wait()
        assert (await ask(client)).status == 200
        client.close()

    with server([WELL], [WELL]) as script:
        asyncio.run(main(script))
    assert script.seen == [0, 1]


def test_a_kept_connection_that_is_closed_without_an_answer_is_tried_once_more_on_a_new_one() -> None:
    async def main(script: Script) -> None:
        client = KeptConnections(script.url, 20, MAX_BODY)
        assert (await ask(client)).status == 200
        with pytest.raises(Unanswered):
            await ask(client)
        client.close()

    with server([WELL, b""], [b""], [WELL]) as script:
        asyncio.run(main(script))
    assert script.seen == [0, 0, 1]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"ok"',
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n" + b"x" * 100_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + (b"4000\r\n" + b"x" * 0x4000 + b"\r\n") * 8,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000,
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["closes", "half a head", "half a body", "no HTTP", "50 MB", "chunks", "endless", "a huge head", "bad chunks"],
)
def test_what_is_no_answer_is_unanswered(answer: bytes) -> None:
    async def main(script: Script) -> None:
        client = KeptConnections(script.url, 20, MAX_BODY)
        with pytest.raises(Unanswered):
            await ask(client)
        client.close()

    with server([answer]) as script:
        asyncio.run(main(script))
    assert script.seen == [0]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", HttpAnswer(200, b"{}")),
        (b"HTTP/1.1 200 OK\r\n\r\n{}", HttpAnswer(200, b"{}")),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + WELL, HttpAnswer(200, b'{"ok":true}')),
        (b"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n", HttpAnswer(429, b"")),
        (b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", HttpAnswer(302, b"")),
    ],
    ids=["chunked", "until it closes", "after an interim answer", "429", "a redirect"],
)
def test_whole_answers_of_any_form_are_read(answer: bytes, expected: HttpAnswer) -> None:
    async def main(script: Script) -> None:
        client = KeptConnections(script.url, 20, MAX_BODY)
        assert await ask(client) == expected
        client.close()

    with server([answer]) as script:
        asyncio.run(main(script))


def test_nobody_there_is_unanswered() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        client = KeptConnections(f"http://127.0.0.1:{port}/", 20, MAX_BODY)
        with pytest.raises(Unanswered):
            await ask(client)

    asyncio.run(main())


def test_a_time_out_and_a_close_end_what_hangs() -> None:
    async def main(script: Script) -> None:
        client = KeptConnections(script.url, 0.05, MAX_BODY)
        with pytest.raises(Unanswered, match="TimeoutError"):
            await ask(client)
        patient = KeptConnections(script.url, 20, MAX_BODY)
        script.done.set()
        hanging = asyncio.create_task(ask(patient))
        await asyncio.sleep(0)
        patient.close()
        with pytest.raises(Unanswered):
            await hanging

    with server([HANG], [b""]) as script:
        asyncio.run(main(script))
