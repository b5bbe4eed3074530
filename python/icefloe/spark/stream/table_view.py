"""The table of a stream: refreshed for each micro-batch, read with the columns that the stream began with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import AlwaysTrue
from icefloe.spark.stream.lineage import Lineage, check_same_table
from icefloe.spark.types.nullability import check_not_null
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.table.scan.options import ScanOptions
from icefloe.table.scan.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.spark.stream.options import SourceOptions
    from icefloe.table import Table


@dataclass
class TableView:
    """The table of a stream.

    Args:
        options: Options of the source.
        struct: Columns of the table that the stream reads, a Spark ``StructType``.
    """

    options: SourceOptions
    struct: Any
    _table: Table | None = None
    _schema_id: int | None = None
    _field_ids: tuple[int, ...] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(field.name for field in self.struct.fields)

    @property
    def table(self) -> Table:
        """The table as it was last refreshed."""
        return self.refreshed() if self._table is None else self._table

    def refreshed(self) -> Table:
        """Return the newest version of the table.

        Raises:
            ValidationError: The table was dropped and created again, or a column of the stream was changed.
        """
        known = self._table
        if known is None or self.options.table.is_location():
            fresh = self.options.table.load()
        else:
            fresh = known.catalog.load_table(known.name())
        if known is not None:
            check_same_table(".".join(known.name()), str(known.metadata.table_uuid), fresh.metadata)
        self._table = fresh
        self._check_columns(fresh)
        return fresh

    def lineage(self) -> Lineage:
        """Return the snapshots of the branch, as of the last refresh."""
        table = self.table
        name, options = ".".join(table.name()), self.options
        return Lineage.of_branch(name, table.metadata, options.branch, changes=options.changes)

    def selection(self) -> Selection:
        """Return the selected rows and columns, as of the last refresh."""
        row_filter = AlwaysTrue() if self.options.row_filter is None else self.options.row_filter
        table = self.table
        return Selection(
            table.metadata, table.io, table.schema(), row_filter, self.columns, self.options.case_sensitive
        )

    def scan_options(self) -> ScanOptions:
        """Return the sizes of tasks."""
        return ScanOptions(self.options.table.task_sizes(), self.table.properties)

    def _check_columns(self, table: Table) -> None:
        """Raise if the columns are no longer those of the stream: their ids, names or types."""
        if table.metadata.current_schema_id == self._schema_id:
            return
        try:
            selection = self.selection()
            current = to_spark_schema(selection.projection_json())
            ids = tuple(field.field_id for field in selection.projection().fields)
        except ResolveError as error:
            raise ValidationError(_changed(table, str(error))) from error
        wanted, found = _types(self.struct.fields), _types(current.fields)
        if wanted != found:
            expected, got = next(pair for pair in zip(wanted, found, strict=True) if pair[0] != pair[1])
            raise ValidationError(_changed(table, f"expected column {expected}, got {got}"))
        check_not_null(self.struct, current)
        if self._field_ids not in (None, ids):
            raise ValidationError(_changed(table, f"expected columns with ids {self._field_ids}, got {ids}"))
        self._schema_id, self._field_ids = table.metadata.current_schema_id, ids


def _types(fields: Sequence[Any]) -> list[str]:
    return [f"{field.name} {field.dataType.simpleString()}" for field in fields]


def _changed(table: Table, problem: str) -> str:
    return (
        f"stream: the schema of table {'.'.join(table.name())} changed since the stream began: {problem}; load the stream again and "
        "restart the query with the same checkpoint to read the new schema"
    )
