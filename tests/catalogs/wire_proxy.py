"""A proxy that parses the messages of PostgreSQL's protocol and cuts connections between messages."""

from __future__ import annotations

import contextlib
import enum
import socket
import struct
import threading
from dataclasses import dataclass, field

TIMEOUT_SECONDS = 60
SSL_REQUEST, GSS_REQUEST = 80877103, 80877104


class Direction(enum.Enum):
    """The sender of a message."""

    CLIENT = "client"
    SERVER = "server"


class Fault(enum.Enum):
    """The fault at a message."""

    BEFORE = "before"  # both ends are closed and the message is lost
    AFTER = "after"  # the message is forwarded, then both ends are closed
    RESET = "reset"  # as BEFORE, with a reset of the client's connection
    DOWN = "down"  # as AFTER, and later connections fail
    LATE = "late"  # the client's end is closed; `deliver` forwards the message


@dataclass(frozen=True)
class Cut:
    """A fault at the n-th message of one direction after `arm`, from 0. None selects the message that makes the server commit."""

    direction: Direction
    number: int | None
    fault: Fault


@dataclass(frozen=True)
class Message:
    """A protocol message that reached the proxy."""

    direction: Direction
    kind: str
    body: bytes = b""

    @property
    def is_commit(self) -> bool:
        """Whether the message contains the statement COMMIT of a client."""
        return self.direction is Direction.CLIENT and self.kind in "QP" and b"commit\0" in self.body.lower()

    @property
    def starts_work(self) -> bool:
        """Whether the message makes the server run a statement: a query or the execution of a prepared statement."""
        return self.direction is Direction.CLIENT and self.kind in "QE"


class Link:
    """One connection through the proxy."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.is_cut = False
        self.pumps: dict[Direction, threading.Thread] = {}

    def close(self, *ends: socket.socket, reset: bool = False) -> None:
        for end in ends:
            with contextlib.suppress(OSError):
                if reset:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                else:
                    end.shutdown(socket.SHUT_RDWR)
            # A reset requires closing the descriptor, even if the other thread is still reading from it.
            if reset:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RD)
                end.close()


@dataclass
class WireProxy:
    """A proxy that forwards and records messages, and causes one fault."""

    target: int
    port: int = 0
    messages: list[Message] = field(default_factory=list)
    cut: Cut | None = None
    is_down: bool = False
    has_cut: bool = False
    _commits: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _counts: dict[Direction, int] = field(default_factory=dict)
    _late: list[tuple[Link, bytes]] = field(default_factory=list)
    _links: list[Link] = field(default_factory=list)

    def arm(self, cut: Cut | None) -> None:
        """Reset the message counts, and cause this fault once."""
        with self._lock:
            self.cut, self.has_cut, self.is_down, self._commits = cut, False, False, False
            self.messages.clear()
            self._counts = dict.fromkeys(Direction, 0)

    def heal(self) -> None:
        """Remove the fault: all messages pass."""
        self.arm(None)

    def hang_up(self, *, reset: bool = False) -> None:
        """Close all open connections, with a reset of the client's end if `reset` is true."""
        with self._lock:
            links, self._links = self._links, []
        for link in links:
            link.close(link.server)
            link.close(link.client, reset=reset)

    def deliver(self) -> None:
        """Forward the late messages, close their connections, and wait until the server replies or closes its end."""
        with self._lock:
            late, self._late = self._late, []
        for link, data in late:
            with contextlib.suppress(OSError):
                link.server.sendall(data)
                link.server.shutdown(socket.SHUT_WR)
            link.pumps[Direction.SERVER].join(timeout=TIMEOUT_SECONDS)

    def fault_of(self, message: Message) -> Fault | None:
        if message.direction is Direction.CLIENT and message.kind == "X":
            # Terminate messages of earlier sessions may arrive at any time and are not part of the next change.
            return None
        with self._lock:
            self.messages.append(message)
            number = self._counts.get(message.direction, 0)
            self._counts[message.direction] = number + 1
            self._commits = self._commits or message.is_commit
            cut = self.cut
            if cut is None or self.has_cut or cut.direction is not message.direction:
                return None
            is_due = number == cut.number if cut.number is not None else self._commits and message.starts_work
            if not is_due:
                return None
            self.has_cut = True
            self.is_down = cut.fault is Fault.DOWN
            return cut.fault

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            if self.is_down:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.target))
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = Link(client, server)
            with self._lock:
                self._links.append(link)
            for direction in Direction:
                link.pumps[direction] = threading.Thread(target=self.pump, args=(link, direction), daemon=True)
            for pump in link.pumps.values():
                pump.start()

    def pump(self, link: Link, direction: Direction) -> None:
        """Forward the messages of one direction until an end is closed."""
        source, sink = (link.client, link.server) if direction is Direction.CLIENT else (link.server, link.client)
        in_startup = direction is Direction.CLIENT
        try:
            while (data := read_message(source, in_startup=in_startup)) is not None:
                if in_startup and struct.unpack(">I", data[4:8])[0] in (SSL_REQUEST, GSS_REQUEST):
                    # The proxy refuses encryption because it parses the messages.
                    source.sendall(b"N")
                    continue
                kind = "startup" if in_startup else chr(data[0])
                in_startup = False
                fault = self.fault_of(Message(direction, kind, data[5:]))
                if fault is Fault.LATE:
                    with self._lock:
                        self._late.append((link, data))
                    link.close(link.client)
                    return
                if fault in (Fault.AFTER, Fault.DOWN) and direction is Direction.CLIENT:
                    # The client's end is closed before the message is forwarded, so that no reply passes.
                    link.is_cut = True
                    link.close(link.client)
                if fault in (None, Fault.AFTER, Fault.DOWN):
                    sink.sendall(data)
                if link.is_cut:
                    # The server reads the message, then the end; the other thread may still receive an earlier reply.
                    link.server.shutdown(socket.SHUT_WR)
                    return
                if fault is not None:
                    link.close(link.server)
                    link.close(link.client, reset=fault is Fault.RESET)
                    return
        except OSError:
            pass
        with self._lock:
            is_late = any(late is link for late, _ in self._late)
        # The server's end stays open for a late message, and for a message after which the connection is cut.
        if not is_late and not link.is_cut:
            link.close(link.client, link.server)


def read_message(source: socket.socket, *, in_startup: bool) -> bytes | None:
    """Return the next complete message, None at the end.

    A message has a type (absent at startup), a length that includes itself, and a body.
    """
    head = read_exactly(source, 4 if in_startup else 5)
    if head is None:
        return None
    body = read_exactly(source, struct.unpack(">I", head[-4:])[0] - 4)
    return None if body is None else head + body


def read_exactly(source: socket.socket, count: int) -> bytes | None:
    parts = b""
    while len(parts) < count:
        part = source.recv(count - len(parts))
        if not part:
            return None
        parts += part
    return parts


@contextlib.contextmanager
def wire_proxy(target: int):
    """Run a proxy in front of the server at a port until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = WireProxy(target, listener.getsockname()[1])
        threading.Thread(target=proxy.serve, args=(listener,), daemon=True).start()
        yield proxy
        proxy.hang_up()
        # The shutdown wakes the accepting thread.
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
