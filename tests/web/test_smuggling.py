"""Requests that two readers could read differently, and heads that never end: each is refused in full or answered,
and what follows it on the connection is never taken for a request of its own."""

import json
from collections.abc import Iterator

import pytest

from tests.live import Answer, Live, Wire, live_server
from tests.problem_checks import assert_problem
from tests.web.test_bodies import GOOD

SMUGGLED = b"DELETE /v1/keys/me HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\n\r\n"
TARGET = b"POST /v1/judge HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("smuggling")) as live:
        live.new_key()
        yield live
        assert live.request("GET", "/v1/keys/me", key=live.keys[0]).status == 200, "no smuggled request was carried out"


def all_answers(wire: Wire) -> list[Answer]:
    """Every response until the server closes the connection."""
    found = []
    while True:
        try:
            found.append(wire.receive())
        except ConnectionError:
            return found


REFUSED = {
    "both lengths": TARGET + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both lengths, the other way round": TARGET + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": TARGET + b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n",
    "two equal lengths": TARGET + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "two lengths in one": TARGET + b"Content-Length: 0, 44\r\n\r\n",
    "a negative length": TARGET + b"Content-Length: -1\r\n\r\n",
    "a signed length": TARGET + b"Content-Length: +5\r\n\r\n12345",
    "a hexadecimal length": TARGET + b"Content-Length: 0x5\r\n\r\n12345",
    "an empty length": TARGET + b"Content-Length:\r\nContent-Length: 0\r\n\r\n",
    "a length in other digits": TARGET + b"Content-Length: \xb2\r\n\r\n12",
    "a length with a space in it": TARGET + b"Content-Length: 1 0\r\n\r\n",
    "an unknown coding": TARGET + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "two codings": TARGET + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "gzip and chunked": TARGET + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "two coding headers": TARGET + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "a coding after a vertical tab": TARGET + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": TARGET + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a tab before the colon": TARGET + b"Content-Length\t: 5\r\n\r\n12345",
    "a folded header": TARGET + b"X-Long: a\r\n b\r\n\r\n",
    "a folded coding": TARGET + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a NUL in a header": TARGET + b"X-Text: a\x00b\r\n\r\n",
    "a NUL in a header's name": TARGET + b"X-\x00: a\r\n\r\n",
    "a carriage return in a header": TARGET + b"X-Text: a\rContent-Length: 5\r\n\r\n12345",
    "a bare line feed between headers": TARGET + b"X-Text: a\nContent-Length: 5\r\n\r\n12345",
    "a bare line feed at the end": TARGET[:-2] + b"\nContent-Length: 0\n\n",
    "a bare line feed after the request line": b"GET /v1/health HTTP/1.1\nHost: test\r\n\r\n",
    "a header without a colon": TARGET + b"nonsense\r\n\r\n",
    "a header without a name": TARGET + b": a\r\n\r\n",
    "a letter that is none in a name": TARGET + "Größe: 5\r\n\r\n".encode("latin-1"),
    "no version": b"GET /v1/health\r\nHost: test\r\n\r\n",
    "a version of HTTP/2": b"GET /v1/health HTTP/2.0\r\nHost: test\r\n\r\n",
    "the opening of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a version that is none": b"GET /v1/health HTTP/1.x\r\nHost: test\r\n\r\n",
    "two spaces": b"GET  /v1/health HTTP/1.1\r\nHost: test\r\n\r\n",
    "a space in the target": b"GET /v1/he alth HTTP/1.1\r\nHost: test\r\n\r\n",
    "a tab in the request line": b"GET\t/v1/health HTTP/1.1\r\nHost: test\r\n\r\n",
    "no method": b" /v1/health HTTP/1.1\r\nHost: test\r\n\r\n",
    "a method with a bracket": b"GE(T /v1/health HTTP/1.1\r\nHost: test\r\n\r\n",
    "a control character in the target": b"GET /v1/\x01 HTTP/1.1\r\nHost: test\r\n\r\n",
    "a chunked request of HTTP/1.0": b"POST /v1/judge HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "TLS on a plain port": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "nothing but empty lines": b"\r\n\r\n\r\n\r\n",
}
CHUNKED = TARGET + b"Transfer-Encoding: chunked\r\n\r\n"
BROKEN_CHUNKS = {
    "a size that is no number": b"x\r\n12345\r\n0\r\n\r\n",
    "a negative size": b"-1\r\n\r\n0\r\n\r\n",
    "a size with a prefix": b"0x5\r\n12345\r\n0\r\n\r\n",
    "a size with a sign": b"+5\r\n12345\r\n0\r\n\r\n",
    "an empty size": b"\r\n12345\r\n0\r\n\r\n",
    "an extension": b"5;a=b\r\n12345\r\n0\r\n\r\n",
    "a chunk longer than its size": b"3\r\n12345\r\n0\r\n\r\n",
    "a bare line feed after the size": b"5\n12345\r\n0\r\n\r\n",
    "trailers": b"5\r\n12345\r\n0\r\nX-Trailer: a\r\n\r\n",
    "a size line without end": b"5" * 100 + b"\r\n",
}


