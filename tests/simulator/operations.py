"""Histories of concurrent clients as frozen values: rows, conditions, operations, transactions and faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

MAIN = "main"
PARTS = ("a", "b", None)
WIDTH = 4


class Row(NamedTuple):
    """A row of the simulated table. Every written row has a distinct `value`, so that lost and duplicate rows are detected."""

    id: int
    part: str | None
    value: int


Rows = tuple[Row, ...]


@dataclass(frozen=True)
class Condition:
    """A filter of rows by an inclusive range of ids and by a set of parts. None removes a bound."""

    low: int | None = None
    high: int | None = None
    parts: tuple[str | None, ...] | None = None

    def holds(self, row: Row) -> bool:
        return (
            (self.low is None or row.id >= self.low)
            and (self.high is None or row.id <= self.high)
            and (self.parts is None or row.part in self.parts)
        )

    def __str__(self) -> str:
        terms = [f"id >= {self.low}"] if self.low is not None else []
        terms += [f"id <= {self.high}"] if self.high is not None else []
        if self.parts is not None:
            terms.append(" OR ".join("part IS NULL" if part is None else f"part = '{part}'" for part in self.parts))
        return " AND ".join(f"({term})" for term in terms) if terms else "true"


class Layout(Enum):
    """The partition specs of a table in the order of their creation; the last spec is the current one."""

    FLAT = ("flat",)
    BY_PART = ("part",)
    BY_ID = ("id",)
    FLAT_THEN_BY_PART = ("flat", "part")
    BY_PART_THEN_BY_ID = ("part", "id")
    BY_ID_THEN_FLAT = ("id", "flat")

    def __repr__(self) -> str:
        return f"Layout.{self.name}"


def partition(row: Row, spec: str) -> object:
    """Return the partition that a row falls into under a spec: "flat", "part" or "id"."""
    return {"flat": None, "part": row.part, "id": row.id - row.id % WIDTH}[spec]


@dataclass(frozen=True)
class Append:
    rows: Rows
    branch: str = MAIN


@dataclass(frozen=True)
class Delete:
    where: Condition
    branch: str = MAIN


@dataclass(frozen=True)
class Overwrite:
    rows: Rows
    where: Condition
    branch: str = MAIN


@dataclass(frozen=True)
class OverwritePartitions:
    rows: Rows
    branch: str = MAIN


@dataclass(frozen=True)
class Upsert:
    """An upsert of rows with distinct ids."""

    rows: Rows
    branch: str = MAIN


@dataclass(frozen=True)
class Merge:
    """A merge by id.

    Attributes:
        rows: The source, with distinct ids.
        matched: The action for rows of the table whose id is in the source: "update", "delete" or "keep".
        insert: Whether rows of the source whose id is not in the table are inserted.
        delete_others: Whether rows of the table whose id is not in the source are deleted.
    """

    rows: Rows
    matched: str
    insert: bool
    delete_others: bool = False
    branch: str = MAIN


@dataclass(frozen=True)
class AddFiles:
    """Registration of Parquet files that exist already, one for each row."""

    rows: Rows
    branch: str = MAIN


@dataclass(frozen=True)
class ReplacePartitions:
    """A replacement of the partitions of new data files, for tables that have had one spec only."""

    rows: Rows
    branch: str = MAIN


@dataclass(frozen=True)
class RewriteFiles:
    """A compaction of all data files of a branch."""

    branch: str = MAIN


@dataclass(frozen=True)
class RewriteManifests:
    branch: str = MAIN


@dataclass(frozen=True)
class DeleteKeys:
    """An equality delete of ids, for tables that have had one spec only; with spec "part", of the ids in one part."""

    ids: tuple[int, ...]
    part: str | None
    branch: str = MAIN


@dataclass(frozen=True)
class ApplyChanges:
    """A batch of changes by id and part: rows of distinct keys that are inserted or updated, and other keys that are deleted."""

    rows: Rows
    deleted: tuple[tuple[int, str], ...] = ()
    branch: str = MAIN


@dataclass(frozen=True)
class Maintain:
    """A maintenance verb of `tests/simulator/maintaining.py`, which commits itself, or several times, or not at all."""

    verb: str
    branch: str = MAIN


@dataclass(frozen=True)
class Publish:
    """A cherry-pick to main of the snapshot that the history staged."""

    branch: str = MAIN


@dataclass(frozen=True)
class Rollback:
    """A rollback of main to the last of the initial snapshots."""

    branch: str = MAIN


@dataclass(frozen=True)
class CreateRef:
    """Creation of a branch or tag at the last of the initial snapshots."""

    name: str
    tag: bool


@dataclass(frozen=True)
class AddColumn:
    name: str


@dataclass(frozen=True)
class ChangeSpec:
    """A change of the partition spec to "flat", "part" or "id"."""

    spec: str


@dataclass(frozen=True)
class SetProperty:
    key: str
    value: str


@dataclass(frozen=True)
class SetStatistics:
    """Registration of a statistics file, by its name, for the last of the initial snapshots."""

    path: str


@dataclass(frozen=True)
class ReplaceTable:
    """A staged replacement: the first operation of a transaction that replaces the columns, the partition spec and the rows of main.

    The spec is another one than the current only for tables that have had several specs.
    """

    rows: Rows
    spec: str
    branch: str = MAIN


@dataclass(frozen=True)
class CreateTable:
    """Creation of another table with rows in one transaction."""

    name: str
    rows: Rows


@dataclass(frozen=True)
class RenameTable:
    name: str
    to: str


@dataclass(frozen=True)
class DropTable:
    name: str


BlindOperation = Append | AddFiles | DeleteKeys | ApplyChanges
RowOperation = BlindOperation | Delete | Overwrite | OverwritePartitions | Upsert | Merge | ReplacePartitions


@dataclass(frozen=True)
class FindAbsent:
    """A drop that read its table back and found no table. Used by the model alone."""

    name: str


@dataclass(frozen=True)
class FindRenamed:
    """A rename that read the names back and found the table under the new one. Used by the model alone."""

    name: str
    to: str


CatalogOperation = CreateTable | RenameTable | DropTable | FindAbsent | FindRenamed
"""Operations on other tables of the catalog, each the only operation of its client."""
Operation = (
    RowOperation
    | RewriteFiles
    | RewriteManifests
    | Maintain
    | Publish
    | Rollback
    | CreateRef
    | AddColumn
    | ChangeSpec
    | SetProperty
    | SetStatistics
    | ReplaceTable
    | CatalogOperation
)


@dataclass(frozen=True)
class ClientTransaction:
    """The operations of one client, committed together.

    Attributes:
        operations: The operations in order; empty for a client that makes no change.
        explicit: Whether the operations run in an explicit transaction. False requires a single operation, which commits itself, or
            maintenance verbs.
    """

    operations: tuple[Operation, ...]
    explicit: bool

    @property
    def changes_catalog(self) -> bool:
        """Whether the client changes other tables of the catalog."""
        return any(isinstance(operation, CatalogOperation) for operation in self.operations)

    @property
    def replacement(self) -> ReplaceTable | None:
        """The operation that replaces the table; None in other transactions."""
        return next((operation for operation in self.operations if isinstance(operation, ReplaceTable)), None)

    @property
    def maintains(self) -> bool:
        """Whether the client runs maintenance verbs, which change no row."""
        return any(isinstance(operation, Maintain) for operation in self.operations)


@dataclass(frozen=True)
class Fault:
    """A fault at one call of one client.

    Attributes:
        client: The number of the client.
        call: The prefix of the names of the counted calls: "" for all calls, "catalog.swap" for swaps.
        number: The ordinal of the failing call among the counted calls, from 0.
        kind: One of `KINDS`.
        delay: The number of further calls of all clients after which a late change takes effect.
    """

    client: int
    call: str
    number: int
    kind: str
    delay: int = 0


KINDS = ("crash before", "crash after", "error before", "error after", "late", "repeated")
"""The kinds of faults.

