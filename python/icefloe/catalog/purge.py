"""Deleting every file of a table that has been dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe import _core
from icefloe.exceptions import MissingFileError, StorageError
from icefloe.table.metadata_files import metadata_directory
from icefloe.table.read_context import schema_json, specs_json

if TYPE_CHECKING:
    from icefloe.table import Table


def delete_table_files(table: Table) -> None:
    """Delete the data, delete, manifest, list and metadata files of every snapshot.

    Only files below the table's own locations go: what a table merely refers to (added files, say) stays.

    Raises:
        StorageError: Some files could not be deleted; the rest are gone.
    """
    roots = _roots(table)
    failures: list[tuple[str, str]] = []
    manifests = _manifests(table)
    if manifests is not None:
        paths = manifests.column("manifest_path").to_pylist()
        failures += _delete(table, _file_paths(table, manifests), roots)
        failures += _delete(table, paths, roots)
    lists = [snapshot.manifest_list for snapshot in table.snapshots() if snapshot.manifest_list is not None]
    failures += _delete(table, lists, roots)
    log = [entry.metadata_file for entry in table.metadata.metadata_log]
    failures += _delete(table, [*log, table.metadata_location], roots)
    if failures:
        location, why = failures[0]
        raise StorageError(
            f"{len(failures)} files of table {'.'.join(table.name())} were not deleted; {location}: {why}"
        )


def _roots(table: Table) -> tuple[str, ...]:
    roots = [table.location(), metadata_directory(table.metadata)]
    data = table.properties.get("write.data.path")
    if data is not None:
        roots.append(data)
    return tuple(root.rstrip("/") + "/" for root in roots)


def _delete(table: Table, paths: list[str], roots: tuple[str, ...]) -> list[tuple[str, str]]:
    own = [path for path in paths if path.startswith(roots) and "/../" not in path]
    return list(table.io.core.delete_many(own)) if own else []


def _manifests(table: Table) -> pa.Table | None:
    """Return the manifests of all snapshots, each once, None when there are none."""
    batches = []
    for snapshot in table.snapshots():
        if snapshot.manifest_list is None:
            continue
        try:
            batches.append(_core.read_manifest_list(table.io.core, snapshot.manifest_list))
        except MissingFileError:
            continue
    if not batches:
        return None
    rows = pa.Table.from_batches(batches)
    first = pa.table({"path": rows.column("manifest_path"), "row": pa.array(range(rows.num_rows), pa.int64())})
    return rows.take(first.group_by("path").aggregate([("row", "min")]).column("row_min"))


def _file_paths(table: Table, manifests: pa.Table) -> list[str]:
    batch = manifests.combine_chunks().to_batches()[0] if manifests.num_rows else None
    if batch is None:
        return []
    entries = _core.read_manifest(
        table.io.core, batch, schema=schema_json(table.schema()), specs=specs_json(table.metadata), keep="all"
    )
    paths: list[str] = entries.column("file_path").unique().to_pylist()
    return paths
