"""A proxy in front of a REST catalog server that causes the faults of networks, gateways and servers."""

from __future__ import annotations

import contextlib
import enum
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.storage.servers import forward, serving

CHANGES = ("POST", "DELETE")
PAGE = b"<html><body>sign in to continue</body></html>"
ERROR = b'{"error": {"message": "an error of the proxy", "type": "ProxyError", "code": 0}}'


class Fault(enum.Enum):
    """A fault of one request: whether the server receives the request, and the reply to the client."""

    CUT_BEFORE = (False, "cut")
    CUT_AFTER = (True, "cut")
    TRUNCATED = (True, "half")
    SLOW = (True, "silence")
    STATUS_500_AFTER = (True, 500)
    STATUS_502_AFTER = (True, 502)
    STATUS_504_AFTER = (True, 504)
    STATUS_500_BEFORE = (False, 500)
    STATUS_502_BEFORE = (False, 502)
    STATUS_504_BEFORE = (False, 504)
    STATUS_409 = (False, 409)
    STATUS_503 = (False, 503)
    STATUS_419 = (False, 419)
    STATUS_429 = (False, 429)
    STATUS_403 = (False, 403)
    REDIRECT = (False, "redirect")
    PAGE_INSTEAD = (False, "page")
    PAGE_AFTER = (True, "page")
    NONSENSE_AFTER = (True, "nonsense")

    @property
    def is_forwarded(self) -> bool:
        return self.value[0]

    @property
    def reply(self) -> str | int:
        return self.value[1]


@dataclass
class FaultProxy:
    """A proxy that forwards requests, except for the requests that it is armed for.

    Attributes:
        target: The address of the server.
        uri: The address of the proxy.
        requests: The method and path of each received request.
    """

    target: str
    uri: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    _faults: list[Fault] = field(default_factory=list)
    _fails: Callable[[str, str], bool] = lambda method, path: False

    def arm(self, fault: Fault, *, times: int = 1, path: str = "") -> None:
        """Cause a fault at the next `times` changing requests with `path` in their path."""
        self._faults = [fault] * times
        self._fails = lambda method, found: method in CHANGES and path in found and not found.endswith("/metrics")

    def next_fault(self, method: str, path: str) -> Fault | None:
        self.requests.append((method, path))
        return self._faults.pop(0) if self._faults and self._fails(method, path) else None


class FaultyRelay(BaseHTTPRequestHandler):
    """Handler of one request through the proxy."""

    protocol_version = "HTTP/1.1"
    proxy: FaultProxy

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.proxy.next_fault(self.command, self.path)
        if fault is None:
            self.send(*forward(self.proxy.target, self, body))
            return
        status, headers, data = forward(self.proxy.target, self, body) if fault.is_forwarded else (200, [], b"")
        reply = fault.reply
        if isinstance(reply, int):
            self.send(reply, [("Content-Type", "application/json")], ERROR)
        elif reply == "redirect":
            self.send(302, [("Location", "https://login.example/start?secret=1"), ("Content-Type", "text/html")], PAGE)
        elif reply == "page":
            self.send(200, [("Content-Type", "text/html")], PAGE)
        elif reply == "nonsense":
            self.send(200, [("Content-Type", "application/json")], b'{"metadata": [1, 2')
        elif reply == "half":
            # A reply without a body is cut by a `Content-Length` above its length.
            self.send(status, headers, data[: len(data) // 2], len(data) or 10)
            self.end()
        elif reply == "silence":
            # The read returns when the client disconnects.
            self.rfile.read(1)
            self.end()
        else:
            self.end()

    do_GET = do_POST = do_DELETE = do_HEAD = do_PUT = answer  # noqa: N815 - the names that the server calls

    def send(self, status, headers, data, length=None) -> None:
        self.send_response_only(status)
        described = {name.lower(): value for name, value in headers}
        for name in described.keys() - {"content-length", "transfer-encoding", "connection"}:
            self.send_header(name, described[name])
        is_empty = status in (204, 304)
        if not is_empty or length is not None:
            self.send_header("Content-Length", str(length if length is not None else len(data)))
        self.end_headers()
        if self.command != "HEAD" and not is_empty:
            self.wfile.write(data)

    def end(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextlib.contextmanager
def fault_proxy(target: str) -> Iterator[FaultProxy]:
    """Run a proxy in front of a server until the block ends."""
    proxy = FaultProxy(target)
    with serving(type("RelayOfOneProxy", (FaultyRelay,), {"proxy": proxy})) as address:
        proxy.uri = address
        yield proxy
