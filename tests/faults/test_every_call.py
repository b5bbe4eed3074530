"""Faults at every call of storage and catalogs: the state of the tables agrees with the reported outcome of the operation."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.catalog.sql import SqlCatalog
from icefloe.exceptions import CommitFailedException, StorageError

from tests.faults.operations import OPERATIONS, operations_of
from tests.faults.seam import observed
from tests.faults.sweep import WITHOUT_WAITS, Calls, Sweep

CHANGES = ("catalog.insert", "catalog.swap", "catalog.remove", "catalog.rename")
READS = ("core.plan", "core.read", "io.read", "io.exists", "io.size", "io.list", "catalog.pointer")
DELETIONS = ("io.delete_many", "io.delete_directory")
"""Calls that return the files that could not be deleted instead of raising an error."""
UNREAD = "core.files_of_snapshots"
"""A call that returns the lists and manifests that could not be read: a purge and an expiry delete what they can."""
CODES = (errno.EIO, errno.ENOSPC, errno.EACCES)
KINDS = ("error before", "error after", "repeated")
GROUPS = 3
"""Tests of one catalog, each with a part of the operations."""


class FaultAt:
    """An observer that makes one call fail and records the names of all calls.

    Args:
        number: The ordinal of the failing call, from 1; 0 for no failure.
        kind: One of `KINDS`.
    """

    def __init__(self, number: int = 0, kind: str = "error before") -> None:
        self.number, self.kind = number, kind
        self.calls = Calls()

    def call(self, name, effect):
        self.calls.names.append(name)
        if len(self.calls.names) != self.number:
            return effect()
        self.calls.failed = name
        if name in DELETIONS:
            return [("simulated", "simulated")]
        if name == UNREAD:
            found = effect()
            unread = [("simulated", "simulated", False)]
            return SimpleNamespace(
                files=found.files.slice(0, 0), ambiguous=[], unread=unread, kept_spec_ids=found.kept_spec_ids
            )
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


class CallFaults:
    """Faults at the calls of storage, of the core and of the stores of catalogs."""

    deletions = DELETIONS

    @contextmanager
    def during(self, number, kind):
        fault = FaultAt(number, kind)
        with observed(fault, InMemoryCatalog, SqlCatalog):
            yield fault.calls

    def kinds_of(self, name):
        if (
            name in DELETIONS
            or name == UNREAD
            or name.startswith(READS)
            or name in ("directory.open", "directory.stat")
        ):
            return KINDS[:1]
        return KINDS if name == "catalog.swap" else KINDS[:2]


def call_sweep(catalog, operation, **options):
    """Return the sweep of an operation over function calls.

    A call that took effect and raised an error may leave files: the core deletes the files of its own failures.
    """
    return Sweep(OPERATIONS[operation], catalog, catalog, CallFaults(), **options)


@pytest.fixture(params=["memory", "sql", "hadoop"])
def kind(request):
    return request.param


@pytest.fixture
def catalog(kind, tmp_path):
    properties = {"type": kind, "warehouse": f"{tmp_path}/warehouse"}
    if kind == "sql":
        properties["uri"] = f"sqlite:///{tmp_path}/catalog.db"
    with load_catalog("cat", **properties) as catalog:
        catalog.environment = WITHOUT_WAITS
        yield catalog


@pytest.mark.parametrize("group", range(GROUPS))
def test_operations_with_a_fault_at_any_call_report_what_happened(catalog, kind, group, selection, record_sweep):
    violations = []
    for number, name in enumerate(selection.of(operations_of(kind))[group::GROUPS]):
        sweep = call_sweep(catalog, name, selection=selection, name=f"n{number}x")
        sweep.run()
        record_sweep("function calls", kind, name, sweep)
        violations += [f"{name}: {text}" for text in sweep.violations]
    assert violations == []
