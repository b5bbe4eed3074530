"""A proxy that parses the messages of a database's protocol, PostgreSQL's or MySQL's, and cuts connections between messages."""

from __future__ import annotations

import contextlib
import enum
import socket
import struct
import threading
from dataclasses import dataclass, field
from typing import ClassVar

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


class PostgresProtocol:
    """Messages with a type (absent at startup), a length that includes itself, and a body."""

    def read(self, source: socket.socket, direction: Direction, *, is_first: bool) -> tuple[bytes, Message] | None:
        """Return the next complete message and its meaning, None at the end."""
        in_startup = is_first and direction is Direction.CLIENT
        while True:
            head = read_exactly(source, 4 if in_startup else 5)
            body = None if head is None else read_exactly(source, struct.unpack(">I", head[-4:])[0] - 4)
            if body is None:
                return None
            if in_startup and struct.unpack(">I", body[:4])[0] in (SSL_REQUEST, GSS_REQUEST):
                # The proxy refuses encryption because it parses the messages.
                source.sendall(b"N")
                continue
            return head + body, Message(direction, "startup" if in_startup else chr(head[0]), body)


class MySqlProtocol:
    """Packets with a length, a number within the command and a body; a client's commands have the number 0."""

    kinds: ClassVar = {1: "X", 3: "Q", 14: "ping"}

    def read(self, source: socket.socket, direction: Direction, *, is_first: bool) -> tuple[bytes, Message] | None:
        """Return the next complete packet and its meaning, None at the end."""
        head = read_exactly(source, 4)
        body = None if head is None else read_exactly(source, int.from_bytes(head[:3], "little"))
        if body is None:
            return None
        if direction is Direction.SERVER:
            return head + body, Message(direction, "reply", body)
        kind = "startup" if head[3] > 0 else self.kinds.get(body[0], f"command {body[0]}")
        # Statements of PostgreSQL end with a NUL.
        return head + body, Message(direction, kind, body[1:] + b"\0")


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
    protocol: PostgresProtocol | MySqlProtocol = field(default_factory=PostgresProtocol)
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
            # The server's thread starts first: `deliver` waits for its end as soon as a message of the client is late.
            link.pumps[Direction.SERVER].start()
            link.pumps[Direction.CLIENT].start()

    def pump(self, link: Link, direction: Direction) -> None:
        """Forward the messages of one direction until an end is closed."""
        source, sink = (link.client, link.server) if direction is Direction.CLIENT else (link.server, link.client)
        is_first = True
        try:
            while (read := self.protocol.read(source, direction, is_first=is_first)) is not None:
                data, message = read
                is_first = False
                fault = self.fault_of(message)
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
                if link.is_cut and direction is Direction.CLIENT:
                    # The server reads the message, then the end. The thread of the other direction must not shut down the
                    # server's end: it may pass an earlier reply on before the message is forwarded.
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


def read_exactly(source: socket.socket, count: int) -> bytes | None:
    parts = b""
    while len(parts) < count:
        part = source.recv(count - len(parts))
        if not part:
            return None
        parts += part
    return parts


@contextlib.contextmanager
def wire_proxy(target: int, protocol: PostgresProtocol | MySqlProtocol | None = None):
    """Run a proxy in front of the server at a port until the block ends. The protocol is PostgreSQL's by default."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = WireProxy(target, listener.getsockname()[1], protocol or PostgresProtocol())
        threading.Thread(target=proxy.serve, args=(listener,), daemon=True).start()
        yield proxy
        proxy.hang_up()
        # The shutdown wakes the accepting thread.
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