def assert_one_refusal(server: Live, request: bytes, code: str) -> None:
    with server.wire() as wire:
        wire.send(request + SMUGGLED % server.keys[0].encode())
        (answer,) = all_answers(wire)
    assert_problem(answer, code)
    assert answer.headers["connection"] == "close"
    assert answer.headers["date"].endswith("GMT")
    assert server.request("GET", "/v1/keys/me", key=server.keys[0]).json["free_calls"]["used"] == 0


@pytest.mark.promise("http.framing")
@pytest.mark.promise("http.request_id")
@pytest.mark.parametrize("name", REFUSED)
def test_an_ambiguous_request_is_a_400_and_the_end_of_its_connection(server: Live, name: str) -> None:
    assert_one_refusal(server, REFUSED[name], "malformed_request")


@pytest.mark.promise("http.framing")
@pytest.mark.parametrize("name", BROKEN_CHUNKS)
def test_a_broken_chunk_is_a_400_and_the_end_of_its_connection(server: Live, name: str) -> None:
    assert_one_refusal(server, CHUNKED + BROKEN_CHUNKS[name], "malformed_request")


@pytest.mark.promise("http.framing")
@pytest.mark.parametrize(
    "head",
    [
        TARGET + b"X-Long: " + b"a" * 70_000 + b"\r\n\r\n",
        TARGET + b"X-Short: a\r\n" * 6_000 + b"\r\n",
        b"GET /v1/health?" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: test\r\n\r\n",
        TARGET + b"X-Short: a\r\n" * 130 + b"\r\n",
        b"a" * 200_000,
    ],
    ids=["one long header", "many headers", "a long target", "many short headers", "no end"],
)
def test_headers_beyond_the_limit_are_a_431(server: Live, head: bytes) -> None:
    assert_one_refusal(server, head, "headers_too_large")


@pytest.mark.promise("http.framing")
def test_what_follows_the_last_request_of_a_connection_is_not_carried_out(server: Live) -> None:
    key = server.new_key()
    last = b"GET /v1/health HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
    with server.wire() as wire:
        wire.send(last + SMUGGLED % key.encode())
        assert [answer.status for answer in all_answers(wire)] == [200]
    assert server.request("GET", "/v1/keys/me", key=key).status == 200


@pytest.mark.promise("http.framing")
def test_headers_within_the_limit_are_read(server: Live) -> None:
    head = b"GET /v1/health HTTP/1.1\r\nHost: test\r\n" + b"X-Long: " + b"a" * 60_000 + b"\r\n" + b"A: b\r\n" * 120
    with server.wire() as wire:
        wire.send(head + b"\r\n")
        assert wire.receive().status == 200


