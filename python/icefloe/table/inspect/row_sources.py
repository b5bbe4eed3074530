"""The rows of each metadata table, as streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue
from icefloe.table.inspect.manifest_lists import (
    DATA,
    DELETES,
    distinct_manifests,
    manifests_of_all_snapshots,
    manifests_of_snapshot,
    with_content,
    without_bounds_of_dropped_columns,
)
from icefloe.table.inspect.position_deletes import position_deletes
from icefloe.table.inspect.schemas import ENTRY_TABLES, LIVE_FILE_TABLES, metadata_table_schema
from icefloe.table.inspect.snapshot_rows import SNAPSHOT_TABLES, snapshot_rows
from icefloe.table.inspect.streams import selected_rows
from icefloe.table.read_context import context_json, schema_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.expressions.filter import Filter
    from icefloe.schema import Schema
    from icefloe.table.inspect.inspected_table import InspectedTable
    from icefloe.table.scan.row_stream import RowStream

_OF_ALL = "all_"
_CONTENT = {"data_files": DATA, "delete_files": DELETES}


def row_stream(  # noqa: PLR0913 - the parts of a scan
    table: InspectedTable, name: str, snapshot_id: int | None, projection: Schema, where: Filter, rows: Filter
) -> RowStream:
    """Return the rows of a metadata table.

    Args:
        table: The table.
        name: Name of the metadata table.
        snapshot_id: Snapshot; None for the current one and for tables of all snapshots.
        projection: The columns to return, a selection from the schema of the metadata table.
        where: Filter on the metadata table.
        rows: Filter on the table, which only tables about files take.

    Raises:
        ValidationError: The table has no such snapshot, or the metadata table takes no row filter.
    """
    if name in LIVE_FILE_TABLES or name in ENTRY_TABLES:
        return _file_stream(table, name, _manifests(table, name, snapshot_id), projection, where, rows)
    if name != "partitions" and not isinstance(rows.expression, AlwaysTrue):
        raise ValidationError(
            f"row_filter: metadata table {name} is not about files; filter its own columns with `where`, got {rows}"
        )
    schema = metadata_table_schema(name, table.metadata)

    def batches() -> Iterator[pa.RecordBatch]:
        if name == "position_deletes":
            return iter(position_deletes(table, manifests_of_snapshot(table, snapshot_id)))
        return iter(_rows(table, name, snapshot_id, rows).to_batches())

    return selected_rows(batches, schema, where, projection)


def _rows(table: InspectedTable, name: str, snapshot_id: int | None, rows: Filter) -> pa.Table:
    if name in SNAPSHOT_TABLES:
        return snapshot_rows(name, table)
    if name == "partitions":
        return partition_rows(table, snapshot_id, rows)
    metadata = table.metadata
    context = context_json(metadata, metadata.schema(), case_sensitive=rows.case_sensitive)
    columns = schema_json(metadata_table_schema(name, metadata))
    manifests = (
        manifests_of_all_snapshots(table) if name == "all_manifests" else manifests_of_snapshot(table, snapshot_id)
    )
    shown = without_bounds_of_dropped_columns(metadata, manifests)
    return pa.Table.from_batches([_core.manifest_table(context, shown, columns=columns)])


def partition_rows(table: InspectedTable, snapshot_id: int | None, rows: Filter, keep: str = "live") -> pa.Table:
    """Return the rows of `partitions`.

    Args:
        table: The version of the table.
        snapshot_id: The snapshot, None for the current one.
        rows: Filter on the table: files that cannot hold a matching row are not added up.
        keep: `live`, or `all` to count deleted entries as updates of their partitions, which are rows even without files.
    """
    metadata = table.metadata
    found = _core.partition_table(
        table.io.core,
        context_json(metadata, metadata.schema(), case_sensitive=rows.case_sensitive),
        manifests_of_snapshot(table, snapshot_id),
        columns=schema_json(metadata_table_schema("partitions", metadata)),
        committed_at={one.snapshot_id: one.timestamp_ms * 1_000 for one in metadata.snapshots},
        row_filter=rows.json,
        keep=keep,
    )
    return pa.Table.from_batches([found])


def _manifests(table: InspectedTable, name: str, snapshot_id: int | None) -> pa.Table:
    """Return the manifests whose entries a metadata table about files has, each once."""
    if name.startswith(_OF_ALL):
        found = distinct_manifests(manifests_of_all_snapshots(table))
    else:
        found = manifests_of_snapshot(table, snapshot_id)
    content = _CONTENT.get(name.removeprefix(_OF_ALL))
    return found if content is None else with_content(found, content)


def _file_stream(  # noqa: PLR0913 - the parts of a scan
    table: InspectedTable, name: str, manifests: pa.Table, projection: Schema, where: Filter, rows: Filter
) -> RowStream:
    metadata = table.metadata
    return _core.file_table(
        table.io.core,
        context_json(metadata, metadata.schema(), case_sensitive=rows.case_sensitive),
        manifests,
        table=schema_json(metadata_table_schema(name, metadata)),
        columns=schema_json(projection),
        filter=where.json,
        row_filter=rows.json,
        keep="all" if name in ENTRY_TABLES else "live",
    )
