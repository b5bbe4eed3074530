"""moto's AWS Glue server behind a proxy. The proxy checks version ids, which moto ignores, and causes faults."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.storage.servers import Relay, serving

CHANGES = ("Create", "Update", "Delete")
CONFLICT = {"__type": "ConcurrentModificationException", "Message": "the version has changed"}


@dataclass
class GlueServer:
    """A proxy that forwards requests to moto.

    Attributes:
        target: The address of moto, `(host, port)`.
        endpoint: The URL of the proxy.
        faults: The faults of the next changes, in order. `reply` loses the reply, `request` loses the request, a status code is
            the reply without the change, a negated status code is the reply after the change; None forwards.
        requests: The operation and the body of each request.
        before: Function that is called before a request is forwarded.
    """

    target: tuple[str, int]
    endpoint: str = ""
    faults: list[str | int | None] = field(default_factory=list)
    requests: list[tuple[str, dict]] = field(default_factory=list)
    before: object = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def properties(self) -> dict[str, str]:
        return {
            "type": "glue",
            "glue.endpoint": self.endpoint,
            "glue.region": "us-east-1",
            "glue.access-key-id": "key",
            "glue.secret-access-key": "secret",
        }

    def sent(self, operation: str) -> list[dict]:
        return [body for name, body in self.requests if name == operation]

    def forward(self, headers: dict[str, str], operation: str, body: dict) -> tuple[int, bytes]:
        if operation == "UpdateTable" and "VersionId" in body:
            name = {"DatabaseName": body["DatabaseName"], "Name": body["TableInput"]["Name"]}
            status, found = self.send(headers, "GetTable", name)
            if status == 200 and json.loads(found)["Table"]["VersionId"] != body["VersionId"]:
                return 400, json.dumps(CONFLICT).encode()
        return self.send(headers, operation, body)

    def send(self, headers: dict[str, str], operation: str, body: dict) -> tuple[int, bytes]:
        with contextlib.closing(http.client.HTTPConnection(*self.target, timeout=60)) as connection:
            kept = {key: value for key, value in headers.items() if key.lower() not in ("content-length", "host")}
            connection.request("POST", "/", json.dumps(body), {**kept, "X-Amz-Target": f"AWSGlue.{operation}"})
            reply = connection.getresponse()
            return reply.status, reply.read()


class GlueRelay(BaseHTTPRequestHandler):
    """Handler of one request to moto."""

    protocol_version = "HTTP/1.1"
    state: GlueServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        operation = self.headers["X-Amz-Target"].split(".")[1]
        self.state.requests.append((operation, body))
        if self.state.before is not None:
            self.state.before(operation, body)
        fault = self.state.faults.pop(0) if self.state.faults and operation.startswith(CHANGES) else None
        if fault == "request":
            self.end()
            return
        status, reply = 500, b"{}"
        if fault is None or fault == "reply" or fault < 0:
            with self.state.lock:
                status, reply = self.state.forward(dict(self.headers), operation, body)
        if fault == "reply":
            self.end()
            return
        if fault is not None:
            status, reply = abs(fault), json.dumps({"__type": "InternalServiceException", "Message": "no"}).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    end = Relay.end
    log_message = Relay.log_message


@contextlib.contextmanager
def glue_server():
    """Run moto and its proxy in this process until the block ends."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        state = GlueServer(server.get_host_and_port())
        with serving(type("RelayToGlue", (GlueRelay,), {"state": state})) as endpoint:
            state.endpoint = endpoint
            yield state
    finally:
        server.stop()
