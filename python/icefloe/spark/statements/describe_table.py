"""DESCRIBE of a table, of one of its columns, and of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ResolveError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.statements.show_create import partitioning_of
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.table.row_level.clause_sql.scope import named

if TYPE_CHECKING:
    from icefloe.spark.statements.query import Statement
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
    table = statement.references.resolve(parts).table
    if cursor.at("PARTITION", "AS"):
        raise FeatureUnsupportedError(
            f"DESCRIBE: PARTITION and AS JSON are not supported; expected DESCRIBE {'.'.join(parts)}, got {cursor.rest()}"
        )
    path = None if cursor.done else cursor.names()
    cursor.finish()
    if path is None:
        rows = _rows_of_table(table, extended=extended)
        return statement.spark.createDataFrame(rows, "col_name string, data_type string, comment string")
    column = _rows_of_column(statement, table, path)
    return statement.spark.createDataFrame(column, "info_name string, info_value string")


def _rows_of_column(statement: Statement, table: Table, path: tuple[str, ...]) -> list[tuple[str, str]]:
    if len(path) > 1:
        raise FeatureUnsupportedError(
            f"DESCRIBE: fields within a column have no description of their own; expected a column such as {path[0]}, got "
            f"{'.'.join(path)}"
        )
    struct = to_spark_schema(table.schema())
    name = named(path[0], struct.names)
    if name is None or (statement.case_sensitive() and name != path[0]):
        raise ResolveError(f"DESCRIBE: the table has no column {path[0]!r}; expected one of {', '.join(struct.names)}")
    field = struct[name]
    return [
        ("col_name", name),
        ("data_type", field.dataType.simpleString()),
        ("comment", field.metadata.get("comment", "NULL")),
    ]


def _rows_of_table(table: Table, *, extended: bool) -> list[tuple[str, str, str | None]]:
    schema = table.schema()
    rows = [
        (field.name, field.dataType.simpleString(), field.metadata.get("comment"))
        for field in to_spark_schema(schema).fields
    ]
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
