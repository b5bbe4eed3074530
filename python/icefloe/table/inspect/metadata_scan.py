"""Scans of metadata tables, not yet read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_flag, checked_snapshot_id
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue, And
from icefloe.expressions.filter import Filter, to_expression
from icefloe.table.inspect.inspected_table import InspectedTable, dotted_name
from icefloe.table.inspect.row_sources import row_stream
from icefloe.table.inspect.schemas import METADATA_TABLES, OF_ONE_SNAPSHOT, arrow_schema, metadata_table_schema
from icefloe.table.inspect.streams import StreamSource
from icefloe.table.scan.results import Results
from icefloe.table.scan.row_stream import TABLE_BATCH_ROWS
from icefloe.table.scan.scan import ALL_COLUMNS, as_names

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.schema import Schema
    from icefloe.table.scan.row_stream import RowStream


@dataclass(frozen=True)
class MetadataScan:
    """Rows and columns of a metadata table, not yet read. Methods that narrow a scan return a new one.

    A scan is an Arrow stream: `pyarrow.table(scan)`, `polars.DataFrame(scan)` and DuckDB's SQL read it. Manifests are read when
    a consumer asks for rows, several at once, and only the columns that the scan selects and filters by are decoded.

    Attributes:
        table: The version of the table.
        name: Name of the metadata table, such as `files`.
        snapshot_id: Snapshot; None for the current one.
        where: Filter on the columns of the metadata table, such as `content = 0 and partition.day > '2026-01-01'`.
        row_filter: Filter on the columns of the table: files that cannot hold a matching row are left out, by their partition
            and statistics. Delete files are left out by their partition alone.
        selected_fields: Column names, `("*",)` for all columns; dotted names for nested fields.
        case_sensitive: Whether names in filters and selections must match in case.
    """

    table: InspectedTable = field(repr=False)
    name: str
    snapshot_id: int | None = None
    where: str | BooleanExpression = field(default_factory=AlwaysTrue)
    row_filter: str | BooleanExpression = field(default_factory=AlwaysTrue)
    selected_fields: tuple[str, ...] = ALL_COLUMNS
    case_sensitive: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "selected_fields", as_names(self.selected_fields))
        checked_flag("case_sensitive", self.case_sensitive)
        if self.snapshot_id is not None:
            object.__setattr__(self, "snapshot_id", checked_snapshot_id(self.snapshot_id))
        if not isinstance(self.name, str) or self.name not in METADATA_TABLES:
            raise ValidationError(f"metadata table: expected one of {', '.join(METADATA_TABLES)}; got {self.name!r}")
        if self.snapshot_id is not None and self.name not in OF_ONE_SNAPSHOT:
            raise ValidationError(
                f"metadata table {self.name}: expected no snapshot id, got {self.snapshot_id}: the table has the rows of all "
                "snapshots"
            )

    # ---- narrowing

    def filter(self, where: str | BooleanExpression) -> Self:
        """Return a scan of the rows that match a filter on the metadata table as well as the scan's own.

        Examples:
            >>> table.inspect.scan("files").filter("record_count > 100").count()
            0
        """
        added = to_expression(where, allow_empty=False)
        own = to_expression(self.where, allow_empty=False)
        return replace(self, where=added if isinstance(own, AlwaysTrue) else And(own, added))

    def select(self, *field_names: str) -> Self:
        """Return a scan of the named columns.

        Examples:
            >>> table.inspect.scan("files").select("file_path", "record_count").to_arrow().column_names
            ['file_path', 'record_count']
        """
        return replace(self, selected_fields=field_names)

    def use_snapshot(self, snapshot_id: int) -> Self:
        """Return a scan of another snapshot.

        Raises:
            ValidationError: The metadata table has the rows of all snapshots.
        """
        return replace(self, snapshot_id=snapshot_id)

    # ---- names and types

    def schema(self) -> Schema:
        """Return the schema of the metadata table."""
        return metadata_table_schema(self.name, self.table.metadata)

    def projection(self) -> Schema:
        """Return the schema of the rows.

        Raises:
            ResolveError: A selected column does not exist.
        """
        schema = self.schema()
        if "*" in self.selected_fields:
            return schema
        return schema.select(*self.selected_fields, case_sensitive=self.case_sensitive)

    def arrow_schema(self) -> pa.Schema:
        """Return the Arrow schema of the rows, without reading a manifest."""
        return arrow_schema(self.projection())

    # ---- rows

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table.

        Raises:
            MissingFileError: A manifest list or manifest does not exist.
            CorruptFileError: A file does not follow its format.
        """
        return self._results().to_arrow(progress=False)

    def to_arrow_batch_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of Arrow record batches, whose memory does not grow with the number of manifests."""
        return self._results().to_arrow_batch_reader()

    def to_pandas(self, **kwargs: Any) -> pd.DataFrame:
        """Return the rows as a pandas data frame.

        Args:
            **kwargs: Keywords of `pyarrow.Table.to_pandas`.
        """
        return self._results().to_pandas(False, **kwargs)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars data frame."""
        return self._results().to_polars()

    def to_duckdb(
        self, table_name: str, connection: duckdb.DuckDBPyConnection | None = None
    ) -> duckdb.DuckDBPyConnection:
        """Register the rows as a table in DuckDB and return the connection.

        Args:
            table_name: Name of the table in SQL.
            connection: Connection to register with; a new in-memory database if None.
        """
        return self._results().to_duckdb(table_name, connection)

    def count(self) -> int:
        """Return the number of rows, decoding no column that no filter needs."""
        first = self.schema().fields[0].name
        return sum(batch.num_rows for batch in replace(self, selected_fields=(first,)).to_arrow_batch_reader())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._results().stream().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.arrow_schema().__arrow_c_schema__()

    # ---- parts

    def _results(self) -> Results:
        origin = f"{self.name} of {dotted_name(self.table)}"
        return Results(StreamSource(self._stream), origin, TABLE_BATCH_ROWS, TABLE_BATCH_ROWS)

    def _stream(self) -> RowStream:
        where = Filter.of(self.where, self.schema(), case_sensitive=self.case_sensitive)
        rows = Filter.of(self.row_filter, self.table.metadata.schema(), case_sensitive=self.case_sensitive)
        return row_stream(self.table, self.name, self.snapshot_id, self.projection(), where, rows)
