"""The rows of changes: moved rows left out, updates paired."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.table.scan.changelog_plan import DELETE
from icefloe.table.scan.row_stream import STREAM_BATCH_BYTES, read_from
from icefloe.table.scan.task_group import batch_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from icefloe.table.scan.changelog_plan import SnapshotChanges
    from icefloe.table.scan.plan import ScanPlan

REREAD_BYTES = 16 * 1024 * 1024
"""Rows of at most this many bytes stay in memory between the two reads; more rows are read a second time."""

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
    """The rules that turn changed files into change rows.

    Attributes:
        all_columns: Schema JSON of all columns of the table, by which rows are compared.
        projection: Schema JSON of the selected columns.
        identifiers: Paths of the key columns of updates; empty if updates are reported as deletes and inserts.
        batch_size: Most rows of a batch.
        row_filter: Expression JSON of the filter and whether names match in case, if reading has not applied all of it; else None.
            One half of an update may match and the other not.
        extension_types: Return uuids as Arrow's extension type.
    """

    all_columns: str
    projection: str
    identifiers: tuple[tuple[str, ...], ...]
    batch_size: int
    row_filter: tuple[str, bool] | None = None
    extension_types: bool = True

    def of_snapshot(self, changes: SnapshotChanges) -> Iterator[pa.RecordBatch]:
        """Yield the rows that a snapshot changed, deletions first. A row that it both deletes and inserts is no change."""
        # An update may move a row to another partition; without updates each partition is compared by itself.
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
        """Return whether the rows of these changes must be compared with each other, or filtered after reading."""
        return len(changes.sides()) == 2 or self.row_filter is not None

    def net(self, changes: Sequence[SnapshotChanges]) -> Iterator[pa.RecordBatch]:
        """Yield the net rows of changes: a row that one change inserts and another deletes is left out.

        Rows are read twice, first to compare and then to return. Rows of at most `REREAD_BYTES` are read once.
        """
        cache = _BatchCache(enabled=self.projection == self.all_columns)
        remaining, sizes = self._compare(changes, cache)
        yield from self._remaining(changes, remaining, sizes, cache.batches)

    def count(self, changes: Sequence[SnapshotChanges]) -> int:
        """Return the number of net rows of changes."""
        remaining, sizes = self._compare(changes, _BatchCache(enabled=False))
        return remaining.count(0, sum(sizes))

    def _compare(self, changes: Sequence[SnapshotChanges], cache: _BatchCache) -> tuple[_core.NetChanges, list[int]]:
        """Return the changes that remain after cancelling, and the number of rows of each side of each change."""
        pairs = _core.ChangePairs(keyed=bool(self.identifiers))
        sizes = []
        for one in changes:
            pairs.begin_part()
            for kind, plan in one.sides():
                size = 0
                for batch in self._read(plan, self.all_columns):
                    pairs.add(batch, self._keys(batch), self._matches(batch), deleted=kind == DELETE)
                    cache.add(batch)
                    size += batch.num_rows
                sizes.append(size)
        return pairs.cancel(), sizes

    def _remaining(
        self,
        changes: Sequence[SnapshotChanges],
        remaining: _core.NetChanges,
        sizes: Sequence[int],
        cached: Sequence[pa.RecordBatch] | None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows that remain after cancelling, from the cached batches if there are any, else read again."""
        ordinals = pa.array([one.ordinal for one in changes], pa.int32())
        snapshots = pa.array([one.snapshot.snapshot_id for one in changes], pa.int64())
        again = iter(cached or ())
        first = 0
        for (kind, plan), size in zip((side for one in changes for side in one.sides()), sizes, strict=True):
            end = first + size
            batches = again if cached is not None else iter(self._read(plan, self.projection))
            # Reading stops after the last remaining row.
            while first < end and (cached is not None or remaining.count(first, end - first) > 0):
                batch = next(batches)
                mask, halves, parts = remaining.rows(first, batch.num_rows)
                first += batch.num_rows
                if len(parts) > 0:
                    kinds = _change_types(kind, halves)
                    yield with_change(batch.filter(mask), kinds, ordinals.take(parts), snapshots.take(parts))
            first = end

    def _keys(self, rows: pa.RecordBatch) -> pa.RecordBatch | None:
        """Return the key columns, None without updates."""
        if not self.identifiers:
            return None
        names = [".".join(path) for path in self.identifiers]
        return pa.RecordBatch.from_arrays([_column_at(rows, path) for path in self.identifiers], names)

    def _matches(self, rows: pa.RecordBatch) -> pa.BooleanArray | None:
        """Return which rows match the filter, None if reading has applied it."""
        if self.row_filter is None:
            return None
        text, case_sensitive = self.row_filter
        return _core.filter_rows(self.all_columns, text, rows, case_sensitive=case_sensitive)

    def _read(self, plan: ScanPlan, projection: str) -> pa.RecordBatchReader:
        read = replace(plan, projection=projection)
        return batch_reader(read.stream(extension_types=self.extension_types, batch_size=self.batch_size))


