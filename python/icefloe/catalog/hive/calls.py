"""Calls of the Hive Metastore's Thrift interface that the Hive catalog makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from icefloe.catalog.hive.structs import (
    BOOL,
    SHORT,
    TEXT,
    TEXTS,
    CheckLockRequest,
    Database,
    EnvironmentContext,
    GetTableRequest,
    GetTableResult,
    HeartbeatRequest,
    HiveTable,
    Kind,
    LockRequest,
    LockResponse,
    ShowLocksRequest,
    ShowLocksResponse,
    UnlockRequest,
    of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

ALREADY_EXISTS = "AlreadyExistsException"
INVALID_OBJECT = "InvalidObjectException"
INVALID_OPERATION = "InvalidOperationException"
META = "MetaException"
NO_SUCH_LOCK = "NoSuchLockException"
NO_SUCH_OBJECT = "NoSuchObjectException"
NO_SUCH_TRANSACTION = "NoSuchTxnException"
TRANSACTION_ABORTED = "TxnAbortedException"
TRANSACTION_OPEN = "TxnOpenException"
UNKNOWN_DATABASE = "UnknownDBException"


@dataclass(frozen=True)
class Call:
    """A call of the interface.

    Attributes:
        name: The name of the function.
        arguments: The types of its arguments, numbered from 1.
        result: The type of its result; None if it has none.
        refusals: The exceptions that it may reply with, by field number.
    """

    name: str
    arguments: tuple[Kind, ...] = ()
    result: Kind | None = None
    refusals: Mapping[int, str] = field(default_factory=dict)


GET_DATABASE = Call("get_database", (TEXT,), of(Database), {1: NO_SUCH_OBJECT, 2: META})
GET_ALL_DATABASES = Call("get_all_databases", (), TEXTS, {1: META})
CREATE_DATABASE = Call("create_database", (of(Database),), None, {1: ALREADY_EXISTS, 2: INVALID_OBJECT, 3: META})
ALTER_DATABASE = Call("alter_database", (TEXT, of(Database)), None, {1: META, 2: NO_SUCH_OBJECT})
DROP_DATABASE = Call("drop_database", (TEXT, BOOL, BOOL), None, {1: NO_SUCH_OBJECT, 2: INVALID_OPERATION, 3: META})
GET_TABLE_NAMES_BY_FILTER = Call(
    "get_table_names_by_filter", (TEXT, TEXT, SHORT), TEXTS, {1: META, 2: INVALID_OPERATION, 3: UNKNOWN_DATABASE}
)
GET_TABLE = Call("get_table_req", (of(GetTableRequest),), of(GetTableResult), {1: META, 2: NO_SUCH_OBJECT})
GET_TABLE_OF_HIVE_2 = Call("get_table", (TEXT, TEXT), of(HiveTable), {1: META, 2: NO_SUCH_OBJECT})
CREATE_TABLE = Call(
    "create_table", (of(HiveTable),), None, {1: ALREADY_EXISTS, 2: INVALID_OBJECT, 3: META, 4: NO_SUCH_OBJECT}
)
ALTER_TABLE = Call(
    "alter_table_with_environment_context",
    (TEXT, TEXT, of(HiveTable), of(EnvironmentContext)),
    None,
    {1: INVALID_OPERATION, 2: META},
)
DROP_TABLE = Call("drop_table", (TEXT, TEXT, BOOL), None, {1: NO_SUCH_OBJECT, 2: META})
LOCK = Call("lock", (of(LockRequest),), of(LockResponse), {1: NO_SUCH_TRANSACTION, 2: TRANSACTION_ABORTED})
CHECK_LOCK = Call(
    "check_lock",
    (of(CheckLockRequest),),
    of(LockResponse),
    {1: NO_SUCH_TRANSACTION, 2: TRANSACTION_ABORTED, 3: NO_SUCH_LOCK},
)
UNLOCK = Call("unlock", (of(UnlockRequest),), None, {1: NO_SUCH_LOCK, 2: TRANSACTION_OPEN})
HEARTBEAT = Call(
    "heartbeat", (of(HeartbeatRequest),), None, {1: NO_SUCH_LOCK, 2: NO_SUCH_TRANSACTION, 3: TRANSACTION_ABORTED}
)
SHOW_LOCKS = Call("show_locks", (of(ShowLocksRequest),), of(ShowLocksResponse))
SET_UGI = Call("set_ugi", (TEXT, TEXTS), TEXTS, {1: META})
