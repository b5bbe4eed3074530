"""Runs a history on a real table in one thread, and reports its outcome."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.exceptions import CommitFailedException, ValidationException
from icefloe.schema import Schema
from icefloe.table import Table
from icefloe.table.environment import Environment
from icefloe.transforms import IdentityTransform, TruncateTransform
from icefloe.types import LongType, NestedField, StringType

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
    Step,
    Upsert,
)

NAME = "db.t"
SCHEMA = Schema(
    NestedField(1, "id", LongType()), NestedField(2, "part", StringType()), NestedField(3, "value", LongType())
)
ARROW = pa.schema([("id", pa.int64()), ("part", pa.string()), ("value", pa.int64())])
SPECS = {"flat": (), "part": (("part", IdentityTransform()),), "id": (("id", TruncateTransform(WIDTH)),)}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a history.

    Attributes:
        committed: Clients whose transactions committed, in the order of their commits.
        refused: Why the others did not.
        before: Pairs of clients of which the first had committed when the second loaded its handle.
        state: Rows of every branch at the end.
        orphans: Files of the table that nothing refers to.
    """

    committed: tuple[int, ...]
    refused: dict[int, str]
    before: frozenset[tuple[int, int]]
    state: State
    orphans: frozenset[str]


class SimulatedCatalog(InMemoryCatalog):
    """A catalog that runs steps of other clients just before it swaps a table's metadata."""

    def __init__(self, environment: Environment) -> None:
        super().__init__("simulated")
        self.environment = environment
        self.before_swap: Callable[[], None] = lambda: None

    def commit_table(self, table: Any, requirements: Any, updates: Any) -> Any:
        self.before_swap()
        return super().commit_table(table, requirements, updates)


def simulated_environment(seed: int) -> Environment:
    """Return an environment whose clock, random numbers and UUIDs follow from a seed, and whose sleep returns at once."""
    rng, clock = Random(seed), itertools.count(1_700_000_000_000)
    return Environment(
        now_ms=lambda: next(clock),
        monotonic=lambda: next(clock) / 1000,
        sleep=lambda seconds: None,
        uniform=rng.uniform,
        new_uuid=lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        new_snapshot_id=lambda: rng.getrandbits(62) + 1,
    )


def run(history: History) -> Outcome:
    """Run a history and return its outcome.

    Raises:
        Exception: An operation failed in another way than by a conflict.
    """
    catalog = SimulatedCatalog(simulated_environment(history.seed))
    try:
        return _Run(history, catalog).outcome()
    finally:
        catalog.close()


class _Run:
    def __init__(self, history: History, catalog: SimulatedCatalog) -> None:
        self.history = history
        self.catalog = catalog
        self.handles: dict[int, Table] = {}
        self.open: dict[int, Any] = {}
        self.done = [0] * len(history.transactions)
        self.committed: list[int] = []
        self.refused: dict[int, str] = {}
        self.before: set[tuple[int, int]] = set()
        self.steps = list(history.schedule)

    def outcome(self) -> Outcome:
        self.create()
        while self.steps:
            self.step(self.steps.pop(0))
        table = self.catalog.load_table(NAME)
        return Outcome(
            committed=tuple(self.committed),
            refused=self.refused,
            before=frozenset(self.before),
            state={branch: rows_of(table, branch) for branch in (MAIN, *self.history.branches)},
            orphans=orphans(table),
        )

    def create(self) -> None:
        self.catalog.create_namespace("db")
        table = self.catalog.create_table(NAME, SCHEMA, properties=self.history.properties)
        initial = list(self.history.initial)
        for name in self.history.layout.value:
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

    def step(self, step: Step) -> None:
        client = step.client
        if step.action == "load":
            self.handles[client] = self.catalog.load_table(NAME)
            self.before |= {(first, client) for first in self.committed}
        elif client in self.refused:
            return
        elif step.action == "operate":
            if client not in self.open:
                self.open[client] = self.handles[client].transaction()
            self.operate(client, self.open[client])
        else:
            self.commit(step)

    def operate(self, client: int, target: Any) -> None:
        perform(target, self.history.transactions[client].operations[self.done[client]])
        self.done[client] += 1

    def commit(self, step: Step) -> None:
        client, counts = step.client, list(step.overtaken)

        def overtake() -> None:
            for _ in range(counts.pop(0) if counts else 0):
                if self.steps:
                    following = self.steps.pop(0)
                    self.catalog.before_swap = lambda: None
                    self.step(following)
            self.catalog.before_swap = overtake

        outer, self.catalog.before_swap = self.catalog.before_swap, overtake
        try:
            if client in self.open:
                self.open[client].commit_transaction()
            else:
                self.operate(client, self.handles[client])
        except (ValidationException, CommitFailedException) as error:
            self.refused[client] = str(error)
        else:
            self.committed.append(client)
        finally:
            self.catalog.before_swap = outer


def perform(target: Any, operation: Operation) -> None:
    """Perform an operation on a table or in a transaction."""
    match operation:
        case Append(rows, branch):
            target.append(arrow(rows), branch=branch)
        case Delete(where, branch):
            target.delete(str(where), branch=branch)
        case Overwrite(rows, where, branch):
            target.overwrite(arrow(rows), str(where), branch=branch)
        case OverwritePartitions(rows, branch):
            target.dynamic_partition_overwrite(arrow(rows), branch=branch)
        case Upsert(rows, branch):
            target.upsert(arrow(rows), ["id"], branch=branch)
        case Merge():
            perform_merge(target, operation)


def perform_merge(target: Any, operation: Merge) -> None:
    """Perform a merge on a table or in a transaction."""
    merge = target.merge(arrow(operation.rows), ["id"], branch=operation.branch)
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
    """Return the rows of a branch as the model has them."""
    found = table.scan().use_ref(branch).to_arrow()
    return ordered(Row(**row) for row in found.to_pylist())


def orphans(table: Table) -> frozenset[str]:
    """Return the files of a table, except metadata files, that no snapshot refers to."""
    known = set()
    for snapshot in table.snapshots():
        known.add(snapshot.manifest_list)
        known |= set(table.inspect.manifests(snapshot.snapshot_id).column("path").to_pylist())
        known |= set(table.inspect.files(snapshot.snapshot_id).column("file_path").to_pylist())
    found = table.io.core.list(f"{table.location()}/").column("location").to_pylist()
    return frozenset(path for path in found if not path.endswith(".metadata.json") and path not in known)
