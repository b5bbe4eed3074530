"""The rows of changes: carried ones left out, halves of updates named as such."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.table.scan.changelog_plan import DELETE
from icefloe.table.scan.task_group import batch_reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from icefloe.table.scan.changelog_plan import SnapshotChanges
    from icefloe.table.scan.plan import ScanPlan

KEPT_BYTES = 16 * 1024 * 1024
"""Rows up to this size are kept while it is found out which of them are left, rather than read twice."""

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
        row_filter: What rows must satisfy that reading has not asked, expression JSON, and whether names must match exactly; None if
            all are wanted that are read. One half of an update may satisfy it and the other not.
    """

    all_columns: str
    projection: str
    identifiers: tuple[tuple[str, ...], ...]
    batch_size: int
    row_filter: tuple[str, bool] | None = None

    def of_snapshot(self, changes: SnapshotChanges) -> Iterator[pa.RecordBatch]:
        """Yield the rows that a snapshot changed, deletions first. Rows that it deleted and inserted alike are no change."""
        # An update may move a row to another partition; otherwise rows stay in theirs.
        for part in [changes] if self.identifiers else changes.by_pairing():
            sides = part.sides()
            if self.pairs(part):
                yield from self.net([part])
                continue
            for kind, plan in sides:
                ids = pa.scalar(part.ordinal, pa.int32()), pa.scalar(part.snapshot.snapshot_id, pa.int64())
                for batch in self._read(plan, self.projection):
                    yield with_change(batch, *(pa.repeat(each, batch.num_rows) for each in (pa.scalar(kind), *ids)))

    def pairs(self, changes: SnapshotChanges) -> bool:
        """Return whether the changes of a snapshot must be compared with each other."""
        return len(changes.sides()) == 2 or self.row_filter is not None

    def net(self, changes: Sequence[SnapshotChanges]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that changes change together: a row that one inserts and another deletes is no change.

        Rows are read twice: for what is left of them, then for those that are. Few are kept for the second time.
        """
        read = _Kept(self.projection == self.all_columns)
        settled, sizes = self._settled(changes, read)
        yield from self._left(changes, settled, sizes, read.batches)

    def count(self, changes: Sequence[SnapshotChanges]) -> int:
        """Return how many rows changes change together."""
        settled, sizes = self._settled(changes, _Kept(False))
        return settled.count(0, sum(sizes))

    def _settled(self, changes: Sequence[SnapshotChanges], read: _Kept) -> tuple[_core.SettledChanges, list[int]]:
        """Return what is left of changes, and how many rows the kinds of change of each have."""
        pairs = _core.ChangePairs(keyed=bool(self.identifiers))
        sizes = []
        for one in changes:
            pairs.begin_part()
            for kind, plan in one.sides():
                size = 0
                for batch in self._read(plan, self.all_columns):
                    pairs.add(batch, self._keys(batch), self._wanted(batch), deleted=kind == DELETE)
                    read.add(batch)
                    size += batch.num_rows
                sizes.append(size)
        return pairs.settle(), sizes

    def _left(
        self,
        changes: Sequence[SnapshotChanges],
        settled: _core.SettledChanges,
        sizes: Sequence[int],
        read: Sequence[pa.RecordBatch] | None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield what is left of changes: of so many rows each, and from what was read of them if it was kept."""
        ordinals = pa.array([one.ordinal for one in changes], pa.int32())
        snapshots = pa.array([one.snapshot.snapshot_id for one in changes], pa.int64())
        again = iter(read or ())
        first = 0
        for (kind, plan), size in zip((side for one in changes for side in one.sides()), sizes, strict=True):
            end = first + size
            batches = again if read is not None else iter(self._read(plan, self.projection))
            # Behind the last row that is left, nothing needs to be read.
            while first < end and (read is not None or settled.count(first, end - first) > 0):
                batch = next(batches)
                kept, halves, parts = settled.told(first, batch.num_rows)
                first += batch.num_rows
                if len(parts) > 0:
                    names = _kinds(kind, halves)
                    yield with_change(batch.filter(kept), names, ordinals.take(parts), snapshots.take(parts))
            first = end

    def _keys(self, rows: pa.RecordBatch) -> pa.RecordBatch | None:
        """Return the columns that tell which row it is."""
        if not self.identifiers:
            return None
        names = [".".join(path) for path in self.identifiers]
        return pa.RecordBatch.from_arrays([_at(rows, path) for path in self.identifiers], names)

    def _wanted(self, rows: pa.RecordBatch) -> pa.BooleanArray | None:
        """Return which rows satisfy the filter."""
        if self.row_filter is None:
            return None
        text, case_sensitive = self.row_filter
        return _core.filter_rows(self.all_columns, text, rows, case_sensitive=case_sensitive)

    def _read(self, plan: ScanPlan, projection: str) -> pa.RecordBatchReader:
        return batch_reader(
            replace(plan, projection=projection).stream(extension_types=True, batch_size=self.batch_size)
        )


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


class _Kept:
    """What was read, as long as it is little."""

    def __init__(self, wanted: bool) -> None:
        self.batches: list[pa.RecordBatch] | None = [] if wanted else None
        self._size = 0

    def add(self, batch: pa.RecordBatch) -> None:
        self._size += batch.nbytes
        if self._size > KEPT_BYTES:
            self.batches = None
        if self.batches is not None:
            self.batches.append(batch)


def _kinds(kind: str, halves: pa.BooleanArray) -> pa.Array:
    return pc.if_else(halves, UPDATE_BEFORE if kind == DELETE else UPDATE_AFTER, kind)


def with_change(rows: pa.RecordBatch, kinds: pa.Array, ordinals: pa.Array, snapshots: pa.Array) -> pa.RecordBatch:
    """Return rows with the columns that tell what happened to them."""
    schema = pa.schema([*rows.schema, *CHANGE_COLUMNS])
    return pa.RecordBatch.from_arrays([*rows.columns, kinds, ordinals, snapshots], schema=schema)


def _at(rows: pa.RecordBatch, path: Sequence[str]) -> pa.Array:
    column = rows.column(path[0])
    return column if len(path) == 1 else pc.struct_field(column, list(path[1:]))
