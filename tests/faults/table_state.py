"""The visible state of the tables of a namespace, their missing files and all files below the namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from icefloe.exceptions import IcebergError
from icefloe.io import FileIO

from tests.faults.table_operations import ARROW

if TYPE_CHECKING:
    from icefloe.catalog import Catalog

    from tests.faults.table_operations import TableOperation

TIMES = ("created-at",)
"""Properties that the Java reference's REST server sets to the time of a staged creation."""
ROW = pa.table({"id": [99], "part": ["a"]}, schema=ARROW)


def state_of(catalog: Catalog, namespace: str, operation: TableOperation) -> dict[str, Any]:
    """Return the visible state of the tables of a namespace, and of the other objects that an operation changes."""
    tables = {name: _state(catalog.load_table((namespace, name))) for _, name in catalog.list_tables(namespace)}
    return tables if operation.observed is None else {**tables, "": operation.observed(catalog, namespace)}


def _state(table: Any) -> Any:
    metadata = table.metadata
    refs = sorted(metadata.refs)
    rows = {ref: sorted(map(str, table.scan().use_ref(ref).to_arrow().to_pylist())) for ref in refs}
    return {
        "fields": [str(field) for field in table.schema().fields],
        "spec": [str(field) for field in table.spec().fields],
        "sort order": [str(field) for field in table.sort_order().fields],
        "properties": {key: value for key, value in table.properties.items() if key not in TIMES},
        "rows": rows,
        "kinds of refs": {ref: str(metadata.refs[ref].snapshot_ref_type) for ref in refs},
        "snapshots": len(table.snapshots()),
        "statistics": (len(metadata.statistics), len(metadata.partition_statistics)),
    }


def missing_files(catalog: Catalog, namespace: str) -> list[str]:
    """Return the missing files that are referenced by the metadata of the tables of a namespace."""
    missing = []
    for identifier in catalog.list_tables(namespace):
        table = catalog.load_table(identifier)
        metadata = table.metadata
        files = [*metadata.statistics, *metadata.partition_statistics]
        missing += _missing(table, [file.statistics_path for file in files])
        for snapshot in table.snapshots():
            paths = [snapshot.manifest_list]
            try:
                paths += snapshot.manifest_rows(table.io).column("manifest_path").to_pylist()
                paths += table.inspect.files(snapshot.snapshot_id).column("file_path").to_pylist()
            except IcebergError as error:
                missing.append(str(error))
            missing += _missing(table, paths)
    return missing


def _missing(table: Any, paths: list[str]) -> list[str]:
    return [path for path in paths if not table.io.core.exists(path)]


def files_of(catalog: Catalog, namespace: str, warehouse: str) -> set[str]:
    """Return all files below the directories of a namespace in a warehouse."""
    io = FileIO(catalog.properties).core
    directories = (f"{warehouse}/{namespace}/", f"{warehouse}/{namespace}.db/")
    return {path for directory in directories for path in io.list(directory).column("location").to_pylist()}


def append_to_each(catalog: Catalog, namespace: str) -> list[str]:
    """Append a row to every table of a namespace, and return the tables whose rows do not increase by one."""
    wrong = []
    for identifier in catalog.list_tables(namespace):
        table = catalog.load_table(identifier)
        rows = table.scan().to_arrow().num_rows
        table.append(ROW)
        if catalog.load_table(identifier).scan().to_arrow().num_rows != rows + 1:
            wrong.append(f"the next append to {'.'.join(identifier)} lost rows")
    return wrong


def discard(catalog: Catalog, namespace: str) -> None:
    """Drop the tables of a namespace. Files may remain: registered tables share them."""
    for identifier in catalog.list_tables(namespace):
        catalog.drop_table(identifier)
