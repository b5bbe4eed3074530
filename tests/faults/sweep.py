"""A sweep: one operation is run with one fault at each of its calls, and its reported outcome is compared with the tables."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from icefloe.catalog.glue import GlueCatalog
from icefloe.catalog.rest import RestCatalog
from icefloe.exceptions import CommitStateUnknownException, IcebergError, LeftoverFilesWarning, TableAlreadyExistsError
from icefloe.table.environment import SYSTEM

from tests.faults.initial_tables import InitialTables, discard
from tests.faults.selection import ALL, Selection
from tests.faults.table_operations import TableOperation, prepare
from tests.faults.table_state import ReferencedFiles, append_to_each, files_of, sizes_of, state_of, tables_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from icefloe.catalog import Catalog


WITHOUT_WAITS = replace(SYSTEM, sleep=lambda _seconds: None)
"""An environment without waits between the attempts of a commit and before an outcome is read back."""
OUTCOMES = {
    "success": lambda before, after: [after],
    "failure": lambda before, after: [before],
    "unknown": lambda before, after: [before, after],
    "killed": lambda before, after: [before, after],
}
"""The states that each reported outcome allows; an error that is not icefloe's allows none."""


@dataclass
class Calls:
    """The calls of one run of an operation.

    Attributes:
        names: The names of the calls, in order.
        failed: The name of the failed call, None if no call failed.
    """

    names: list[str] = field(default_factory=list)
    failed: str | None = None


class Faults(Protocol):
    """A place where calls can fail: function calls, system calls, or requests to a server."""

    deletions: tuple[str, ...]
    """Prefixes of the names of calls whose failure leaves files."""

    def during(self, number: int, kind: str) -> AbstractContextManager[Calls]:
        """Cause one fault in a block.

        Args:
            number: The ordinal of the failing call, from 1; 0 for no fault.
            kind: One of the kinds of `kinds_of`.
        """

    def kinds_of(self, name: str) -> tuple[str, ...]:
        """Return the kinds of faults that have distinct effects at a call."""


@dataclass
class Tally:
    """Figures of a sweep.

    Attributes:
        calls: Calls of the operation without a fault.
        faults: Runs with a fault.
        outcomes: Reported outcomes of these runs.
    """

    calls: int = 0
    faults: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)


