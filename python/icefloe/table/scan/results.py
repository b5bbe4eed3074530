"""The rows of a planned scan as Arrow, pandas, Polars and DuckDB data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.arguments import checked_flag, checked_text
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.table.scan.frames import frame_library, pandas_frame
from icefloe.table.scan.progress import with_progress_bar
from icefloe.table.scan.row_stream import STREAM_BATCH_BYTES, TABLE_BATCH_BYTES, read_from

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl

    from icefloe.table.scan.row_stream import RowSource, RowStream


@dataclass(frozen=True)
class Results:
    """The rows of one planned scan. Each method reads them from the beginning.

    Attributes:
        source: The plan.
        origin: Table and snapshot, for messages.
        batch_size: Most rows of a batch of a stream.
        table_batch_size: Most rows of a batch of rows that stay in memory together.
    """

    source: RowSource
    origin: str
    batch_size: int
    table_batch_size: int

    def stream(self, *, string_views: bool = True) -> RowStream:
        """Return the rows as a stream whose failures name the table; see `ScanPlan.stream`."""
        stream = self.source.stream(
            string_views=string_views, batch_size=self.batch_size, batch_bytes=STREAM_BATCH_BYTES, extension_types=True
        )
        return stream.named(self.origin)

    def _table_stream(self, *, string_views: bool, extension_types: bool) -> RowStream:
        """Return the rows as a stream of large batches, which stay in memory together."""
        stream = self.source.stream(
            string_views=string_views,
            extension_types=extension_types,
            batch_size=self.table_batch_size,
            batch_bytes=TABLE_BATCH_BYTES,
        )
        return stream.named(self.origin)

    def to_arrow(self, progress: bool | None) -> pa.Table:
        """Return the rows as an Arrow table; see `Scan.to_arrow`."""
        if progress is not None:
            checked_flag("progress", progress)
        stream = self._table_stream(string_views=False, extension_types=True)
        batches = with_progress_bar(read_from(self.origin, iter(stream)), self.source.max_rows, show=progress)
        return pa.Table.from_batches(batches, schema=stream.schema)

    def to_arrow_batch_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a reader of record batches."""
        stream = self.stream(string_views=False)
        return pa.RecordBatchReader.from_batches(stream.schema, read_from(self.origin, iter(stream)))

    def to_pandas(self, progress: bool | None, **kwargs: Any) -> pd.DataFrame:
        """Return the rows as a pandas data frame."""
        frame_library("pandas")
        return pandas_frame(self.to_arrow(progress), **kwargs)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars data frame."""
        polars = frame_library("polars")
        # Old versions of Polars panic on extension types; all versions read uuids as bytes.
        stream = self._table_stream(string_views=True, extension_types=False)
        try:
            frame: pl.DataFrame = polars.DataFrame(stream)
        except polars.exceptions.PanicException as error:
            raise FeatureUnsupportedError(
                f"to_polars: Polars {polars.__version__} cannot read the columns {_columns(stream.schema)}; upgrade Polars, or select "
                "other columns"
            ) from error
        return frame

    def to_duckdb(self, table_name: str, connection: duckdb.DuckDBPyConnection | None) -> duckdb.DuckDBPyConnection:
        """Register the rows in DuckDB and return the connection."""
        duckdb = frame_library("duckdb")
        if not checked_text("table_name", table_name):
            raise ValidationError("table_name: expected the name of a table in SQL, got ''")
        if connection is not None and not isinstance(connection, duckdb.DuckDBPyConnection):
            raise ValidationError(f"connection: expected a connection to DuckDB or None, got {connection!r}")
        connection = connection if connection is not None else duckdb.connect(":memory:")
        connection.register(table_name, self.to_arrow(progress=False))
        return connection


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)
