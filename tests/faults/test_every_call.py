"""Faults at every call of storage and catalogs: the state of the tables agrees with the reported outcome of the operation."""

from __future__ import annotations

import errno
import itertools
import os
import warnings

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.catalog.sql import SqlCatalog
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    IcebergError,
    LeftoverFilesWarning,
    StorageError,
)

from tests.faults.seam import observed
from tests.faults.table_operations import ARROW, OPERATIONS, missing_files, prepare, state_of

CHANGES = ("catalog.insert", "catalog.swap", "catalog.remove", "catalog.rename")
READS = ("core.plan", "core.read", "io.read", "io.exists", "io.size", "io.list", "catalog.pointer")
DELETIONS = ("io.delete_many", "io.delete_directory")
"""Calls that return the files that could not be deleted instead of raising an error."""
CODES = (errno.EIO, errno.ENOSPC, errno.EACCES)
KINDS = ("error before", "error after", "repeated")
ROW = pa.table({"id": [99], "part": ["a"]}, schema=ARROW)


class FaultAt:
    """An observer that makes one call fail and records the names of all calls.

    Args:
        number: The ordinal of the failing call, from 1; 0 for no failure.
        kind: One of `KINDS`.
    """

    def __init__(self, number: int = 0, kind: str = "error before") -> None:
        self.number, self.kind = number, kind
        self.names: list[str] = []

    def call(self, name, effect):
        self.names.append(name)
        if len(self.names) != self.number:
            return effect()
        if name in DELETIONS:
            return [("simulated", "simulated")]
        if self.kind != "error before":
            effect()
        raise self.error(name)

    def error(self, name):
        code = CODES[self.number % len(CODES)]
        if name in CHANGES:
            conflict = CommitFailedException("simulated conflict")
            return conflict if self.kind == "repeated" else OutcomeUnknownError("simulated")
        if name.startswith("directory."):
            return OSError(code, os.strerror(code))
        error = StorageError(f"simulated: {os.strerror(code)}")
        error.errno = code
        return error


def kinds_of(name):
    """Return the kinds of faults that have distinct effects at a call."""
    if name == "core.describe_manifests":
        return ()  # A purge calls this function for an empty table, without a request to storage.
    if name in DELETIONS or name.startswith(READS) or name in ("directory.open", "directory.stat"):
        return KINDS[:1]
    return KINDS if name == "catalog.swap" else KINDS[:2]


CASES = [(kind, name) for name, operation in OPERATIONS.items() for kind in operation.catalogs]


@pytest.fixture
def catalog(kind, tmp_path):
    properties = {"type": kind, "warehouse": f"{tmp_path}/warehouse"}
    if kind == "sql":
        properties["uri"] = f"sqlite:///{tmp_path}/catalog.db"
    with load_catalog("cat", **properties) as catalog:
        yield catalog


class Sweep:
    """Runs of one operation, with a fault at each of its calls."""

    def __init__(self, catalog, operation):
        self.catalog, self.operation = catalog, operation
        self.numbers = itertools.count()
        self.namespace = ""
        self.faults = 0
        self.violations = []

    def renew(self):
        self.namespace = f"n{next(self.numbers)}"
        prepare(self.catalog, self.namespace, self.operation)

    def state(self):
        return state_of(self.catalog, self.namespace)

    def act(self, fault):
        """Run the operation, and return its reported outcome, "success", "failure" or "unknown", and its error."""
        with observed(fault, InMemoryCatalog, SqlCatalog), warnings.catch_warnings():
            warnings.simplefilter("ignore", LeftoverFilesWarning)
            try:
                self.operation.act(self.catalog, self.namespace)
            except CommitStateUnknownException as error:
                return "unknown", error
            except IcebergError as error:
                return "failure", error
        return "success", None

    def run(self):
        self.renew()
        before, counting = self.state(), FaultAt()
        assert self.act(counting)[0] == "success"
        after = self.state()
        self.renew()
        for number, name in enumerate(counting.names, 1):
            for kind in kinds_of(name):
                self.faults += 1
                reported, error = self.act(FaultAt(number, kind))
                found = self.state() if not missing_files(self.catalog, self.namespace) else "files are missing"
                allowed = {"success": [after], "failure": [before], "unknown": [before, after]}[reported]
                if found not in allowed:
                    self.violations.append(f"{kind} at call {number}, {name}: {reported} {error!r}, found {found}")
                if found == after != before:
                    self.append_to_each(number, name)
                if found != before:
                    self.renew()
        assert self.act(FaultAt())[0] == "success"
        assert self.state() == after

    def append_to_each(self, number, name):
        """Check that the next append to every table succeeds."""
        for identifier in self.catalog.list_tables(self.namespace):
            table = self.catalog.load_table(identifier)
            rows = table.scan().to_arrow().num_rows
            table.append(ROW)
            if self.catalog.load_table(identifier).scan().to_arrow().num_rows != rows + 1:
                self.violations.append(f"call {number}, {name}: the next append lost rows")


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_operation_with_a_fault_at_any_call_reports_what_happened(catalog, kind, name, record_property):
    sweep = Sweep(catalog, OPERATIONS[name])
    sweep.run()
    record_property("faults", sweep.faults)
    print(f"{name} on {kind}: {sweep.faults} faults")
    assert sweep.violations == []
