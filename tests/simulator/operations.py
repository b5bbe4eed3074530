"""Histories of clients of a simulated table, as frozen values: rows, conditions, operations, transactions, faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

MAIN = "main"
PARTS = ("a", "b", None)
WIDTH = 4


class Row(NamedTuple):
    """A row; `value` is unique to each written row, so that a lost or duplicate row is found."""

    id: int
    part: str | None
    value: int


Rows = tuple[Row, ...]


@dataclass(frozen=True)
class Condition:
    """Rows whose ids are in a range, or whose part is one of the parts; all bounds None for every row."""

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
    """The partition specs of a table, the current spec last."""

    FLAT = ("flat",)
    BY_PART = ("part",)
    BY_ID = ("id",)
    FLAT_THEN_BY_PART = ("flat", "part")
    BY_PART_THEN_BY_ID = ("part", "id")
    BY_ID_THEN_FLAT = ("id", "flat")

    def __repr__(self) -> str:
        return f"Layout.{self.name}"

    def partition(self, row: Row) -> object:
        """Return the partition that a row falls into under the current spec."""
        return {"flat": None, "part": row.part, "id": row.id - row.id % WIDTH}[self.value[-1]]


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
    """Rows with distinct ids, which replace rows of the same id or are inserted."""

    rows: Rows
    branch: str = MAIN


@dataclass(frozen=True)
class Merge:
    """A merge by id.

    Attributes:
        rows: The source, with distinct ids.
        matched: What happens to rows of the table whose id the source has: "update", "delete" or "keep".
        insert: Whether rows of the source whose id the table lacks are inserted.
        delete_others: Whether rows of the table whose id the source lacks are deleted.
    """

    rows: Rows
    matched: str
    insert: bool
    delete_others: bool = False
    branch: str = MAIN


Operation = Append | Delete | Overwrite | OverwritePartitions | Upsert | Merge


@dataclass(frozen=True)
class ClientTransaction:
    """The operations of one client that become visible together.

    Attributes:
        operations: One to three; none for a client that does nothing.
        explicit: Whether they share a transaction; a single operation may also commit by itself.
    """

    operations: tuple[Operation, ...]
    explicit: bool


@dataclass(frozen=True)
class Fault:
    """A fault at one call of one client.

    Attributes:
        client: Number of its transaction.
        call: The beginning of the names of the calls that are counted: "" for all, "catalog.swap" for swaps.
        number: Which of these calls fails, from 0.
        kind: One of `KINDS`.
        delay: After how many further calls of all clients a late change takes effect.
    """

    client: int
    call: str
    number: int
    kind: str
    delay: int = 0


KINDS = ("crash before", "crash after", "error before", "error after", "late", "repeated")
"""A client ends before or after the effect of a call; the call has no effect, or has its effect, and reports an error; a change
reports an error and takes effect later; a change is sent twice, and the second request meets the effect of the first."""


@dataclass(frozen=True)
class History:
    """Concurrent transactions on one table, the order of their calls, and faults.

    Attributes:
        seed: What the history was made from; ids and UUIDs follow from it.
        layout: Partitioning.
        properties: Table properties: modes and isolation levels.
        initial: The rows of the appends that the table begins with, on main; other branches begin there.
        branches: Branches besides main.
        transactions: One for each client.
        schedule: The client that runs at each decision; numbers of clients that have ended are skipped. After the last number clients
            run one after the other. None draws every decision from the seed.
        shared_only: Whether clients hand over at calls of the catalog and deletions alone. Their other calls write files of
            their own, or read files that nobody changes.
        faults: Faults.
        clocks: How many milliseconds each client's clock is ahead; clients without a number have the right time.
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

    @property
    def is_serializable(self) -> bool:
        """Whether every operation has serializable isolation; snapshot isolation otherwise."""
        return not any(value == "snapshot" for key, value in self.properties.items() if key.endswith("isolation-level"))
