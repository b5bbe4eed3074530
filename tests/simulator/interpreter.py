"""Execution of a history on the real commit code, in one process and in the order of one schedule."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.exceptions import CommitStateUnknownException, IcebergError
from icefloe.schema import Schema
from icefloe.transforms import IdentityTransform, TruncateTransform
from icefloe.types import LongType, NestedField, StringType

from tests.faults.seam import observed
from tests.simulator.model import State, ordered
from tests.simulator.operations import (
    MAIN,
    WIDTH,
    Append,
    Delete,
    History,
    Merge,
    Operation,
    Overwrite,
    OverwritePartitions,
    Row,
    Rows,
    Upsert,
)
from tests.simulator.world import ClientCrashed, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table import Table

NAME = "db.t"
TAG = "client"
"""The summary key of each snapshot whose value is `<client>.<operation>`."""
SCHEMA = Schema(
    NestedField(1, "id", LongType()), NestedField(2, "part", StringType()), NestedField(3, "value", LongType())
)
ARROW = pa.schema([("id", pa.int64()), ("part", pa.string()), ("value", pa.int64())])
SPECS = {"flat": (), "part": (("part", IdentityTransform()),), "id": (("id", TruncateTransform(WIDTH)),)}


class SimulatedCatalog(InMemoryCatalog):
    """An in-memory catalog with the clock, sleep and randomness of a world."""

    def __init__(self, world: World) -> None:
        super().__init__("simulated")
        self.environment = world.environment


@dataclass(frozen=True)
class Outcome:
    """The outcome of a history.

    Attributes:
        committed: Clients whose transactions were reported as committed.
        refused: The error of each client whose transaction was reported as failed.
        unknown: The error of each client that crashed or whose transaction raised `CommitStateUnknownException`.
        before: Pairs of clients whose first client had committed when the second client loaded its handle.
        swaps: The clients whose changes took effect, in the order of their effects.
        seen: The number of swaps that were in effect when each client loaded its handle.
        state: The final rows of every branch.
        tags: The tag of each snapshot that a client added.
        stamps: Errors in the sequence numbers of snapshots and of the manifests that they added.
        missing: Files that a snapshot references and that do not exist.
        orphans: Files that no snapshot references.
        following: The failure or the lost rows of a commit after the history; None if the commit succeeded.
        calls: The number of observed calls of storage and catalog by the clients.
        fired: The number of faults that occurred.
        decisions: The clients that could run at each decision, and the client that ran.
    """

    committed: tuple[int, ...]
    refused: dict[int, str]
    unknown: dict[int, str]
    before: frozenset[tuple[int, int]]
    swaps: tuple[int, ...]
    seen: dict[int, int]
    state: State
    tags: tuple[str, ...]
    stamps: tuple[str, ...]
    missing: frozenset[str]
    orphans: frozenset[str]
    following: str | None
    calls: int
    fired: int
    decisions: tuple[tuple[tuple[int, ...], int], ...]


def run(history: History) -> Outcome:
    """Run a history and return its outcome.

    Raises:
        Exception: An operation raised an error other than `IcebergError`.
    """
    world = World(history)
    with observed(world, InMemoryCatalog):
        catalog = SimulatedCatalog(world)
        try:
            return _Run(history, world, catalog).outcome()
        finally:
            catalog.close()


class _Run:
    def __init__(self, history: History, world: World, catalog: SimulatedCatalog) -> None:
        self.history = history
        self.world = world
        self.catalog = catalog
        self.committed: list[int] = []
        self.refused: dict[int, str] = {}
        self.unknown: dict[int, str] = {}
        self.seen: dict[int, int] = {}
        self.before: set[tuple[int, int]] = set()
        self.errors: list[Exception] = []

    def outcome(self) -> Outcome:
        self.create()
        self.world.run([self.program(client) for client in range(len(self.history.transactions))])
        if self.errors:
            raise self.errors[0]
        table = self.catalog.load_table(NAME)
        known, found = known_files(table), found_files(table)
        missing = known - found
        branches = (MAIN, *self.history.branches)
        return Outcome(
            committed=tuple(self.committed),
            refused=self.refused,
            unknown=self.unknown,
            before=frozenset(self.before),
            swaps=tuple(self.world.swaps),
            seen=self.seen,
            state={branch: rows_of(table, branch) for branch in branches} if not missing else {},
            tags=tuple(s.summary.additional_properties[TAG] for s in table.snapshots() if TAG in dict(s.summary)),
            stamps=wrong_stamps(table) if not missing else (),
            missing=missing,
            orphans=frozenset(path for path in found - known if not path.endswith(".metadata.json")),
            following=self.following() if not missing else None,
            calls=self.world.calls,
            fired=self.world.fired,
            decisions=tuple(self.world.decisions),
        )

    def create(self) -> None:
        self.catalog.create_namespace("db")
        table = self.catalog.create_table(NAME, SCHEMA, properties=self.history.properties)
        initial = list(self.history.initial)
        for name in self.history.layout.value:
            if name != "flat" or table.spec().fields:
                with table.update_spec() as update:
                    for field in table.spec().fields:
                        update.remove_field(field.name)
                    for source, transform in SPECS[name]:
                        update.add_field(source, transform)
            table.append(arrow(initial.pop(0) if initial else ()))
        for rows in initial:
            table.append(arrow(rows))
        for branch in self.history.branches:
            table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, branch).commit()

    def program(self, client: int) -> Callable[[], None]:
        """Return the program of a client, which records its outcome."""

        def live() -> None:
            try:
                self.live(client)
            except ClientCrashed:
                self.unknown[client] = "crashed"
            except CommitStateUnknownException as error:
                self.unknown[client] = str(error)
            except IcebergError as error:
                self.refused[client] = f"{type(error).__name__}: {error}"
            except Exception as error:  # noqa: BLE001 - reported by the main thread
                self.errors.append(error)
            else:
                self.committed.append(client)

        return live

    def live(self, client: int) -> None:
        transaction = self.history.transactions[client]
        if not transaction.operations:
            return
        before, swaps = {(first, client) for first in self.committed}, len(self.world.swaps)
        table = self.catalog.load_table(NAME)
        self.before |= before
        self.seen[client] = self.world.seen.get(client, swaps)
        with table.transaction() if transaction.explicit else nullcontext(table) as target:
            for number, operation in enumerate(transaction.operations):
                perform(target, operation, f"{client}.{number}")

    def following(self) -> str | None:
        """Append to every branch, and return the first failure or lost row, None if every append succeeds."""
        table = self.catalog.load_table(NAME)
        for branch in (MAIN, *self.history.branches):
            before = rows_of(table, branch)
            try:
                table.append(arrow((Row(99, "a", -1),)), branch=branch)
            except IcebergError as error:
                return f"{type(error).__name__}: {error}"
            if rows_of(table, branch) != ordered((*before, Row(99, "a", -1))):
                return f"rows before: {before}, rows after: {rows_of(table, branch)}"
        return None


def perform(target: Any, operation: Operation, tag: str) -> None:
    """Perform an operation on a table or in a transaction, with the tag in the summaries of its snapshots."""
    options = {"branch": operation.branch, "snapshot_properties": {TAG: tag}}
    match operation:
        case Append(rows):
            target.append(arrow(rows), **options)
        case Delete(where):
            target.delete(str(where), **options)
        case Overwrite(rows, where):
            target.overwrite(arrow(rows), str(where), **options)
        case OverwritePartitions(rows):
            target.dynamic_partition_overwrite(arrow(rows), **options)
        case Upsert(rows):
            target.upsert(arrow(rows), ["id"], **options)
        case Merge():
            perform_merge(target, operation, options)


def perform_merge(target: Any, operation: Merge, options: dict[str, Any]) -> None:
    """Perform a merge on a table or in a transaction."""
    merge = target.merge(arrow(operation.rows), ["id"], **options)
    if operation.matched == "update":
        merge.when_matched_update()
    elif operation.matched == "delete":
        merge.when_matched_delete()
    if operation.insert:
        merge.when_not_matched_insert()
    if operation.delete_others:
        merge.when_not_matched_by_source_delete()
    merge.execute()


def arrow(rows: Rows) -> pa.Table:
    """Return rows as an Arrow table."""
    return pa.Table.from_pylist([row._asdict() for row in rows], schema=ARROW)


def rows_of(table: Table, branch: str) -> Rows:
    """Return the rows of a branch in the order of the model."""
    found = table.scan().use_ref(branch).to_arrow()
    return ordered(Row(**row) for row in found.to_pylist())


def known_files(table: Table) -> frozenset[str]:
    """Return the previous metadata files, and the manifest lists, manifests and live files of every snapshot."""
    known = {entry.metadata_file for entry in table.metadata.metadata_log}
    for snapshot in table.snapshots():
        known.add(snapshot.manifest_list)
        if table.io.core.exists(snapshot.manifest_list):
            known |= set(snapshot.manifest_rows(table.io).column("manifest_path").to_pylist())
    present = {path for path in known if table.io.core.exists(path)}
    for snapshot in table.snapshots():
        manifests = (
            set(snapshot.manifest_rows(table.io).column("manifest_path").to_pylist())
            if snapshot.manifest_list in present
            else {""}
        )
        if manifests <= present:
            known |= set(table.inspect.files(snapshot.snapshot_id).column("file_path").to_pylist())
    return frozenset(known)


def wrong_stamps(table: Table) -> tuple[str, ...]:
    """Return errors in the sequence numbers of snapshots and of the manifests that they added."""
    wrong, earlier = [], 0
    for snapshot in table.snapshots():
        if snapshot.sequence_number <= earlier:
            wrong.append(f"snapshot {snapshot.snapshot_id} has {snapshot.sequence_number} after {earlier}")
        earlier = snapshot.sequence_number
        rows = snapshot.manifest_rows(table.io).select(["added_snapshot_id", "sequence_number"]).to_pylist()
        own = {row["sequence_number"] for row in rows if row["added_snapshot_id"] == snapshot.snapshot_id}
        if own - {earlier}:
            wrong.append(f"manifests of snapshot {snapshot.snapshot_id} have {own}, expected {earlier}")
    return tuple(wrong)


def found_files(table: Table) -> frozenset[str]:
    """Return the files in a table's directory."""
    return frozenset(table.io.core.list(f"{table.location()}/").column("location").to_pylist())
