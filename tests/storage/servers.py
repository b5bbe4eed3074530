"""Storage servers on this machine, and a proxy before them that fails as networks do."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

PATIENCE = 300
"""Longest time in seconds for a server to start or to answer, on the slowest machine."""
TRIES = 3


def tool(name: str, how: str) -> str:
    """Return the path of an installed server, beside this Python or on the path; skip the test where there is none."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which(name, path=path)
    if found is None:
        pytest.skip(f"{name} is not installed: {how}")
    return found


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@contextlib.contextmanager
def running(command: Callable[[int], list[str]], log: Path, *, stop: int = signal.SIGTERM, **options):
    """Run a server until the block ends, on a port that is handed to `command` and to the block; entered when it answers.

    `stop` is the signal that ends it; `options` are arguments of `subprocess.Popen`.
    """
    with contextlib.ExitStack() as stack:
        for _ in range(TRIES):
            # Between this look and the server's own, another process may take the port: the server ends, and has another.
            port = free_port()
            output = stack.enter_context(log.open("wb"))
            process = stack.enter_context(
                subprocess.Popen(command(port), stdout=output, stderr=subprocess.STDOUT, **options)
            )
            stack.callback(process.send_signal, stop)
            deadline = time.monotonic() + PATIENCE
            while process.poll() is None and time.monotonic() < deadline:
                if answers(port) and process.poll() is None:
                    yield port
                    return
                time.sleep(0.05)
        raise RuntimeError(f"{command(port)[0]} did not start: {log.read_text(errors='replace')}")


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@dataclass
class S3Server:
    """A server of the S3 protocol; every directory in ``root`` is a bucket."""

    endpoint: str
    root: Path
    access_key: str = "user1"
    secret_key: str = "secret-of-user1"

    def properties(self, **others: str) -> dict[str, str]:
        return {
            "s3.endpoint": self.endpoint,
            "s3.access-key-id": self.access_key,
            "s3.secret-access-key": self.secret_key,
            "s3.region": "us-east-1",
            "s3.retry.min-wait-ms": "5",
            "s3.retry.max-wait-ms": "20",
            **{name.replace("__", "."): value for name, value in others.items()},
        }


@contextlib.contextmanager
def s3_server(directory: Path):
    command = tool("versitygw", "go install github.com/versity/versitygw/cmd/versitygw@latest")
    root = directory / "buckets"
    root.mkdir()
    server = S3Server("", root)
    arguments = ["--access", server.access_key, "--secret", server.secret_key, "posix", str(root)]
    with running(lambda port: [command, "--port", f"127.0.0.1:{port}", *arguments], directory / "log") as port:
        server.endpoint = f"http://127.0.0.1:{port}"
        yield server


@dataclass
class Request:
    method: str
    path: str
    range: str = ""
    status: int | None = None


@dataclass
class Proxy:
    """Passes requests on to a server, unless ``fault`` says of a request what is to go wrong.

    ``fault`` is given the request and returns None (nothing), a status to answer with instead, ``"cut"`` (the connection ends before
    the server is asked), ``"mute"`` (the server is asked, its answer is lost), ``"half"`` (half of the answer's body comes), ``"stall"``
    (half of it comes, and the line stays open) or ``"500 after"`` (the server is asked, the answer is an error).
    """

    target: str
    endpoint: str = ""
    fault: object = None
    requests: list[Request] = field(default_factory=list)

    def seen(self, method: str, part: str = "") -> list[Request]:
        return [request for request in self.requests if request.method == method and part in request.path]


class Gate:
    """Holds requests back until `count` of them wait at once, then lets all pass; refuses requests that wait too long."""

    def __init__(self, count: int, wanted, patience: float = 60) -> None:
        self._count, self._wanted, self._patience = count, wanted, patience
        self._waiting = 0
        self._changed = threading.Condition()

    def __call__(self, request):
        if not self._wanted(request):
            return None
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            return None if self._changed.wait_for(lambda: self._waiting >= self._count, self._patience) else 403


class Relay(BaseHTTPRequestHandler):
    """A request on its way through a proxy."""

    protocol_version = "HTTP/1.1"
    state: Proxy

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(
            self.command, unquote(self.path), self.headers.get("Range", self.headers.get("x-ms-range", ""))
        )
        self.state.requests.append(request)
        fault = None if self.state.fault is None else self.state.fault(request)
        if fault == "cut":
            self.end()
            return
        if isinstance(fault, int):
            request.status = fault
            self.send(fault, [], b"<Error><Code>SlowDown</Code></Error>")
            return
        status, headers, data = forward(self.state.target, self, body)
        request.status = status
        if fault == "500 after":
            self.send(500, [], b"<Error><Code>InternalError</Code></Error>")
        elif fault == "mute":
            self.end()
        elif fault in ("half", "stall"):
            self.send(status, headers, data[: len(data) // 2], len(data))
            if fault == "stall":
                # Comes back when the client has hung up.
                self.rfile.read(1)
            self.end()
        else:
            self.send(status, headers, data)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer  # noqa: N815  the names that the server looks for

    def send(self, status, headers, data, length=None) -> None:
        self.send_response_only(status)
        described = {name.lower(): value for name, value in headers}
        for name in described.keys() - {"content-length", "transfer-encoding", "connection"}:
            self.send_header(name, described[name])
        known = described.get("content-length", "0") if self.command == "HEAD" else str(length or len(data))
        self.send_header("Content-Length", known)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def end(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def proxy(target: str):
    state = Proxy(target)
    with serving(type("RelayOfOne", (Relay,), {"state": state})) as address:
        state.endpoint = address
        yield state


def forward(target: str, handler: BaseHTTPRequestHandler, body: bytes):
    parts = urlsplit(target)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.putrequest(handler.command, handler.path, skip_host=True, skip_accept_encoding=True)
        for name, value in handler.headers.items():
            connection.putheader(name, value)
        connection.endheaders(body or None)
        answer = connection.getresponse()
        return answer.status, answer.getheaders(), answer.read()


@contextlib.contextmanager
def serving(handler):
    """Serve by a handler from threads of this process; gives the address."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def get_request(self):
            connection, address = super().get_request()
            # Headers and body are two packets: the second one would wait until the client acknowledges the first, for 40 ms.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
            return connection, address

        def handle_error(self, *_: object) -> None:
            """A client that goes away is no error of the server."""

    with Quiet(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
