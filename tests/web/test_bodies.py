"""Bodies over a real socket: strict JSON, sizes, media types."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples import example
from tests.live import Answer, Live, Wire, live_server
from tests.problem_checks import assert_problem

LIMIT = 2 * 1024 * 1024
GOOD = b'{"task": "t", "agent_output": "o"}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("bodies")) as live:
        live.new_key()
        yield live


def judge(server: Live, body: bytes, **headers: str) -> Answer:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return server.request("POST", "/v1/judge", body, key=server.keys[0], headers=sent)


def padded(size: int) -> bytes:
    """A good judge body of exactly `size` bytes."""
    return GOOD[:-1] + b" " * (size - len(GOOD)) + b"}"


BROKEN = {
    "nothing but a brace": (b"{", ""),
    "NaN": (b'{"task": NaN}', ""),
    "infinity": (b'{"task": Infinity}', ""),
    "minus infinity": (b'{"task": -Infinity}', ""),
    "a number beyond doubles": (b'{"task": 1e999}', ""),
    "an integer of 65 bits": (b'{"task": 18446744073709551616}', "64 bits"),
    "a negative integer of 65 bits": (b'{"task": -9223372036854775809}', "64 bits"),
    "an integer of 10,000 digits": (b'{"task": ' + b"9" * 10_000 + b"}", "64 bits"),
    "an escaped NUL": (b'{"task": "a\\u0000b"}', "NUL"),
    "an escaped NUL in a key": (b'{"a\\u0000b": 1}', "NUL"),
    "a raw NUL": (b'{"task": "a\x00b"}', ""),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD, ""),
    "UTF-16": (GOOD.decode().encode("utf-16"), ""),
    "invalid UTF-8": (b'{"task": "\xff"}', ""),
    "overlong UTF-8": (b'{"task": "\xc0\xaf"}', ""),
    "a surrogate in UTF-8": (b'{"task": "\xed\xa0\x80"}', ""),
    "a duplicate key": (b'{"task": "a", "task": "b", "agent_output": "o"}', '"task"'),
    "a duplicate key, once escaped": (b'{"task": "a", "t\\u0061sk": "b"}', '"task"'),
    "a duplicate key further in": (b'{"task": "t", "answers": [{"output": "a", "output": "b"}]}', '"output"'),
    "bytes after the end": (GOOD + b"x", ""),
    "a second value": (GOOD + GOOD, ""),
    "a lone high surrogate": (b'{"task": "\\ud800"}', ""),
    "a lone low surrogate": (b'{"task": "\\udc00"}', ""),
    "surrogates the wrong way round": (b'{"task": "\\udc00\\ud800"}', ""),
    "65 levels": (b"[" * 65 + b"]" * 65, "65"),
    "65 levels of objects": (b'{"a":' * 65 + b"1" + b"}" * 65, "65"),
    "100,000 levels": (b"[" * 100_000 + b"]" * 100_000, ""),
    "100,000 open brackets": (b"[" * 100_000, ""),
    "1,000 levels around a NUL": (b"[" * 1_000 + b'"\\u0000"' + b"]" * 1_000, ""),
    "1,000 levels of objects around a NUL": (b'{"a":' * 1_000 + b'"\\u0000"' + b"}" * 1_000, ""),
    "a comma too many": (b'{"task": "t",}', ""),
    "a comment": (b'{"task": "t" /* why */}', ""),
    "single quotes": (b"{'task': 't'}", ""),
    "a leading zero": (b'{"task": 01}', ""),
    "a raw line feed in a string": (b'{"task": "a\nb"}', ""),
    "white space alone": (b"  \n", ""),
    "a form": (b"task=t&agent_output=o", ""),
}


@pytest.mark.promise("http.strict_json")
@pytest.mark.parametrize("name", BROKEN)
def test_a_body_that_is_not_strict_json_is_a_400_that_says_why(server: Live, name: str) -> None:
    body, said = BROKEN[name]
    answer = judge(server, body)
    assert_problem(answer, "malformed_json")
    assert answer.json["detail"].startswith("The ")
    assert said in answer.json["detail"]
    assert len(answer.json["detail"]) < 300


ACCEPTED = {
    "64 levels": b"[" * 64 + b"]" * 64,
    "the largest unsigned integer": b'{"task": 18446744073709551615}',
    "the smallest integer": b'{"task": -9223372036854775808}',
    "a long fraction": b'{"task": 0.' + b"1" * 400 + b"}",
    "a long integer part with an exponent": b'{"task": 123456789012345678901234567890e-5}',
    "an escaped backslash before u0000": b'{"task": "\\\\u0000", "agent_output": "o", "x": 1}',
    "brackets inside of a string": b'{"task": "' + b"[{" * 500 + b'\\"[", "x": 1}',
    "colons inside of a string": b'{"task": "a:b\\":c", "x": 1}',
    "the same key in two objects": b'{"task": {"a": 1}, "agent_output": {"a": 1}}',
}


@pytest.mark.promise("http.strict_json")
@pytest.mark.parametrize("name", ACCEPTED)
def test_strict_json_is_read_and_then_checked_on_the_schema(server: Live, name: str) -> None:
    assert_problem(judge(server, ACCEPTED[name]), "invalid_request")


@pytest.mark.promise("http.json")
def test_utf_8_of_any_script_comes_back_as_it_was(server: Live) -> None:
    text = "Die Besatzung zählte 4. 乗組員は4人。 عدد الطاقم ٤. 🚀"
    body = {"task": "t", "answers": [{"output": text}, {"output": text}]}
    for raw in (json.dumps(body).encode(), json.dumps(body, ensure_ascii=False).encode()):
        answer = server.request("POST", "/v1/consensus", raw, key=server.keys[0])
        assert answer.headers["content-type"] == "application/json"
        assert answer.json["consensus_answer"] == text
        assert text.encode() in answer.body


def test_a_hundred_thousand_unknown_keys_are_a_400_with_a_short_answer(server: Live) -> None:
    body = json.dumps({f"k{n}": n for n in range(100_000)}).encode()
    assert len(body) < LIMIT
    answer = judge(server, body)
    assert_problem(answer, "invalid_request")
    assert len(answer.json["errors"]) <= 20


def test_a_missing_body_is_said_to_be_missing(server: Live) -> None:
    assert_problem(server.request("POST", "/v1/judge", key=server.keys[0]), "missing_body")
    assert_problem(judge(server, b""), "missing_body")


@pytest.mark.promise("http.body_limit")
def test_a_body_of_exactly_the_limit_is_read(server: Live) -> None:
    assert judge(server, padded(LIMIT)).status == 200


@pytest.mark.promise("http.body_limit")
def test_one_byte_more_is_a_413_and_ends_the_connection(server: Live) -> None:
    answer = judge(server, padded(LIMIT + 1))
    assert_problem(answer, "payload_too_large")
    assert answer.headers["connection"] == "close"


def send_chunked(wire: Wire, key: str, body: bytes) -> None:
    wire.send(
        b"POST /v1/judge HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\nAuthorization: Bearer " + key.encode() + b"\r\n\r\n"
    )
    for start in range(0, len(body), 65_536):
        part = body[start : start + 65_536]
        wire.send(f"{len(part):x}\r\n".encode() + part + b"\r\n")
    wire.send(b"0\r\n\r\n")


@pytest.mark.promise("http.body_limit")
def test_a_chunked_body_has_the_same_limit(server: Live) -> None:
    with server.wire() as wire:
        send_chunked(wire, server.keys[0], padded(LIMIT))
        assert wire.receive().status == 200
        send_chunked(wire, server.keys[0], padded(LIMIT + 1))
        answer = wire.receive()
        assert_problem(answer, "payload_too_large")
        assert answer.headers["connection"] == "close"
        assert wire.is_closed()


def megabytes_taken(wire: Wire, offered: int) -> int:
    """How many of the megabytes could be sent before the server closed the connection."""
    for sent in range(offered):
        try:
            wire.send(b" " * 1_048_576)
        except ConnectionError:
            return sent
    return offered


HUGE_HEAD = (
    b"POST /v1/judge HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\n%s\r\n"
)


@pytest.mark.promise("http.body_limit")
def test_a_hundred_megabytes_are_refused_before_they_are_sent_and_not_read_to_the_end(server: Live) -> None:
    with server.wire() as wire:
        wire.send(HUGE_HEAD % b"")
        assert_problem(wire.receive(), "payload_too_large")
        assert megabytes_taken(wire, 100) < 50
    assert server.request("GET", "/v1/health").status == 200


@pytest.mark.promise("http.body_limit")
def test_a_client_that_asks_first_is_refused_without_a_100(server: Live) -> None:
    with server.wire() as wire:
        wire.send(HUGE_HEAD % b"Expect: 100-continue\r\n")
        assert_problem(wire.receive(), "payload_too_large")
        assert wire.is_closed()


def test_a_client_that_asks_first_is_told_to_go_on(server: Live) -> None:
    with server.wire() as wire:
        head = "POST /v1/judge HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
        wire.send(f"{head}Authorization: Bearer {server.keys[0]}\r\nContent-Length: {len(GOOD)}\r\n\r\n".encode())
        assert wire.receive().status == 100
        wire.send(GOOD)
        assert wire.receive().status == 200


def test_a_length_of_thousands_of_digits_is_refused(server: Live) -> None:
    with server.wire() as wire:
        wire.send(HUGE_HEAD.replace(b"104857600", b"9" * 5_000) % b"")
        assert wire.receive().status in (400, 413)


MEDIA_TYPES = {
    "text": {"Content-Type": "text/plain"},
    "a form": {"Content-Type": "application/x-www-form-urlencoded"},
    "no type": {"Content-Type": ""},
    "almost JSON": {"Content-Type": "application/jsonp"},
    "latin-1": {"Content-Type": "application/json; charset=latin-1"},
    "gzip": {"Content-Encoding": "gzip"},
    "br": {"Content-Encoding": "br"},
}


@pytest.mark.promise("http.media_type")
@pytest.mark.parametrize("name", MEDIA_TYPES)
def test_another_type_or_an_encoding_is_a_415(server: Live, name: str) -> None:
    answer = server.request("POST", "/v1/judge", GOOD, key=server.keys[0], headers=MEDIA_TYPES[name])
    assert_problem(answer, "unsupported_media_type")


@pytest.mark.promise("http.media_type")
def test_a_missing_type_is_a_415(server: Live) -> None:
    with server.wire() as wire:
        wire.send_request("POST", "/v1/judge", GOOD, Authorization=f"Bearer {server.keys[0]}")
        assert_problem(wire.receive(), "unsupported_media_type")


@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        'application/json;charset="UTF-8"',
        "application/json ; charset=utf8",
        "application/json; version=1",
        "application/json; charset=utf-8; version=1",
    ],
)
def test_json_in_utf_8_is_accepted_however_it_is_written(server: Live, media_type: str) -> None:
    assert judge(server, GOOD, Content_Type=media_type).status == 200


def test_the_identity_encoding_is_no_encoding(server: Live) -> None:
    assert judge(server, GOOD, Content_Encoding="identity").status == 200


def test_refused_bodies_are_not_charged(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key()
        for body in (b"{", padded(LIMIT + 1), b"[]"):
            assert live.request("POST", "/v1/judge", body, key=key).status in (400, 413)
        assert live.request("GET", "/v1/keys/me", key=key).json["free_calls"]["used"] == 0
        assert live.request("POST", "/v1/judge", example("judge"), key=key).status == 200
