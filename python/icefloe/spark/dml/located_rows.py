"""The commits of DELETE and UPDATE: rows that Spark has located in their data files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from icefloe.spark.dml.change_commit import commit_changes, reads_rows_once
from icefloe.spark.dml.row_changes import RowChanges
from icefloe.spark.reader.row_location import FILE, POSITION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    from icefloe.spark.dml.target import PlannedTarget
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.row_level.merge import MergeResult


def delete_located(target: PlannedTarget, rows: DataFrame) -> MergeResult:
    """Delete rows in one snapshot.

    Args:
        target: The table.
        rows: Rows to delete, with ``__icefloe_file`` and ``__icefloe_pos``; computed once.

    Raises:
        ValidationException: A concurrent commit conflicts.
    """
    return _commit(RowChanges(target=target, removed=rows.select(FILE, POSITION), only_updates=False))


def update_located(target: PlannedTarget, rows: DataFrame, names: Iterable[str]) -> MergeResult:
    """Replace rows by new versions in one snapshot.

    Args:
        target: The table.
        rows: New versions, with the table's columns and the ``__icefloe_file`` and ``__icefloe_pos`` of the old ones; computed once.
        names: Columns whose values may differ from the old versions; dotted for fields of structs.

    Raises:
        SchemaMismatchError: A new row does not fit the table.
        ValidationException: A concurrent commit conflicts.
    """
    keeps = not _partitions_by(target.table.metadata, names)
    removed = rows.select(FILE, POSITION)
    return _commit(RowChanges(target=target, removed=removed, updated=rows, keeps_partitions=keeps))


def _commit(changes: RowChanges) -> MergeResult:
    """Commit a change whose rows are computed once: from a cache if the commit reads them several times."""
    if reads_rows_once(changes):
        return commit_changes(changes)
    rows = changes.removed if changes.updated is None else changes.updated
    assert rows is not None
    cached = rows.persist()
    try:
        removed = cached.select(FILE, POSITION)
        return commit_changes(replace(changes, removed=removed, updated=None if changes.updated is None else cached))
    finally:
        cached.unpersist()


def _partitions_by(metadata: TableMetadata, names: Iterable[str]) -> bool:
    """Return whether the partition spec has a transform of one of some columns, compared ignoring case."""
    schema = metadata.schema()
    sources = [schema.find_column_name(field.source_id) for field in metadata.spec().fields]
    pairs = [(f"{source}.".lower(), f"{name}.".lower()) for source in sources if source is not None for name in names]
    return any(source.startswith(name) or name.startswith(source) for source, name in pairs)
