"""Execution of a history on the real commit code, in one process and in the order of one schedule."""

from __future__ import annotations

import gc
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from unittest.mock import patch

from icefloe.catalog.memory import InMemoryCatalog
from icefloe.exceptions import CommitStateUnknownException, IcebergError, MetadataWarning
from icefloe.table.metadata import TableMetadataUtil

from tests.faults.seam import observed
from tests.simulator.maintaining import age_files
from tests.simulator.model import State, ordered
from tests.simulator.observation import Files, rows_of, state_of
from tests.simulator.operations import MAIN, History, Row
from tests.simulator.performing import begin_replacement, perform, perform_on_catalog
from tests.simulator.prepared import NAME, NAMESPACE, arrow, prepared
from tests.simulator.settling import settle
from tests.simulator.world import ClientCrashed, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from icefloe.table import Table

    from tests.simulator.prepared import Prepared
    from tests.simulator.world import Decision


class SimulatedCatalog(InMemoryCatalog):
    """An in-memory catalog with the clock, sleep and randomness of a world, and with prepared tables."""

    def __init__(self, world: World, initial: Prepared) -> None:
        super().__init__("simulated", warehouse=initial.root)
        self.environment = world.environment
        self._namespaces[(NAMESPACE,)] = {}
        self._tables.update(initial.pointers)


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
        state: The final state; None if files of the table are missing.
        tags: The tag of each snapshot that a client added.
        stamps: Errors in the sequence numbers of snapshots and of the manifests that they added.
        missing: Files that a snapshot references and that do not exist.
        orphans: Files that no snapshot references.
        following: The failure or the lost rows of a commit after the history; None if the commit succeeded or none was made.
        calls: The number of observed calls of storage and catalog by the clients.
        fired: The number of faults that occurred.
        decisions: The decisions of the schedule.
    """

    committed: tuple[int, ...]
    refused: dict[int, str]
    unknown: dict[int, str]
    before: frozenset[tuple[int, int]]
    swaps: tuple[int, ...]
    seen: dict[int, int]
    state: State | None
    tags: tuple[str, ...]
    stamps: tuple[str, ...]
    missing: frozenset[str]
    orphans: frozenset[str]
    following: str | None
    calls: int
    fired: int
    decisions: tuple[Decision, ...]


# Metadata is immutable, so that clients and histories of the same table may share what one of them parsed.
parse_raw = lru_cache(512)(TableMetadataUtil.parse_raw)


@contextmanager
def collection_postponed() -> Iterator[None]:
    """Collect no cyclic garbage until the block ends: a collection walks all objects of the test run."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def run(history: History) -> Outcome:
    """Run a history and return its outcome.

    Raises:
        Exception: An operation raised an error other than `IcebergError`.
    """
    world = World(history)
    initial = prepared(history)
    shared = patch.object(TableMetadataUtil, "parse_raw", parse_raw)
    with collection_postponed(), observed(world, InMemoryCatalog), shared, warnings.catch_warnings():
        warnings.simplefilter("error", MetadataWarning)
        try:
            return _Run(history, world, initial).outcome()
        finally:
            initial.restore()


class _Run:
    def __init__(self, history: History, world: World, initial: Prepared) -> None:
        self.history = history
        self.world = world
        self.initial = initial
        self.catalog = SimulatedCatalog(world, initial)
        self.refused: dict[int, str] = {}
        self.unknown: dict[int, str] = {}
        self.seen: dict[int, int] = {}
        self.before: set[tuple[int, int]] = set()
        self.errors: list[Exception] = []

    def outcome(self) -> Outcome:
        is_maintained = bool(self.history.maintainers)
        if is_maintained:
            age_files(self.initial)
        self.world.run([self.program(client) for client in range(len(self.history.transactions))])
        if self.errors:
            raise self.errors[0]
        table = self.catalog.load_table(NAME)
        files = Files(table, self.initial, is_maintained=is_maintained)
        state = state_of(table, self.catalog, self.history, self.initial) if not files.missing else None
        return Outcome(
            committed=tuple(self.world.committed),
            refused=self.refused,
            unknown=self.unknown,
            before=frozenset(self.before),
            swaps=tuple(self.world.swaps),
            seen=self.seen,
            state=state,
            tags=tuple(files.tags),
            stamps=tuple(files.stamps) if not files.missing else (),
            missing=files.missing,
            orphans=files.orphans,
            following=self.following(table, state) if state is not None and self.is_followed() else None,
            calls=self.world.calls,
            fired=self.world.fired,
            decisions=tuple(self.world.decisions),
        )

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
                self.world.committed.append(client)

        return live

    def live(self, client: int) -> None:
        transaction = self.history.transactions[client]
        if not transaction.operations:
            return
        preceding, swaps = tuple(self.world.committed), len(self.world.swaps)
        if transaction.changes_catalog:
            self.before |= {(first, client) for first in preceding}
            perform_on_catalog(self.catalog, transaction.operations[0])
            return
        if transaction.replacement is not None:
            changes = begin_replacement(self.catalog, transaction.replacement)
        else:
            table = self.catalog.load_table(NAME)
            changes = table.transaction() if transaction.explicit else nullcontext(table)
        self.before |= {(first, client) for first in self.world.preceding.get(client, preceding)}
        self.seen[client] = self.world.seen.get(client, swaps)
        with changes as target:
            for number, operation in enumerate(transaction.operations):
                perform(target, operation, f"{client}.{number}", self.initial)

    def is_followed(self) -> bool:
        """Whether a commit follows: after a fault, a refusal or maintenance, and after every fourth of the other histories."""
        return self.world.fired > 0 or bool(self.refused or self.history.maintainers) or self.history.seed % 4 == 0

    def following(self, table: Table, state: State) -> str | None:
        """Append to one branch, and return the failure or the lost rows, None if the append succeeds."""
        if self.history.maintainers:
            problem = settle(table, lambda: state_of(table, self.catalog, self.history, self.initial), self.initial)
            if problem is not None:
                return problem
        branches = (MAIN, *self.history.branches)
        branch = branches[self.history.seed % len(branches)]
        row = Row(99, "a", -1)
        try:
            table.append(arrow((row,)), branch=branch)
        except IcebergError as error:
            return f"{type(error).__name__}: {error}"
        found = rows_of(table, table.refs()[branch].snapshot_id)
        if found != ordered((*state.refs[branch], row)):
            return f"rows before: {state.refs[branch]}, rows after: {found}"
        return None
