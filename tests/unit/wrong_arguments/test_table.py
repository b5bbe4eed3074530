"""Wrong arguments of the calls of a table: each is refused by an exception of icefloe, and nothing is committed."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.table import Table
from icefloe.table.inspect import InspectTable
from icefloe.table.maintenance import MaintenanceTable

from tests.unit.wrong_arguments import builder_calls, table_calls
from tests.unit.wrong_arguments.table_calls import new_table
from tests.unit.wrong_arguments.walk import faults, public_calls

CALLS = {
    "handle": table_calls.HANDLE,
    "rows": table_calls.CHANGES_OF_ROWS,
    "files": table_calls.CHANGES_OF_FILES,
    "scans": table_calls.SCANS,
    "metadata tables": table_calls.METADATA_TABLES,
    "schema": builder_calls.SCHEMA_UPDATES,
    "spec and sort order": builder_calls.SPEC_UPDATES,
    "snapshots": builder_calls.SNAPSHOT_UPDATES,
    "statistics": builder_calls.STATISTICS_UPDATES,
    "transaction": builder_calls.TRANSACTION,
    "maintenance": builder_calls.MAINTENANCE,
}


@pytest.mark.parametrize("group", CALLS)
def test_wrong_argument_of_a_table_is_refused(group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # relative locations
    numbers = count()
    catalogs: dict[str, InMemoryCatalog] = {}

    def fresh_table() -> Table:
        # A catalog of its own: removal of orphan files loads every table of a catalog.
        catalogs["of the table"] = catalog = InMemoryCatalog("scratch", str(tmp_path / str(next(numbers))))
        catalog.create_namespace("db")
        return new_table(catalog, "db.t")

    def state(_: Any) -> object:
        return catalogs["of the table"].load_table("db.t").metadata_location

    assert faults(CALLS[group], fresh_table, state) == []


def test_every_call_of_a_table_is_walked(tmp_path: Path) -> None:
    catalog = InMemoryCatalog("scratch", str(tmp_path))
    catalog.create_namespace("db")
    table = new_table(catalog, "db.t")
    walked = {name for calls in CALLS.values() for name in calls}
    assert public_calls(table) - walked == {"show"}  # a step of commits and refreshes
    assert {f"inspect.{name}" for name in public_calls(InspectTable(table))} <= walked
    assert {f"maintenance.{name}" for name in public_calls(MaintenanceTable(table))} <= walked


def test_column_that_no_reader_understands_is_not_committed(tmp_path: Path) -> None:
    catalog = InMemoryCatalog("scratch", str(tmp_path))
    catalog.create_namespace("db")
    table = new_table(catalog, "db.t")
    for required, doc in ((None, None), (7, None), (False, 7)):
        with pytest.raises(ValueError, match="field 'c': expected a boolean and text or None, got"):
            table.update_schema(allow_incompatible_changes=True).add_column("c", "int", doc, required).commit()  # type: ignore[arg-type]
    assert catalog.load_table("db.t").scan().count() == 2