@dataclass(frozen=True)
class ChangeGroup:
    """Changes that one reader reads, with everything that reading needs. A group pickles.

    Attributes:
        rows: The rules that turn changed files into rows.
        changes: The changes.
        net: Whether changes of different snapshots cancel each other.
    """

    rows: ChangeRows
    changes: tuple[SnapshotChanges, ...]
    net: bool

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the change rows."""
        if self.net:
            yield from self.rows.net(self.changes)
        else:
            for changes in self.changes:
                yield from self.rows.of_snapshot(changes)


@dataclass(frozen=True)
class ChangelogPlan:
    """The changes of a range of snapshots, which open as a stream of rows.

    Attributes:
        changes: Plans the changes; each consumer of a stream calls it.
        empty: A plan without files, for the schema of the rows.
        rows: The rules that turn changed files into rows.
        net: Whether changes of different snapshots cancel each other.
        limit: Most rows to return, None for all.
    """

    changes: Callable[[], Iterator[SnapshotChanges]]
    empty: ScanPlan
    rows: ChangeRows
    net: bool
    limit: int | None

    @property
    def max_rows(self) -> int | None:
        """None: the number of changes is unknown before rows are compared."""
        return None

    def stream(
        self,
        *,
        string_views: bool = False,
        extension_types: bool = False,
        batch_size: int = 65536,
        batch_bytes: int = STREAM_BATCH_BYTES,
    ) -> ChangeStream:
        """Return the change rows as a stream. Strings are never views: rows are compared and filtered, which views do not allow."""
        del string_views, batch_bytes
        rows = replace(self.rows, extension_types=extension_types, batch_size=batch_size)
        return ChangeStream(replace(self, rows=rows))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the change rows, at most `limit`."""
        if self.net:
            found = self.rows.net(list(self.changes()))
        else:
            found = (batch for changes in self.changes() for batch in self.rows.of_snapshot(changes))
        return found if self.limit is None else _first_rows(found, self.limit)

    def schema(self) -> pa.Schema:
        """Return the schema of the change rows."""
        return pa.schema([*self.empty.stream(extension_types=self.rows.extension_types).schema, *CHANGE_COLUMNS])


class ChangeStream:
    """Change rows as an Arrow stream; each consumer reads it from the beginning."""

    def __init__(self, plan: ChangelogPlan, origin: str = "a changelog") -> None:
        self._plan = plan
        self._origin = origin
        self.schema = plan.schema()

    def named(self, origin: str) -> ChangeStream:
        """Return the stream with the origin that failures name."""
        return ChangeStream(self._plan, origin)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._plan.batches()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, read_from(self._origin, iter(self)))
        return reader.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()


class _BatchCache:
    """The batches of a first read, as long as they are small in total."""

    def __init__(self, *, enabled: bool) -> None:
        self.batches: list[pa.RecordBatch] | None = [] if enabled else None
        self._size = 0

    def add(self, batch: pa.RecordBatch) -> None:
        self._size += batch.nbytes
        if self._size > REREAD_BYTES:
            self.batches = None
        if self.batches is not None:
            self.batches.append(batch)


def _change_types(kind: str, halves: pa.BooleanArray) -> pa.Array:
    return pc.if_else(halves, UPDATE_BEFORE if kind == DELETE else UPDATE_AFTER, kind)


def with_change(rows: pa.RecordBatch, kinds: pa.Array, ordinals: pa.Array, snapshots: pa.Array) -> pa.RecordBatch:
    """Return rows with the columns that describe their change appended."""
    schema = pa.schema([*rows.schema, *CHANGE_COLUMNS])
    return pa.RecordBatch.from_arrays([*rows.columns, kinds, ordinals, snapshots], schema=schema)


def _column_at(rows: pa.RecordBatch, path: Sequence[str]) -> pa.Array:
    column = rows.column(path[0])
    return column if len(path) == 1 else pc.struct_field(column, list(path[1:]))


def _first_rows(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.RecordBatch]:
    remaining = limit
    while remaining > 0 and (batch := next(batches, None)) is not None:
        yield batch.slice(0, remaining)
        remaining -= min(remaining, batch.num_rows)
