"""The rows of a scan, in the forms in which they are wanted."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.table.scan.metadata_columns import DELETED, POSITION
from icefloe.table.scan.origin import read_from
from icefloe.table.scan.pandas_frame import pandas_frame
from icefloe.table.scan.plan import KEPT_BYTES, PASSING_BYTES, ScanPlan
from icefloe.table.scan.progress import watched
from icefloe.table.scan.selection import Selection, with_metadata_columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    import duckdb
    import pandas as pd
    import polars as pl

    from icefloe.table.snapshots import Snapshot

    class RowStream(Protocol):
        """Rows, read anew by every consumer."""

        @property
        def schema(self) -> pa.Schema:
            """Schema of every batch."""

        def __iter__(self) -> Iterator[pa.RecordBatch]: ...
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
        def __arrow_c_schema__(self) -> object: ...


FIRST_BYTE = 4
"""Where the rows of a Parquet file begin: after what tells its format."""

_NO_COLUMNS = '{"type": "struct", "schema-id": 0, "fields": []}'


class Results(Selection):
    """What a scan can be turned into.

    The scan itself is an Arrow stream: whatever reads `__arrow_c_stream__` takes it, `polars.DataFrame(scan)`, `pyarrow.table(scan)`
    and DuckDB's SQL among them.
    """

    @abstractmethod
    def _opened(self, *, string_views: bool = False, batch_bytes: int = PASSING_BYTES) -> tuple[RowStream, int | None]:
        """Plan the scan and return its rows, and how many there are at most; None if nobody knows before."""

    def _origin(self) -> str:
        """Return what the rows are of, for messages."""
        return self.table_name

    def _plan_snapshot(
        self,
        snapshot: Snapshot | None,
        *,
        added_only: bool = False,
        split_size: int | None = None,
        include_stats: bool = False,
    ) -> ScanPlan:
        """Plan the files of a snapshot that might have rows of the filter, or only those that it added."""
        context = self._context_json()
        planned = _core.plan(
            self.io.core,
            context,
            manifest_list=snapshot.manifest_list if snapshot is not None else None,
            manifests=list(snapshot.manifest_paths or ()) if snapshot is not None else [],
            filter=self._read_filter().json,
            split_size=split_size,
            include_stats=include_stats,
            added_by=snapshot.snapshot_id if snapshot is not None and added_only else None,
        )
        return ScanPlan(
            files=planned.files,
            deletes=planned.deletes,
            counters=dict(planned.counters),
            context=context,
            projection=self.projection_json(),
            io=self.io,
        )

    def _stream(self, *, string_views: bool = False) -> RowStream:
        return self._opened(string_views=string_views)[0]

    def to_arrow(self, progress: bool | None = None) -> pa.Table:
        """Return the rows as an Arrow table.

        Args:
            progress: Whether to draw a progress bar on the terminal once reading takes longer than a second. None draws it in
                interactive sessions only; without a terminal there is never one.

        Example:
            >>> scan.to_arrow().column("id").to_pylist()
            [1, 2, 3]
        """
        stream, planned_rows = self._opened(batch_bytes=KEPT_BYTES)
        batches = watched(read_from(self._origin(), iter(stream)), planned_rows, show=progress)
        return pa.Table.from_batches(batches, schema=stream.schema)

    def to_arrow_batch_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of Arrow record batches; memory is bounded by a few of them.

        Example:
            >>> sum(batch.num_rows for batch in scan.to_arrow_batch_reader())
            3
        """
        stream = self._stream()
        return pa.RecordBatchReader.from_batches(stream.schema, read_from(self._origin(), iter(stream)))

    def to_pandas(self, progress: bool | None = None, **kwargs: Any) -> pd.DataFrame:
        """Return the rows as a pandas data frame.

        Args:
            progress: See `to_arrow`.
            **kwargs: Keywords of `pyarrow.Table.to_pandas`.

        Example:
            >>> len(scan.to_pandas())
            3
        """
        return pandas_frame(self.to_arrow(progress=progress), **kwargs)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars data frame, its strings not copied.

        Example:
            >>> scan.to_polars().height
            3
        """
        import polars as pl

        return pl.DataFrame(self._opened(string_views=True, batch_bytes=KEPT_BYTES)[0])

    def to_duckdb(
        self, table_name: str, connection: duckdb.DuckDBPyConnection | None = None
    ) -> duckdb.DuckDBPyConnection:
        """Register the rows as a table in DuckDB and return the connection.

        Args:
            table_name: What SQL calls them.
            connection: Where to; a new in-memory database when None.

        Example:
            >>> connection = scan.to_duckdb("t")
            >>> connection.sql("SELECT sum(id) FROM t").fetchall()
            [(6,)]
        """
        import duckdb

        own = connection if connection is not None else duckdb.connect(":memory:")
        own.register(table_name, self.to_arrow(progress=False))
        return own

    def count(self) -> int:
        """Return how many rows there are.

        Example:
            >>> scan.count()
            3
        """
        told = [name for name in self.selected_fields if name == DELETED]
        positions = self.update(selected_fields=(POSITION, *told))
        return sum(batch.num_rows for batch in positions.to_arrow_batch_reader())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._stream(string_views=True).__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._stream(string_views=True).__arrow_c_schema__()


def _has_no_deletes(plan: ScanPlan) -> pa.Array:
    none = pc.equal(pc.fill_null(pc.list_value_length(plan.files.column("deletes")), 0), 0)
    if "marks" not in plan.files.schema.names:
        return none
    return pc.and_(none, pc.is_null(plan.files.column("marks")))


def enough(plan: ScanPlan) -> ScanPlan:
    """Return a plan without the files that its limit leaves unread, as far as metadata alone can tell."""
    if plan.limit is None or plan.files.num_rows == 0:
        return plan
    files = plan.files
    whole = pc.and_(
        pc.less_equal(files.column("start"), FIRST_BYTE),
        pc.greater_equal(pc.add(files.column("start"), files.column("length")), files.column("file_size_in_bytes")),
    )
    known = pc.and_(whole, _has_all_rows(plan))
    rows = pc.cumulative_sum(pc.if_else(known, files.column("record_count"), 0))
    needed = pc.sum(pc.less(rows, plan.limit)).as_py() + 1
    return replace(plan, files=files.slice(0, needed if plan.limit > 0 else 0))


def _has_all_rows(plan: ScanPlan) -> pa.Array:
    """Return in which files nothing is filtered and nothing deleted."""
    unfiltered = pc.or_(plan.files.column("must_match"), pc.is_null(plan.files.column("residual")))
    return pc.and_(unfiltered, _has_no_deletes(plan))


def count_planned(plan: ScanPlan, limit: int | None) -> int:
    """Return how many rows a plan of whole files has. Files without deletes whose rows all match are not opened."""
    known = _has_all_rows(plan)
    total: int = pc.sum(plan.files.filter(known).column("record_count")).as_py() or 0
    left = None if limit is None else limit - total
    if left is not None and left <= 0:
        return limit or 0
    rest = replace(
        plan,
        files=plan.files.filter(pc.invert(known)),
        projection=with_metadata_columns(_NO_COLUMNS, [POSITION]),
        limit=left,
    )
    return total + (sum(batch.num_rows for batch in rest.stream()) if rest.files.num_rows > 0 else 0)
