"""The exclusive lock of one table in a Hive Metastore, kept alive by heartbeats while a commit runs."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.catalog.hive.calls import CHECK_LOCK, HEARTBEAT, LOCK, SHOW_LOCKS, UNLOCK
from icefloe.catalog.hive.client import CallRefusedError, CallUnansweredError, Metastore
from icefloe.catalog.hive.structs import (
    CheckLockRequest,
    HeartbeatRequest,
    LockComponent,
    LockRequest,
    ShowLocksRequest,
    UnlockRequest,
)
from icefloe.catalog.hive.users import current_user
from icefloe.exceptions import CommitFailedException, StorageError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.environment import Environment
    from icefloe.typedef import Properties

EXCLUSIVE = 3
TABLE_LEVEL = 2
NO_TRANSACTION = 6
ACQUIRED, WAITING = 1, 2
RELEASE_ATTEMPTS = 3
_CALL_ERRORS = (CallRefusedError, CallUnansweredError, StorageError)


@dataclass(frozen=True)
class LockSettings:
    """Waiting times and heartbeats of a lock, in milliseconds; the defaults are the Java reference's.

    Attributes:
        timeout_ms: The longest wait for a lock that another client holds.
        min_wait_ms: The wait before the first check of a lock; each further wait is 1.5 times as long.
        max_wait_ms: The longest wait between two checks.
        heartbeat_ms: The time between two heartbeats.
    """

    timeout_ms: int = 180_000
    min_wait_ms: int = 50
    max_wait_ms: int = 5_000
    heartbeat_ms: int = 240_000

    @classmethod
    def of(cls, properties: Properties) -> LockSettings:
        """Return the settings in a catalog's properties, `iceberg.hive.lock-*` and PyIceberg's `lock-check-*`.

        Raises:
            ValidationError: A value is not a positive number.
        """
        own = cls()
        return cls(
            _milliseconds(properties, "lock-timeout-ms", None, own.timeout_ms),
            _milliseconds(properties, "lock-check-min-wait-ms", "lock-check-min-wait-time", own.min_wait_ms),
            _milliseconds(properties, "lock-check-max-wait-ms", "lock-check-max-wait-time", own.max_wait_ms),
            _milliseconds(properties, "lock-heartbeat-interval-ms", None, own.heartbeat_ms),
        )


class HeldLock:
    """A lock that this client holds, or the absence of one if locks are disabled."""

    def __init__(self) -> None:
        self.failure: Exception | None = None

    @property
    def is_held(self) -> bool:
        """Whether every heartbeat so far was answered."""
        return self.failure is None


@contextmanager
def table_lock(
    metastore: Metastore, database: str, name: str, settings: LockSettings, environment: Environment
) -> Iterator[HeldLock]:
    """Acquire the lock of a table and release it at the end of the block.

    Raises:
        CommitFailedException: Another client holds the lock for too long, or the metastore did not grant it.
    """
    table = f"{database}.{name}"
    agent = f"Iceberg-{environment.new_uuid()}"
    number, state = _request(metastore, database, name, agent)
    held, stop = HeldLock(), threading.Event()
    try:
        _wait(metastore, table, (number, state), settings, environment)
        threading.Thread(target=_beat, args=(metastore, number, settings, held, stop), daemon=True).start()
        yield held
    finally:
        stop.set()
        _release(metastore, number, settings, environment)


def _request(metastore: Metastore, database: str, name: str, agent: str) -> tuple[int, int]:
    """Request a lock and return its id and state."""
    component = LockComponent(
        type=EXCLUSIVE, level=TABLE_LEVEL, dbname=database, tablename=name, operationType=NO_TRANSACTION
    )
    request = LockRequest(
        component=[component], txnid=0, user=current_user(), hostname=socket.gethostname(), agentInfo=agent
    )
    try:
        with metastore.session() as session:
            reply = session.call(LOCK, request)
    except CallUnansweredError as error:
        return _find(metastore, database, name, agent, error)
    except CallRefusedError as error:
        raise CommitFailedException(
            f"table {database}.{name}: the metastore refused a lock, nothing has changed; a metastore without lock tables "
            f"needs the table property engine.hive.lock-enabled=false: {error}"
        ) from error
    return int(reply.lockid), int(reply.state)


def _find(metastore: Metastore, database: str, name: str, agent: str, cause: Exception) -> tuple[int, int]:
    """Return the id and state of a lock whose reply was lost."""
    try:
        # The metastore stores names of locks in lower case, and compares them as they are.
        request = ShowLocksRequest(dbname=database.lower(), tablename=name.lower())
        locks = metastore.repeatable_call(SHOW_LOCKS, request).locks
        return next((int(lock.lockid), int(lock.state)) for lock in locks or [] if lock.agentInfo == agent)
    except (*_CALL_ERRORS, StopIteration):
        raise CommitFailedException(
            f"table {database}.{name}: no reply to the request for a lock, nothing has changed; retry: {cause}"
        ) from cause


def _wait(
    metastore: Metastore, table: str, lock: tuple[int, int], settings: LockSettings, environment: Environment
) -> None:
    number, state = lock
    started, wait_ms = environment.monotonic(), float(settings.min_wait_ms)
    while state == WAITING:
        if (environment.monotonic() - started) * 1000 > settings.timeout_ms:
            raise CommitFailedException(
                f"table {table}: another client held the lock for {settings.timeout_ms} ms, nothing has changed; retry, or raise "
                "iceberg.hive.lock-timeout-ms"
            )
        environment.sleep(min(wait_ms, settings.max_wait_ms) / 1000)
        wait_ms *= 1.5
        try:
            state = int(metastore.repeatable_call(CHECK_LOCK, CheckLockRequest(lockid=number)).state)
        except _CALL_ERRORS as error:
            raise CommitFailedException(
                f"table {table}: the state of the lock is unknown, nothing has changed; retry: {error}"
            ) from error
    if state != ACQUIRED:
        raise CommitFailedException(
            f"table {table}: the lock was not granted (state {state}), nothing has changed; retry"
        )


def _beat(metastore: Metastore, number: int, settings: LockSettings, held: HeldLock, stop: threading.Event) -> None:
    """Send heartbeats until the lock is released; the first failure ends them."""
    wait_ms = settings.heartbeat_ms / 2
    while not stop.wait(wait_ms / 1000):
        try:
            metastore.repeatable_call(HEARTBEAT, HeartbeatRequest(lockid=number, txnid=0))
        except _CALL_ERRORS as error:
            held.failure = error
            return
        wait_ms = settings.heartbeat_ms


def _release(metastore: Metastore, number: int, settings: LockSettings, environment: Environment) -> None:
    """Release a lock; a request without a reply is repeated, as every later commit waits for a lock that stays.

    A lock that cannot be released ends by itself when its heartbeats are missing.
    """
    for attempt in range(RELEASE_ATTEMPTS):
        if attempt > 0:
            environment.sleep(settings.min_wait_ms / 1000)
        # A refusal is a reply: the lock has ended.
        with suppress(CallUnansweredError, StorageError):
            with suppress(CallRefusedError):
                metastore.repeatable_call(UNLOCK, UnlockRequest(lockid=number))
            return


def _milliseconds(properties: Properties, name: str, name_in_seconds: str | None, default: int) -> int:
    for key, factor in ((f"iceberg.hive.{name}", 1), (f"hive.{name}", 1), (name_in_seconds, 1000)):
        text = properties.get(key) if key is not None else None
        if text is None:
            continue
        try:
            value = int(float(text) * factor)
        except (ValueError, OverflowError):
            value = 0
        if value <= 0:
            raise ValidationError(f"catalog property {key!r}: expected a positive number, got {text!r}")
        return value
    return default
