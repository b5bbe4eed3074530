"""DESCRIBE of a table, of one of its columns, and of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ResolveError
from icefloe.spark.lexer import Cursor
from icefloe.spark.metadata_tables import metadata_frame, metadata_schema
from icefloe.spark.statements.column_names import column_named
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.statements.show_create import partitioning_of
from icefloe.spark.types.to_spark import to_spark_schema

if TYPE_CHECKING:
    from icefloe.spark.statements.query import Statement
    from icefloe.spark.statements.references import Reference
    from icefloe.table import Table

_QUERIES = ("SELECT", "WITH", "FROM", "VALUES", "(")


def describe(statement: Statement, text: str) -> Any:
    """Run DESCRIBE of a table, of a column or of a query.

    A table has one row for each column, then the partition fields; with EXTENDED, location and properties. A column has a row each for
    its name, its type and its comment. A query has one row for each column.
    """
    cursor = Cursor(text)
    if not cursor.accept("DESC"):
        cursor.expect("DESCRIBE")
    if cursor.accept("QUERY") or cursor.at(*_QUERIES):
        return frame_of_query(statement, cursor.rest(), command="DESCRIBE QUERY ")
    cursor.accept("TABLE")
    extended = cursor.accept("EXTENDED") or cursor.accept("FORMATTED")
    parts = cursor.names()
    reference = statement.references.resolve(parts)
    struct = _struct_of(statement, reference)
    if cursor.at("PARTITION", "AS"):
        raise FeatureUnsupportedError(
            f"DESCRIBE: PARTITION and AS JSON are not supported; expected DESCRIBE {'.'.join(parts)}, got {cursor.rest()}"
        )
    path = None if cursor.done else cursor.names()
    cursor.finish()
    if path is None:
        rows = _rows_of_struct(struct)
        rows += [] if reference.metadata_table is not None else _further_rows(reference.table, extended=extended)
        return statement.spark.createDataFrame(rows, "col_name string, data_type string, comment string")
    column = _rows_of_column(statement, struct, path)
    return statement.spark.createDataFrame(column, "info_name string, info_value string")


def _struct_of(statement: Statement, reference: Reference) -> Any:
    """Return the Spark schema of a table, or of the metadata table that is named."""
    if reference.metadata_table is None:
        return to_spark_schema(reference.table.schema())
    no_rows = metadata_schema(reference.table, reference.metadata_table).empty_table()
    return metadata_frame(statement.spark, no_rows).schema


def _rows_of_column(statement: Statement, struct: Any, path: tuple[str, ...]) -> list[tuple[str, str]]:
    if len(path) > 1:
        raise FeatureUnsupportedError(
            f"DESCRIBE: fields within a column have no description of their own; expected a column such as {path[0]}, got "
            f"{'.'.join(path)}"
        )
    name = column_named(path[0], struct.names, case_sensitive=statement.case_sensitive())
    if name is None:
        raise ResolveError(f"DESCRIBE: the table has no column {path[0]!r}; expected one of {', '.join(struct.names)}")
    field = struct[name]
    return [
        ("col_name", name),
        ("data_type", field.dataType.simpleString()),
        ("comment", field.metadata.get("comment", "NULL")),
    ]


def _rows_of_struct(struct: Any) -> list[tuple[str, str, str | None]]:
    return [(field.name, field.dataType.simpleString(), field.metadata.get("comment")) for field in struct.fields]


def _further_rows(table: Table, *, extended: bool) -> list[tuple[str, str, str | None]]:
    """Return the rows after the columns: the partition fields, and with EXTENDED location and properties."""
    rows: list[tuple[str, str, str | None]] = []
    rows += [("", "", ""), ("# Partitioning", "", "")] if table.spec().fields else []
    rows += [(f"Part {index}", text, "") for index, text in enumerate(partitioning_of(table))]
    if extended:
        rows += [
            ("", "", ""),
            ("# Detailed Table Information", "", ""),
            ("Location", table.location(), ""),
            ("Provider", "iceberg", ""),
        ]
        rows += [(key, value, "") for key, value in sorted(table.properties.items())]
    return rows
