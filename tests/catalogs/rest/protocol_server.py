"""A server with prepared replies for the parts of the REST protocol that the Java reference's server lacks.

The server records all requests. Covered parts: tokens, signatures, pages, vended credentials, entity tags and reports.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.storage.servers import serving


@dataclass(frozen=True)
class Received:
    """A received request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    target: str

    def json(self):
        return json.loads(self.body)

    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}


@dataclass(frozen=True)
class Answer:
    """A reply with a JSON value or with raw bytes as its body."""

    body: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class ProtocolServer:
    """The prepared replies by method and path, and the received requests.

    A reply is an `Answer`, a list of answers to successive requests whose last answer repeats, or a function of the request.
    """

    uri: str = ""
    answers: dict[tuple[str, str], object] = field(default_factory=dict)
    requests: list[Received] = field(default_factory=list)

    def on(self, method: str, path: str, answer: object) -> None:
        self.answers[method, path] = answer

    def configure(self, **parts: object) -> None:
        self.on("GET", "/v1/config", Answer({"defaults": {}, "overrides": {}, **parts}))

    def received(self, method: str, path: str) -> list[Received]:
        return [request for request in self.requests if (request.method, request.path) == (method, path)]

    def reply(self, request: Received) -> Answer:
        self.requests.append(request)
        found = self.answers.get((request.method, request.path))
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        if isinstance(found, Callable):
            found = found(request)
        return found if found is not None else error(404, "NoSuchTableException", f"nothing at {request.path}")


def error(status: int, kind: str, message: str = "an error") -> Answer:
    return Answer({"error": {"message": message, "type": kind, "code": status}}, status)


class ProtocolHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: ProtocolServer

    def answer(self) -> None:
        parts = urlsplit(self.path)
        request = Received(
            self.command,
            parts.path,
            dict(parse_qsl(parts.query, keep_blank_values=True)),
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(int(self.headers.get("Content-Length", 0))),
            self.path,
        )
        found = self.server_state.reply(request)
        is_raw = isinstance(found.body, bytes)
        data = found.body if is_raw else b"" if found.body is None else json.dumps(found.body).encode()
        self.send_response_only(found.status)
        for name, value in found.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_POST = do_DELETE = do_HEAD = answer  # noqa: N815 - the names that the server calls

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextlib.contextmanager
def protocol_server() -> Iterator[ProtocolServer]:
    """Run a server until the block ends."""
    state = ProtocolServer()
    state.configure()
    with serving(type("HandlerOfOneServer", (ProtocolHandler,), {"server_state": state})) as address:
        state.uri = address
        yield state
