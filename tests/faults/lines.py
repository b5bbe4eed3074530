"""Faults of the requests and messages between a catalog's client and the servers of the catalog and its storage."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.catalogs.thrift_proxy import ThriftProxy
from tests.catalogs.wire_proxy import TIMEOUT_SECONDS, Cut, Direction, Fault, WireProxy
from tests.faults.sweep import Calls
from tests.storage.servers import Proxy, Request

if TYPE_CHECKING:
    from sqlalchemy import Engine

HTTP_REPLIES: dict[str, str | int] = {
    "cut before": "cut",
    "cut after": "mute",
    "status 500 before": 500,
    "status 503 before": 503,
    "status 500 after": "500 after",
    "reply cut in half": "half",
    "status 404": 404,
    "server down": "cut",
}
"""The fault of `Proxy` for each kind of fault."""


class HttpFaults:
    """Faults at the HTTP requests of a client.

    Args:
        line: The proxy before the server.
        is_object_store: Whether the server stores objects, and a read may miss an object that was just stored.
    """

    deletions = ("DELETE", "POST ?delete")

    def __init__(self, line: Proxy, *, is_object_store: bool = False) -> None:
        self._line, self._is_object_store = line, is_object_store
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def during(self, number: int, kind: str) -> Iterator[Calls]:
        """Cause one fault in a block, or fail all requests from a number on."""
        calls = Calls()

        def fault(request: Request) -> str | int | None:
            parts = urlsplit(request.path)
            name = f"{request.method} ?delete" if parts.query.startswith("delete") else f"{request.method} {parts.path}"
            with self._lock:
                calls.names.append(name)
                count = len(calls.names)
            if count == number:
                calls.failed = name
            is_due = count == number or (kind == "server down" and 0 < number < count)
            return HTTP_REPLIES[kind] if is_due else None

        self._line.fault = fault
        try:
            yield calls
        finally:
            self._line.fault = None

    def kinds_of(self, name: str) -> tuple[str, ...]:
        """Return the kinds of faults that have distinct effects at a request."""
        if name.startswith(("GET", "HEAD")):
            kinds = ("cut before", "status 503 before", "reply cut in half", "server down")
            return (*kinds, "status 404") if self._is_object_store else kinds
        return tuple(kind for kind in HTTP_REPLIES if kind != "status 404")


class ThriftFaults:
    """Faults at the calls of a metastore: the request or the reply is lost.

    Args:
        line: The proxy before the metastore.
    """

    deletions = ()

    def __init__(self, line: ThriftProxy) -> None:
        self._line = line

    @contextlib.contextmanager
    def during(self, number: int, kind: str) -> Iterator[Calls]:
        """Cause one fault in a block."""
        calls = Calls()

        def fault_of(request: bytes) -> str | None:
            ThriftProxy.fault_of(self._line, request)
            calls.names.append(self._line.functions[-1])
            if len(calls.names) != number:
                return None
            calls.failed = calls.names[-1]
            return kind.removesuffix(" lost")

        self._line.fault_of = fault_of
        try:
            yield calls
        finally:
            del self._line.fault_of

    def kinds_of(self, name: str) -> tuple[str, ...]:
        """Return the kinds of faults that have distinct effects at a call."""
        return ("request lost",) if name.startswith("get_") else ("request lost", "reply lost")


WIRE_FAULTS = {
    "cut before": Fault.BEFORE,
    "cut after": Fault.AFTER,
    "reset": Fault.RESET,
    "delivered late": Fault.LATE,
    "server down": Fault.DOWN,
}
"""The fault of `WireProxy` for each kind of fault."""
POSTGRES_WORK = "select count(*) from pg_stat_activity where application_name = '{application}' and state <> 'idle'"
MARIADB_WORK = (
    "select (select count(*) from information_schema.innodb_trx)"
    " + (select count(*) from information_schema.processlist where user = 'root' and command <> 'Sleep' and id <> connection_id())"
)
"""Queries for the number of connections that a server works for."""
POSTGRES_WAITS = "select count(*) from pg_locks where not granted"
MARIADB_WAITS = "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"
"""Queries for the number of transactions that wait for a lock."""
POSTGRES_POLL_SECONDS = 0.005
MARIADB_POLL_SECONDS = 0.15
"""MariaDB shows a new state of its transactions only if nobody has asked for it for 0.1 seconds."""


class WireFaults:
    """Faults at the messages of a client of a database, whose connection is open before the first message.

    Args:
        line: The proxy before the server.
        engine: The SQLAlchemy engine of the client.
        count_work: Function that returns the number of connections that the server works for.
        count_waits: Function that returns the number of transactions that wait for a lock.
        poll_seconds: Time between two calls of these functions.
    """

    deletions = ()

    def __init__(
        self,
        line: WireProxy,
        engine: Engine,
        count_work: Callable[[], int],
        count_waits: Callable[[], int],
        poll_seconds: float,
    ) -> None:
        self._line, self._engine = line, engine
        self._count_work, self._count_waits, self._poll_seconds = count_work, count_waits, poll_seconds

    @contextlib.contextmanager
    def during(self, number: int, kind: str) -> Iterator[Calls]:
        """Cause one fault in a block, and wait until the server is done with the client's messages."""
        calls = Calls()
        # The number of messages would otherwise depend on the connections of earlier runs.
        self._engine.dispose()
        self._engine.connect().close()
        self._line.arm(Cut(Direction.CLIENT, number - 1, WIRE_FAULTS[kind]) if number > 0 else None)
        with contextlib.ExitStack() as stack:
            stack.callback(self._finish, calls, number)
            if kind == "delivered late":
                stack.enter_context(self._delivering_when_blocked())
            yield calls

    def _finish(self, calls: Calls, number: int) -> None:
        names = [f"message {one.kind}" for one in self._line.messages if one.direction is Direction.CLIENT]
        calls.names += names
        if self._line.has_cut:
            calls.failed = names[number - 1]
        self._line.heal()
        self._line.deliver()
        self._wait_until_idle()

    @contextlib.contextmanager
    def _delivering_when_blocked(self) -> Iterator[None]:
        """Deliver the late message before the end of the block if another attempt of the client waits for its transaction."""
        ended = threading.Event()

        def deliver() -> None:
            while not ended.wait(self._poll_seconds):
                if self._count_waits() > 0:
                    self._line.deliver()
                    return

        thread = threading.Thread(target=deliver, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def kinds_of(self, _name: str) -> tuple[str, ...]:
        """Return all kinds of faults."""
        return tuple(WIRE_FAULTS)

    def _wait_until_idle(self) -> None:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self._count_work() > 0:
            assert time.monotonic() < deadline, "the server keeps a transaction of the client"
            time.sleep(self._poll_seconds)
