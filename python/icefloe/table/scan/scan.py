"""The parts that all scans share: selection of rows and columns, and the forms in which rows are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_flag, checked_names, checked_snapshot_id, integer_of
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue, And
from icefloe.expressions.filter import to_expression
from icefloe.table.scan.options import ScanOptions
from icefloe.table.scan.results import Results
from icefloe.table.scan.row_stream import TABLE_BATCH_ROWS
from icefloe.table.scan.selection import Selection
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.expressions.filter import Filter
    from icefloe.io import FileIO
    from icefloe.schema import Schema
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import Packing
    from icefloe.table.scan.row_stream import RowSource
    from icefloe.typedef import Properties

ALL_COLUMNS = ("*",)
MOST_ROWS = 2**63 - 1


@dataclass(frozen=True)
class Scan(ABC):
    """Rows and columns of a table, not yet read. Methods that narrow a scan return a new one.

    A scan is an Arrow stream: `polars.DataFrame(scan)`, `pyarrow.table(scan)`, DuckDB's SQL and every other consumer of
    `__arrow_c_stream__` read it. A stream has uuid columns in Arrow's extension type, which Polars before 1.36 does not read:
    `to_polars` works with every version.

    Attributes:
        table_metadata: The table.
        io: Storage.
        row_filter: Filter, as text or as an expression.
        selected_fields: Column names, `("*",)` for all columns; dotted names for nested fields. The metadata columns `_file`,
            `_pos`, `_deleted`, `_spec_id` and `_partition` are available too; with `_deleted` deleted rows are returned as well.
        case_sensitive: Whether names must match in case.
        snapshot_id: Snapshot, None for the current one. Incremental scans have a range instead.
        options: `split-size` (bytes of a task), `lookback` (groups filled at once) and `file-open-cost` (bytes), which
            override the table's properties `read.split.*`; `batch-size` (rows of a batch).
        limit: Most rows to return, None for all.
        table_name: Name of the table, for messages and explanations.
    """

    table_metadata: TableMetadata
    io: FileIO = field(repr=False)
    row_filter: str | BooleanExpression = field(default_factory=AlwaysTrue)
    selected_fields: tuple[str, ...] = ALL_COLUMNS
    case_sensitive: bool = True
    snapshot_id: int | None = None
    options: Properties = field(default_factory=lambda: EMPTY_DICT)
    limit: int | None = None
    table_name: str = "table"

    def __post_init__(self) -> None:
        object.__setattr__(self, "selected_fields", as_names(self.selected_fields))
        if self.limit is not None:
            object.__setattr__(self, "limit", _checked_limit(self.limit))
        checked_flag("case_sensitive", self.case_sensitive)
        if self.snapshot_id is not None:
            object.__setattr__(self, "snapshot_id", checked_snapshot_id(self.snapshot_id))
        self._options().check()

    # ---- narrowing

    def update(self, **overrides: Any) -> Self:
        """Return a scan with some attributes replaced."""
        known = {one.name for one in fields(self)}
        unknown = sorted(overrides.keys() - known)
        if unknown:
            raise ValidationError(
                f"update: expected attributes of the scan, {', '.join(sorted(known))}; got {', '.join(unknown)}"
            )
        return replace(self, **overrides)

    def filter(self, expr: str | BooleanExpression) -> Self:
        """Return a scan of the rows that match a filter as well as the scan's own.

        Examples:
            >>> scan.filter("id > 1").filter("id < 3").count()
            1
        """
        added = to_expression(expr, allow_empty=False)
        own = to_expression(self.row_filter, allow_empty=False)
        return self.update(row_filter=added if isinstance(own, AlwaysTrue) else And(own, added))

    def select(self, *field_names: str) -> Self:
        """Return a scan of the named columns among the selected ones.

        Raises:
            ValidationError: None of the columns is selected.
        """
        checked_names("select", field_names)
        if "*" in self.selected_fields:
            return self.update(selected_fields=field_names)
        both = tuple(name for name in field_names if name in self.selected_fields)
        if not both:
            raise ValidationError(
                f"select: expected columns among the selected {', '.join(self.selected_fields)}; got {', '.join(field_names)}"
            )
        return self.update(selected_fields=both)

    def with_case_sensitive(self, case_sensitive: bool = True) -> Self:
        """Return a scan that matches names in case, or regardless of case."""
        return self.update(case_sensitive=case_sensitive)

    # ---- names and types

    def schema(self) -> Schema:
        """Return the schema that names are resolved in: the table's current schema."""
        return self.table_metadata.schema()

    def projection(self) -> Schema:
        """Return the schema of the rows, metadata columns left out.

        Raises:
            ResolveError: A selected column does not exist.
        """
        return self._selection().projection()

    def projection_json(self) -> str:
        """Return the schema of the rows as JSON, metadata columns last."""
        return self._selection().projection_json()

    def resolved_filter(self) -> Filter:
        """Return the row filter with the schema and the case rule of the scan.

        Raises:
            ValidationError: The filter is text that does not parse.
        """
        return self._selection().filter()

    def packing(self) -> Packing:
        """Return how tasks are packed into groups, by the scan's options and the table's properties."""
        return self._options().packing()

    # ---- rows

    def to_arrow(self, progress: bool | None = None) -> pa.Table:
        """Return the rows as an Arrow table, its columns in the types of `projection().as_arrow()`.

        Args:
            progress: Whether to draw a progress bar on the terminal once reading takes longer than one second. None draws it
                in interactive sessions; without a terminal there is never one.

        Raises:
            MissingFileError: A data or delete file does not exist.
            CorruptFileError: A file does not follow its format.

        Examples:
            >>> scan.to_arrow().column("id").to_pylist()
            [1, 2, 3]
        """
        return self._results().to_arrow(progress)

    def to_arrow_batch_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of Arrow record batches, whose memory does not grow with the number of rows.

        Examples:
            >>> sum(batch.num_rows for batch in scan.to_arrow_batch_reader())
            3
        """
        return self._results().to_arrow_batch_reader()

    def to_pandas(self, progress: bool | None = None, **kwargs: Any) -> pd.DataFrame:
        """Return the rows as a pandas data frame. uuid values are `uuid.UUID` objects.

        Args:
            progress: See `to_arrow`.
            **kwargs: Keywords of `pyarrow.Table.to_pandas`.

        Examples:
            >>> len(scan.to_pandas())
            3
        """
        return self._results().to_pandas(progress, **kwargs)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars data frame that shares the memory of its strings. uuid values are 16 bytes.

        Examples:
            >>> scan.to_polars().height
            3
        """
        return self._results().to_polars()

    def to_duckdb(
        self, table_name: str, connection: duckdb.DuckDBPyConnection | None = None
    ) -> duckdb.DuckDBPyConnection:
        """Register the rows as a table in DuckDB and return the connection.

        Args:
            table_name: Name of the table in SQL.
            connection: Connection to register with; a new in-memory database if None.

        Examples:
            >>> connection = scan.to_duckdb("t")
            >>> connection.sql("SELECT sum(id) FROM t").fetchall()
            [(6,)]
        """
        return self._results().to_duckdb(table_name, connection)

    @abstractmethod
    def count(self) -> int:
        """Return the number of rows."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._results().stream().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._results().stream().__arrow_c_schema__()

    # ---- parts

    @abstractmethod
    def _row_source(self) -> RowSource:
        """Plan the scan."""

    def _origin(self) -> str:
        """Return the table, and the snapshot where there is one, for messages."""
        return self.table_name

    def _results(self) -> Results:
        options = self._options()
        return Results(self._row_source(), self._origin(), options.batch_size(), options.batch_size(TABLE_BATCH_ROWS))

    def _selection(self) -> Selection:
        return Selection(
            self.table_metadata, self.io, self.schema(), self.row_filter, self.selected_fields, self.case_sensitive
        )

    def _options(self) -> ScanOptions:
        return ScanOptions(self.options, self.table_metadata.properties)


def as_names(selected_fields: Iterable[str]) -> tuple[str, ...]:
    """Return column names as a tuple; a single string is refused, because its letters would be names."""
    return checked_names("selected_fields", selected_fields)


def _checked_limit(limit: object) -> int:
    """Return a limit that is a whole number; integers of NumPy are accepted. No table has more rows than 64 bits count."""
    number = integer_of(limit)
    if number is None or number < 0:
        raise ValidationError(
            f"limit: expected a whole number of rows, zero or above, or None for all rows; got {limit!r}"
        )
    return min(number, MOST_ROWS)