@pytest.mark.promise("http.framing")
def test_chunks_split_anywhere_are_one_body(server: Live) -> None:
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (GOOD[:1], GOOD[1:9], GOOD[9:])) + b"0\r\n\r\n"
    key = server.new_key()
    head = CHUNKED.replace(b"\r\n\r\n", f"\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
    with server.wire() as wire:
        for _ in range(2):
            for byte in head + chunks:
                wire.send(bytes([byte]))
            assert wire.receive().status == 200


@pytest.mark.promise("http.framing")
def test_a_pipeline_is_answered_in_order_up_to_its_first_fault(server: Live) -> None:
    good = b"GET /v1/%s HTTP/1.1\r\nHost: test\r\n\r\n"
    with server.wire() as wire:
        wire.send(good % b"health" + good % b"nothing" + REFUSED["two lengths"] + good % b"health")
        answers = all_answers(wire)
    assert [answer.status for answer in answers] == [200, 404, 400]
    assert len({answer.headers["x-request-id"] for answer in answers}) == 3


@pytest.mark.promise("http.framing")
@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://elsewhere.example/v1/health", 200),
        ("HTTP://elsewhere.example:80/v1/health?a=b", 200),
        ("http://elsewhere.example", 503),
        ("//elsewhere.example/v1/health", 503),
        ("*", 503),
        ("elsewhere.example:443", 503),
        ("http://[::1/v1/health", 503),
    ],
)
def test_a_target_in_another_form_stands_for_its_path(server: Live, target: str, status: int) -> None:
    with server.wire() as wire:
        wire.send(f"GET {target} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
        assert wire.receive().status == status
        wire.send_request("GET", "/v1/health")
        assert wire.receive().status == 200


@pytest.mark.promise("http.framing")
def test_http_1_0_closes_unless_it_is_asked_to_stay(server: Live) -> None:
    with server.wire() as wire:
        wire.send(b"GET /v1/health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        assert wire.receive().headers["connection"].lower() == "keep-alive"
        wire.send(b"GET /v1/health HTTP/1.0\r\n\r\n")
        assert wire.receive().status == 200
        assert wire.is_closed()


ASKING = (
    "POST {path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 34\r\n"
    "Expect: {expect}\r\n{more}\r\n"
)


@pytest.mark.promise("http.continue")
@pytest.mark.parametrize(
    ("path", "more", "code"),
    [
        ("/v1/judge", "", "payment_required"),
        ("/v1/judge", "Authorization: Bearer scr_wrong\r\n", "unknown_key"),
        ("/v1/judge", "PAYMENT-SIGNATURE: e30=\r\n", "payment_unavailable"),
        ("/v1/nothing", "", "not_found"),
        ("/v1/health", "", "method_not_allowed"),
        ("/v1/admin/keys/x/credits", "", "not_found"),
        ("/docs", "", "site_unavailable"),
    ],
)
def test_who_is_refused_whatever_the_body_says_is_not_asked_for_it(
    server: Live, path: str, more: str, code: str
) -> None:
    with server.wire() as wire:
        wire.send(ASKING.format(path=path, expect="100-continue", more=more).encode())
        (answer,) = all_answers(wire)
    assert_problem(answer, code)
    assert answer.headers["connection"] == "close"


@pytest.mark.promise("http.continue")
def test_a_page_that_may_not_use_mcp_is_not_asked_for_its_body(server: Live) -> None:
    with server.wire() as wire:
        wire.send(ASKING.format(path="/mcp", expect="100-continue", more="Origin: https://evil.example\r\n").encode())
        (answer,) = all_answers(wire)
    assert answer.status == 403
    assert answer.json["error"]["data"]["code"] == "origin_not_allowed"


@pytest.mark.promise("http.continue")
@pytest.mark.parametrize("path", ["/v1/judge", "/mcp", "/v1/keys"])
@pytest.mark.parametrize("expect", ["100-continue", "100-Continue"])
def test_who_is_not_refused_is_told_to_go_on(server: Live, path: str, expect: str) -> None:
    more = f"Authorization: Bearer {server.keys[0]}\r\n"
    with server.wire() as wire:
        wire.send(ASKING.format(path=path, expect=expect, more=more).encode())
        assert wire.receive().status == 100
        wire.send(b"[" + b" " * 32 + b"]")
        answer = wire.receive()
    assert answer.status == 400
    assert json.loads(answer.body)


@pytest.mark.promise("http.continue")
@pytest.mark.parametrize(
    "request_",
    [
        b"GET /v1/health HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\n\r\n",
        b"GET /v1/health HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
        b"GET /v1/health HTTP/1.1\r\nHost: test\r\nExpect: 200-ok\r\nContent-Length: 2\r\n\r\n{}",
    ],
    ids=["no body", "an old client", "another expectation"],
)
def test_who_does_not_wait_is_told_nothing(server: Live, request_: bytes) -> None:
    with server.wire() as wire:
        wire.send(request_)
        assert wire.receive().status == 200
