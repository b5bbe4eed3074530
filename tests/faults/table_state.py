"""The visible state of the tables of a namespace, their missing files and all files below the namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from icefloe.exceptions import IcebergError
from icefloe.io import FileIO

from tests.faults.table_operations import ARROW

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from icefloe.catalog import Catalog

    from tests.faults.table_operations import TableOperation

TIMES = ("created-at",)
"""Properties that the Java reference's REST server sets to the time of a staged creation."""
ROW = pa.table({"id": [99], "part": ["a"]}, schema=ARROW)


def tables_of(catalog: Catalog, namespace: str) -> dict[str, Any]:
    """Return the tables of a namespace by their names, loaded now."""
    return {identifier[-1]: catalog.load_table(identifier) for identifier in catalog.list_tables(namespace)}


def state_of(tables: Mapping[str, Any], catalog: Catalog, namespace: str, operation: TableOperation) -> dict[str, Any]:
    """Return the visible state of the tables of a namespace, and of the other objects that an operation changes."""
    states = {name: _state(table) for name, table in tables.items()}
    return states if operation.observed is None else {**states, "": operation.observed(catalog, namespace)}


def _state(table: Any) -> Any:
    metadata = table.metadata
    refs = {name: metadata.refs[name] for name in sorted(metadata.refs)}
    # Refs of one kind to one snapshot have the same rows.
    names = {(ref.snapshot_id, ref.snapshot_ref_type): name for name, ref in refs.items()}
    rows = {
        target: sorted(map(str, table.scan().use_ref(name).to_arrow().to_pylist())) for target, name in names.items()
    }
    return {
        "fields": [str(field) for field in table.schema().fields],
        "spec": [str(field) for field in table.spec().fields],
        "sort order": [str(field) for field in table.sort_order().fields],
        "properties": {key: value for key, value in table.properties.items() if key not in TIMES},
        "rows": {name: rows[ref.snapshot_id, ref.snapshot_ref_type] for name, ref in refs.items()},
        "kinds of refs": {name: str(ref.snapshot_ref_type) for name, ref in refs.items()},
        "snapshots": len(table.snapshots()),
        "statistics": (len(metadata.statistics), len(metadata.partition_statistics)),
    }


def sizes_of(tables: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes in bytes of all files below the locations of tables, by path."""
    sizes: dict[str, int] = {}
    for table in tables.values():
        listed = table.io.core.list(f"{table.location().rstrip('/')}/")
        sizes |= zip(listed.column("location").to_pylist(), listed.column("size").to_pylist(), strict=True)
    return sizes


class ReferencedFiles:
    """The files that the metadata of tables refers to. Manifest lists are read once: a file is written once."""

    def __init__(self) -> None:
        self._by_list: dict[str, list[str]] = {}

    def missing(self, tables: Mapping[str, Any], existing: Collection[str] | None = None) -> list[str]:
        """Return the missing files that are referenced by the metadata of tables.

        Args:
            tables: The tables, by name.
            existing: All files below the locations of the tables, None to list them.
        """
        found = sizes_of(tables) if existing is None else existing
        missing = []
        for table in tables.values():
            metadata = table.metadata
            paths = {file.statistics_path for file in (*metadata.statistics, *metadata.partition_statistics)}
            try:
                paths.update(*(self._of(table, snapshot) for snapshot in table.snapshots()))
            except IcebergError as error:
                missing.append(str(error))
            missing += [path for path in sorted(paths) if path not in found and not table.io.core.exists(path)]
        return missing

    def _of(self, table: Any, snapshot: Any) -> list[str]:
        known = self._by_list.get(snapshot.manifest_list)
        if known is None:
            known = [snapshot.manifest_list, *snapshot.manifest_rows(table.io).column("manifest_path").to_pylist()]
            known += table.inspect.files(snapshot.snapshot_id).column("file_path").to_pylist()
            self._by_list[snapshot.manifest_list] = known
        return known


def files_of(catalog: Catalog, namespace: str, warehouse: str) -> set[str]:
    """Return all files below the directories of a namespace in a warehouse."""
    io = FileIO(catalog.properties).core
    directories = (f"{warehouse}/{namespace}/", f"{warehouse}/{namespace}.db/")
    return {path for directory in directories for path in io.list(directory).column("location").to_pylist()}


def append_to_each(catalog: Catalog, tables: Mapping[str, Any]) -> list[str]:
    """Append a row to every table that was just loaded, and return the tables whose rows do not increase by one."""
    wrong = []
    for name, table in tables.items():
        rows = table.scan().to_arrow().num_rows
        table.append(ROW)
        if catalog.load_table(table.name()).scan().to_arrow().num_rows != rows + 1:
            wrong.append(f"the next append to {name} lost rows")
    return wrong
