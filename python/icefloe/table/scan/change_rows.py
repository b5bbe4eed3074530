"""The rows of changes: carried ones left out, halves of updates named as such."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.table.scan.changelog_plan import DELETE, INSERT
from icefloe.table.scan.task_group import batch_reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from icefloe.table.scan.changelog_plan import SnapshotChanges
    from icefloe.table.scan.plan import ScanPlan

UPDATE_BEFORE = "UPDATE_BEFORE"
UPDATE_AFTER = "UPDATE_AFTER"
CHANGE_COLUMNS = pa.schema(
    [
        pa.field("_change_type", pa.string(), nullable=False),
        pa.field("_change_ordinal", pa.int32(), nullable=False),
        pa.field("_commit_snapshot_id", pa.int64(), nullable=False),
    ]
)


@dataclass(frozen=True)
class ChangeRows:
    """How changes become rows.

    Attributes:
        all_columns: Schema JSON of all columns of the table: rows are equal where all of them are.
        projection: Schema JSON of the wanted columns.
        identifiers: Paths of the columns that tell which row an update is of; none if updates are deletions and insertions.
        batch_size: Most rows of a batch.
    """

    all_columns: str
    projection: str
    identifiers: tuple[tuple[str, ...], ...]
    batch_size: int

    def of_snapshot(self, changes: SnapshotChanges) -> Iterator[pa.RecordBatch]:
        """Yield the rows that a snapshot changed. Rows that it deleted and inserted alike are no change."""
        sides = changes.sides()
        if len(sides) == 2:
            # An update may move a row to another partition.
            for part in [changes] if self.identifiers else changes.by_partition():
                yield from self.net([part]) if len(part.sides()) == 2 else self.of_snapshot(part)
            return
        for kind, plan in sides:
            for batch in self._read(plan, self.projection):
                ids = pa.scalar(changes.ordinal, pa.int32()), pa.scalar(changes.snapshot.snapshot_id, pa.int64())
                yield with_change(batch, *(pa.repeat(each, batch.num_rows) for each in (pa.scalar(kind), *ids)))

    def net(self, changes: Sequence[SnapshotChanges]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that changes change together: a row that one inserts and another deletes is no change."""
        parts = [(kind, plan, one) for one in changes for kind, plan in one.sides()]
        if not parts:
            return
        tables = [self._read(plan, self.all_columns).read_all() for _, plan, _ in parts]
        rows = pa.concat_tables(tables)
        deleted = _for_rows([pa.scalar(kind == DELETE) for kind, _, _ in parts], tables)
        told = _core.net_changes(rows, deleted)
        kept = told.is_valid()
        kinds = self._kinds(rows.filter(kept), deleted.filter(kept))
        ordinals = _for_rows([pa.scalar(one.ordinal, pa.int32()) for _, _, one in parts], tables)
        snapshots = _for_rows([pa.scalar(one.snapshot.snapshot_id, pa.int64()) for _, _, one in parts], tables)
        told = told.drop_null()
        change = [kinds, ordinals.take(told), snapshots.take(told)]
        whole = self.projection == self.all_columns
        first = seen = 0
        for (_, plan, _), table in zip(parts, tables, strict=True):
            batches = table.to_batches(self.batch_size) if whole else self._read(plan, self.projection)
            for batch in batches:
                left = batch.filter(kept.slice(first, batch.num_rows))
                first += batch.num_rows
                if left.num_rows > 0:
                    yield with_change(left, *(column.slice(seen, left.num_rows) for column in change))
                    seen += left.num_rows

    def _kinds(self, rows: pa.Table, deleted: pa.Array) -> pa.Array:
        """Return what each change is called."""
        kinds = pc.if_else(deleted, DELETE, INSERT)
        if not self.identifiers:
            return kinds
        keys = pa.table([_at(rows, path) for path in self.identifiers], [".".join(one) for one in self.identifiers])
        halves = _core.row_updates(keys, deleted)
        return pc.if_else(halves, pc.if_else(deleted, UPDATE_BEFORE, UPDATE_AFTER), kinds)

    def _read(self, plan: ScanPlan, projection: str) -> pa.RecordBatchReader:
        return batch_reader(replace(plan, projection=projection).stream(batch_size=self.batch_size))


@dataclass(frozen=True)
class ChangeGroup:
    """Changes that one reader works through, everything that reading needs included. It pickles and travels.

    Attributes:
        rows: How changes become rows.
        changes: The changes.
        net: Whether those of different snapshots may undo each other.
    """

    rows: ChangeRows
    changes: tuple[SnapshotChanges, ...]
    net: bool

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that were changed."""
        if self.net:
            yield from self.rows.net(self.changes)
        else:
            for changes in self.changes:
                yield from self.rows.of_snapshot(changes)


def _for_rows(values: Sequence[pa.Scalar], tables: Sequence[pa.Table]) -> pa.Array:
    """Return each value as often as its table has rows."""
    return pa.concat_arrays([pa.repeat(value, table.num_rows) for value, table in zip(values, tables, strict=True)])


def with_change(rows: pa.RecordBatch, kinds: pa.Array, ordinals: pa.Array, snapshots: pa.Array) -> pa.RecordBatch:
    """Return rows with the columns that tell what happened to them."""
    schema = pa.schema([*rows.schema, *CHANGE_COLUMNS])
    return pa.RecordBatch.from_arrays([*rows.columns, kinds, ordinals, snapshots], schema=schema)


def _at(rows: pa.Table, path: Sequence[str]) -> pa.ChunkedArray:
    column = rows.column(path[0])
    return column if len(path) == 1 else pc.struct_field(column, list(path[1:]))
