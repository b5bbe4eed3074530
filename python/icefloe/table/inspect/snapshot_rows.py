"""Rows of the metadata tables that are made of the table metadata alone: snapshots, history, refs, metadata_log_entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.exceptions import InvalidMetadataError
from icefloe.table.inspect.schemas import arrow_schema, metadata_table_schema
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from icefloe.table.inspect.inspected_table import InspectedTable

_MICROSECONDS = 1_000


def snapshot_rows(name: str, table: InspectedTable) -> pa.Table:
    """Return the rows of a metadata table about snapshots, refs or metadata files.

    Raises:
        InvalidMetadataError: A time of the table metadata cannot be stated in microseconds.
    """
    schema = arrow_schema(metadata_table_schema(name, table.metadata))
    columns = list(zip(*_ROWS[name](table), strict=True)) or [()] * len(schema)
    try:
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    except OverflowError as error:
        raise InvalidMetadataError(
            f"metadata table {name}: the table metadata has a time that is no number of microseconds of 64 bits: {error}"
        ) from error
    return pa.Table.from_arrays(arrays, schema=schema)


def _snapshots(table: InspectedTable) -> Iterable[tuple[Any, ...]]:
    for one in table.metadata.snapshots:
        summary = one.summary
        yield (
            one.timestamp_ms * _MICROSECONDS,
            one.snapshot_id,
            one.parent_snapshot_id,
            summary.operation.value if summary is not None else None,
            one.manifest_list,
            list(summary.additional_properties.items()) if summary is not None else None,
        )


def _history(table: InspectedTable) -> Iterable[tuple[Any, ...]]:
    metadata = table.metadata
    current = {one.snapshot_id for one in ancestors_of(metadata.current_snapshot(), metadata)}
    for entry in metadata.snapshot_log:
        found = metadata.snapshot_by_id(entry.snapshot_id)
        parent = found.parent_snapshot_id if found is not None else None
        yield entry.timestamp_ms * _MICROSECONDS, entry.snapshot_id, parent, entry.snapshot_id in current


def _refs(table: InspectedTable) -> Iterable[tuple[Any, ...]]:
    for name, ref in sorted(table.metadata.refs.items()):
        kind = ref.snapshot_ref_type.value.upper()
        yield name, kind, ref.snapshot_id, ref.max_ref_age_ms, ref.min_snapshots_to_keep, ref.max_snapshot_age_ms


def _metadata_log_entries(table: InspectedTable) -> Iterable[tuple[Any, ...]]:
    metadata = table.metadata
    files = [(entry.timestamp_ms, entry.metadata_file) for entry in metadata.metadata_log]
    for timestamp_ms, file in [*files, (metadata.last_updated_ms, table.metadata_location)]:
        latest_id = metadata.snapshot_log.snapshot_id_at(timestamp_ms)
        latest = None if latest_id is None else metadata.snapshot_by_id(latest_id)
        schema_id = None if latest is None else latest.schema_id
        sequence_number = None if latest is None else latest.sequence_number or 0
        yield timestamp_ms * _MICROSECONDS, file, latest_id, schema_id, sequence_number


_ROWS: dict[str, Callable[[InspectedTable], Iterable[tuple[Any, ...]]]] = {
    "snapshots": _snapshots,
    "history": _history,
    "refs": _refs,
    "metadata_log_entries": _metadata_log_entries,
}

SNAPSHOT_TABLES = tuple(_ROWS)
"""The metadata tables whose rows come from the table metadata."""
