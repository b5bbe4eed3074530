"""Procedures with the names, parameters and columns of the Java reference, and the rows that it returns."""

from __future__ import annotations

import pytest
from icefloe.catalog import load_catalog
from icefloe.spark import call as run
from icefloe.spark.maintenance.procedures import PROCEDURES

from tests.interop.java.procedure_cases import CALLS, Call, comparable, filled
from tests.interop.java.procedure_runner import places

pytestmark = pytest.mark.interop


def test_parameters_and_columns_are_those_of_java(java):
    theirs = java.record("procedures", "signatures")
    ours = {
        name: {
            "parameters": [[key, kind, key in one.required] for key, kind in one.parameters.items()],
            "columns": [
                [column.split()[0], column.split()[1], not column.endswith("NOT NULL")]
                for column in one.returns.split(", ")
            ],
        }
        for name, one in PROCEDURES.items()
    }
    assert ours == theirs


@pytest.mark.parametrize("call", [pytest.param(call, id=call.name) for call in CALLS])
def test_call_returns_the_rows_of_java(java, call: Call):
    theirs = java.record("procedures", call.name)
    catalog = load_catalog("ours", type="hadoop", warehouse=str(java.folder / "warehouse"))
    table = catalog.load_table(f"procedures.{call.name}_ours")
    snapshots = [one.snapshot_id for one in table.snapshots()]
    arguments = filled(call.arguments, snapshots, places(java.folder, ".".join(table.name())))
    found = run(f"system.{call.procedure}", table=table, **arguments)
    made = [one.snapshot_id for one in table.snapshots() if one.snapshot_id not in snapshots]
    assert comparable(found if isinstance(found, list) else [found], call, snapshots + made) == theirs