- crash before, crash after: the client ends before or after the effect of the call.
- error before, error after: the call raises an error, without or with its effect.
- late: the call raises an error, and its change takes effect later.
- repeated: the change is requested twice, and the second request is applied after the effect of the first.
"""


@dataclass(frozen=True)
class History:
    """Concurrent transactions on one table, the order of their calls, and faults.

    Attributes:
        seed: The seed of the history, of its ids and of its UUIDs.
        layout: The partition specs of the table.
        properties: Table properties: modes and isolation levels.
        initial: The rows of each initial append to main. Other branches are created after these appends.
        branches: Branches besides main.
        staged: The rows of a snapshot that is staged after the initial appends, if there are any.
        others: Other tables that exist in the beginning, each with one row.
        deleted: Ids of initial rows that are deleted by position, and by equality if the table has had one spec only.
        is_created_partitioned: Whether the table is created with the first spec of its layout. Other tables are created without partitions,
            and deletes by key of a spec without partitions reach the rows of all specs.
        transactions: The transaction of each client.
        schedule: The client that runs at each decision; clients that have ended are skipped. After the last decision, clients
            run one after the other. None draws every decision from the seed.
        shared_only: Whether clients hand over only at catalog calls and deletions. All other calls write files of one client
            or read immutable files.
        faults: The faults of all clients.
        clocks: The milliseconds by which each client's clock is ahead; 0 for clients beyond the end of the tuple.
    """

    seed: int
    layout: Layout
    initial: tuple[Rows, ...]
    transactions: tuple[ClientTransaction, ...]
    schedule: tuple[int, ...] | None = None
    properties: dict[str, str] = field(default_factory=dict)
    branches: tuple[str, ...] = ()
    shared_only: bool = False
    faults: tuple[Fault, ...] = ()
    clocks: tuple[int, ...] = ()
    staged: Rows = ()
    is_created_partitioned: bool = False
    others: tuple[str, ...] = ()
    deleted: tuple[int, ...] = ()

    @property
    def maintainers(self) -> frozenset[int]:
        """The clients that run maintenance verbs."""
        return frozenset(client for client, one in enumerate(self.transactions) if one.maintains)

    @property
    def is_serializable(self) -> bool:
        """Whether all isolation levels are serializable; otherwise the isolation is snapshot isolation."""
        return not any(value == "snapshot" for key, value in self.properties.items() if key.endswith("isolation-level"))
