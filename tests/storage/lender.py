"""A catalog's endpoint that lends credentials."""

from __future__ import annotations

import contextlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.storage.servers import serving

PATH = "/v1/namespaces/db/tables/events/credentials"


@dataclass
class Lender:
    """A catalog's endpoint for credentials: what it answers next, and the requests that it was sent."""

    credentials: list[dict[str, object]]
    statuses: list[int] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    address: str = ""
    asked: threading.Event = field(default_factory=threading.Event)
    answers: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.answers.set()

    @contextlib.contextmanager
    def answering_late(self):
        """Answer requests that arrive in the block at its end."""
        self.answers.clear()
        try:
            yield
        finally:
            self.answers.set()


class LenderHandler(BaseHTTPRequestHandler):
    lender: Lender

    def do_GET(self) -> None:  # the name that the server looks for
        self.lender.requests.append((self.path, {key.lower(): value for key, value in self.headers.items()}))
        self.lender.asked.set()
        self.lender.answers.wait()
        status = self.lender.statuses.pop(0) if self.lender.statuses else 200
        body = json.dumps({"storage-credentials": self.lender.credentials}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def lending():
    state = Lender([])
    with serving(type("LenderOfOne", (LenderHandler,), {"lender": state})) as address:
        state.address = address
        yield state
