"""A small OpenAI-compatible model server for tests: real HTTP on loopback, honest unless it is told to misbehave.

What is in `next_of[MODEL]` answers that model's requests first, one each; `always`, when set, answers all others.
"""

import json
import re
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PRIMARY, FALLBACK = "primary/model-1", "fallback/model-2"
KEY = "model-key-of-these-tests-8c2f"
LEAK = "model-internals-3b9e"
"""Stands in everything that the model server says beside its reply: it must never be seen by a caller or in a log."""

Json = dict[str, Any]

JUDGED: Json = {"verdict": "retry", "score": 0.55, "reasons": ["The model found half of it."]}
COMPARED: Json = {
    "consensus_answer": "What the model says they agree on.",
    "agreement_score": 0.67,
    "false_consensus_risk": "medium",
    "reasons": ["The model sees a minority."],
}


@dataclass(frozen=True)
class Said:
    """One answer. `hangs`: it never comes. `closes`: the connection ends in its place, or after so much of the body.
    `megabytes`: so much follows the body. `sized` False: without a length, the end of the connection ends it.
    `drips`: a blank every moment, without end."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    closes: bool = False
    megabytes: int = 0
    sized: bool = True
    drips: bool = False


@dataclass(frozen=True)
class Asked:
    """A request as it came. `nonce`, `data`: what stands in the user's message."""

    headers: Mapping[str, str]
    path: str
    document: Json

    @property
    def model(self) -> str:
        return str(self.document["model"])

    @property
    def system(self) -> str:
        return str(self.document["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.document["messages"][1]["content"])

    @property
    def nonce(self) -> str:
        found = re.search(r"<untrusted-([0-9a-f]{24})>", self.user)
        assert found
        return found[1]

    @property
    def data(self) -> Json:
        """The untrusted fields, read as a model would: what stands between the first and the last tag."""
        inside = self.user.split(f"<untrusted-{self.nonce}>")[1].split(f"</untrusted-{self.nonce}>")[0]
        found: Json = json.loads(inside)
        return found


Behaviour = Callable[[Asked], Said]


def completion(content: Any, *, status: int = 200, **more: Any) -> Said:
    """A chat completion with that text."""
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 90, "total_tokens": 790},
        "debug": LEAK,
        **more,
    }
    return Said(status, json.dumps(document).encode())


def honest(asked: Asked) -> Said:
    """A good reply to what was asked, with the nonce."""
    reply = COMPARED if "answers" in asked.data else JUDGED
    return completion(json.dumps({"nonce": asked.nonce, **reply}))


def replying(text: str | None = None, **changes: Any) -> Behaviour:
    """The honest reply with changes, or any text. None takes a member out."""

    def behave(asked: Asked) -> Said:
        if text is not None:
            return completion(text.replace("NONCE", asked.nonce))
        reply = {"nonce": asked.nonce, **(COMPARED if "answers" in asked.data else JUDGED), **changes}
        return completion(json.dumps({name: value for name, value in reply.items() if value is not None}))

    return behave


def refusing(status: int) -> Behaviour:
    """Says that it can't."""
    return lambda _: Said(status, json.dumps({"error": {"message": LEAK, "code": status}}).encode())


def always(said: Said) -> Behaviour:
    """Says that."""
    return lambda _: said


HANGS = Said(hangs=True)
CLOSES = Said(closes=True)
CUT = Said(200, b'{"choices": [{"message": {"content": "{', closes=True)
HUGE = Said(200, b'{"choices": [{"message": {"content": "', megabytes=50)
HUGE_UNSIZED = Said(200, b'{"choices": [{"message": {"content": "', megabytes=50, sized=False)
DRIPS = Said(200, b'{"choices": [', drips=True, sized=False)
HTML = Said(200, f"<html>{LEAK}</html>".encode(), {"Content-Type": "text/html"})
REDIRECT = Said(307, b"", {"Location": "/elsewhere"})
GARBAGE = Said(200, bytes(range(256)) * 40)


@dataclass
class FakeModel:
    """The server's state. `asked` holds each request, in order of arrival; `arrived` counts them for who waits."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    next_of: dict[str, deque[Behaviour]] = field(default_factory=lambda: defaultdict(deque))
    always: Behaviour | None = None
    sent: int = 0
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    ended: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def settings(self) -> dict[str, str]:
        """What configures a server to use it."""
        return {
            "LLM_API_KEY": KEY,
            "LLM_BASE_URL": self.url,
            "LLM_MODEL": PRIMARY,
            "LLM_FALLBACK_MODEL": FALLBACK,
            "LLM_TIMEOUT_S": "20",
        }

    @property
    def models(self) -> list[str]:
        """The models that were asked, in order."""
        return [asked.model for asked in self.asked]

    def answer(self, asked: Asked) -> Said:
        """What is said to a request."""
        with self._lock:
            self.asked.append(asked)
            waiting = self.next_of[asked.model]
            behave = waiting.popleft() if waiting else self.always or honest
        self.arrived.release()
        return behave(asked)


@contextmanager
def fake_model() -> Iterator[FakeModel]:
    """One that runs until the block ends. What hangs then is let go."""
    model = FakeModel()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = model.answer(Asked(dict(self.headers), self.path, document))
            # As such services do: kept, unless that is what goes wrong.
            self.close_connection = found.hangs or found.closes or not found.sized or found.megabytes > 0
            if found.hangs:
                model.ended.wait(60)
            if found.hangs or (found.closes and not found.body):
                return
            self.send_response(found.status)
            for name, value in found.headers.items():
                self.send_header(name, value)
            length = len(found.body) + (100 if found.closes else 0) + found.megabytes * 2**20
            if found.sized:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(found.body)
            for _ in range(found.megabytes):
                self.wfile.write(b"x" * 2**20)
                model.sent += 1
            while found.drips and not model.ended.wait(0.02):
                self.wfile.write(b" ")

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 256

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A caller that goes away in the middle is what some tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, name="model")
    thread.start()
    try:
        yield model
    finally:
        model.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
