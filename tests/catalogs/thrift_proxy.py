"""A proxy in front of a Hive Metastore that loses one request or reply."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
from dataclasses import dataclass, field

VERSION_AND_CALL = b"\x80\x01\x00\x01"
LOCK_CALLS = ("lock", "unlock")
CHANGES = ("create_", "alter_", "drop_")


@dataclass
class ThriftProxy:
    """A proxy that forwards connections and records the names of the called functions.

    Attributes:
        target: The port of the metastore.
        port: The port of the proxy.
        fault: The next fault. `reply` loses the reply to the next change, `request` loses the next change, `lock` loses the
            reply to the next lock request, `unlock` loses the next release of a lock; None forwards everything.
        functions: The names of the functions that were called.
    """

    target: int
    port: int = 0
    fault: str | None = None
    functions: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fault_of(self, request: bytes) -> str | None:
        """Record the function of a request, and return the fault of its connection."""
        length = struct.unpack(">I", request[4:8])[0]
        name = request[8 : 8 + length].decode()
        with self._lock:
            self.functions.append(name)
            is_due = name == self.fault if self.fault in LOCK_CALLS else name.startswith(CHANGES)
            if self.fault is None or not is_due:
                return None
            fault, self.fault = self.fault, None
            return "request" if fault == "unlock" else fault

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.relay, args=(client,), daemon=True).start()

    def relay(self, client: socket.socket) -> None:
        """Serve one connection. The client sends nothing while it waits for a reply."""
        fault = None
        with contextlib.suppress(OSError), client, socket.create_connection(("127.0.0.1", self.target)) as server:
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = source.recv(1 << 16)
                    # The first byte of the reply proves that the change has taken effect.
                    if not data or (source is server and fault is not None):
                        return
                    if source is client and data.startswith(VERSION_AND_CALL):
                        fault = self.fault_of(data)
                    if fault == "request":
                        return
                    (client if source is server else server).sendall(data)


@contextlib.contextmanager
def thrift_proxy(target: int):
    """Run a proxy in front of the metastore at a port until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = ThriftProxy(target, listener.getsockname()[1])
        threading.Thread(target=proxy.serve, args=(listener,), daemon=True).start()
        yield proxy
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