class Sweep:
    """Runs of one operation, with a fault at each of its calls.

    Args:
        operation: The operation.
        changing: The client that runs the operation.
        reading: A client without faults that reads the tables.
        faults: The place of the faults.
        warehouse: The directory of the namespaces, None if files of failed operations may remain.
        selection: The share of the faults to cause.
    """

    def __init__(
        self,
        operation: TableOperation,
        changing: Catalog,
        reading: Catalog,
        faults: Faults,
        warehouse: str | None = None,
        selection: Selection = ALL,
        name: str = "n",
    ) -> None:
        self.operation, self.changing, self.reading, self.faults = operation, changing, reading, faults
        self.warehouse, self.selection = warehouse, selection
        self.namespaces = (f"{name}{number}" for number in itertools.count())
        self.namespace = ""
        self._initial: InitialTables | None = None
        self._referenced = ReferencedFiles()
        # A REST server deletes these files before it replies.
        self._server_deletes = operation.deletes_files and isinstance(changing, RestCatalog)
        self.tally = Tally()
        self.violations: list[str] = []

    def run(self) -> None:
        """Cause every selected fault, then check that the operation succeeds."""
        self._renew()
        before = self._state()
        reported, error, calls = self._act(0, "")
        assert reported == "success", error
        after, names = self._state(), calls.names
        self.tally.calls = len(names)
        self._renew()
        numbers = itertools.count()
        for number, name in enumerate(names, 1):
            for kind in self.faults.kinds_of(name):
                if next(numbers) in self.selection:
                    self._fail(number, kind, before, after)
        reported, error, _ = self._act(0, "")
        found = self._state()
        if reported != "success" or found != after:
            self.violations.append(f"no fault, after all others: {reported} {error!r}, found {found}, not {after}")

    def _renew(self) -> None:
        """Put the initial tables back. An operation that creates a table or changes other objects has a new namespace."""
        if self._initial is None or not self._is_put_back(self._initial):
            self._begin_in_new_namespace()
        self._files = self._all_files()

    @staticmethod
    def _is_put_back(initial: InitialTables) -> bool:
        try:
            initial.put_back()
        except TableAlreadyExistsError:
            # In Glue, an entry that was taken out of use keeps its name until it is deleted, which may have failed.
            return False
        return True

    def _begin_in_new_namespace(self) -> None:
        if self.namespace != "":
            discard(self.reading, self.namespace)
        self.namespace = next(self.namespaces)
        prepare(self.reading, self.namespace, self.operation)
        if not self.operation.begins_without_table:
            self._initial = InitialTables(self.reading, self.namespace)

    def _state(self) -> dict:
        tables = tables_of(self.reading, self.namespace)
        return state_of(tables, self.reading, self.namespace, self.operation)

    def _all_files(self) -> set[str]:
        return files_of(self.reading, self.namespace, self.warehouse) if self.warehouse is not None else set()

    def _act(self, number: int, kind: str) -> tuple[str, Exception | None, Calls]:
        """Run the operation, and return its reported outcome, its error and its calls."""
        with self.faults.during(number, kind) as calls, warnings.catch_warnings():
            warnings.simplefilter("ignore", LeftoverFilesWarning)
            try:
                self.operation.act(self.changing, self.namespace)
            except CommitStateUnknownException as error:
                return "unknown", error, calls
            except IcebergError as error:
                return "failure", error, calls
            except Exception as error:  # noqa: BLE001 - users expect the errors of icefloe alone
                return "foreign error", error, calls
        return "success", None, calls

    def _fail(self, number: int, kind: str, before: dict, after: dict) -> None:
        reported, error, calls = self._act(number, kind)
        name = calls.failed
        if name is None:
            # Concurrent requests and retries change the number of calls.
            if reported != "success":
                self.violations.append(f"no fault, and {reported} {error!r}")
            self._renew()
            return
        self.tally.faults += 1
        self.tally.outcomes[reported] = self.tally.outcomes.get(reported, 0) + 1
        tables = tables_of(self.reading, self.namespace)
        found = state_of(tables, self.reading, self.namespace, self.operation)
        allowed = OUTCOMES.get(reported, lambda *_: [])(before, after)
        if reported == "unknown" and isinstance(self.changing, GlueCatalog):
            # A rename is two calls: after the first, the table has both names.
            allowed = [*allowed, {**before, **after}]
        wrong = [] if found in allowed else [f"found {found}"]
        sizes = sizes_of(tables)
        wrong += [f"missing {path}" for path in self._referenced.missing(tables, sizes)]
        wrong += [f"changed {path}" for path in self._initial.changed_files(sizes)] if self._initial is not None else []
        if reported == "failure" and not kind.endswith("down"):
            wrong += self._leftovers(name, error)
        if reported == "unknown" and self.warehouse is not None and not (found == after and self._server_deletes):
            wrong += [f"deleted {path}" for path in sorted(self._files - self._all_files())]
        keeps_state = before == after
        if found == after:
            wrong += append_to_each(self.reading, tables)
        if found != before or keeps_state or wrong:
            self._renew()
        else:
            self._files = self._all_files()
        self.violations += [f"{kind} at call {number}, {name}: {reported} {error!r}, {text}" for text in wrong]

    def _leftovers(self, name: str, error: Exception | None) -> list[str]:
        """Return files that a failed operation left. Failed deletions leave files, and callers own the data files they wrote."""
        left = self._all_files() - self._files
        if self.operation.leaves_data_files:
            left = {path for path in left if "/data/" not in path}
        return [] if name.startswith(self.faults.deletions) else [f"left {path}" for path in sorted(left)]
