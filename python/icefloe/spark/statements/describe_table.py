"""DESCRIBE of a table, of one of its columns, and of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ResolveError
from icefloe.schema import Schema
from icefloe.spark.lexer import Cursor
from icefloe.spark.metadata_tables import metadata_frame, metadata_schema
from icefloe.spark.statements.column_names import column_named
from icefloe.spark.statements.metadata_comments import commented
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.statements.show_create import partitioning_of
from icefloe.spark.statements.table_information import row_statistics, table_facts
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.table.scan.metadata_columns import metadata_field

if TYPE_CHECKING:
    from icefloe.spark.statements.references import Reference
    from icefloe.spark.statements.statement import Statement

_QUERIES = ("SELECT", "WITH", "FROM", "VALUES", "(")
_METADATA_COLUMNS = ("_spec_id", "_partition", "_file", "_pos", "_deleted")
_BLANK: tuple[str, str, str | None] = ("", "", "")


def describe(statement: Statement, text: str) -> Any:
    """Run DESCRIBE of a table, of a column or of a query.

    A table has one row for each column, then the partition fields; with EXTENDED, metadata columns, location, properties and size. A column has a row each for
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
        if reference.metadata_table is None:
            rows += _partitioning(reference, struct)
            rows += _details(statement, reference) if extended else []
        return statement.spark.createDataFrame(rows, "col_name string, data_type string, comment string")
    column = _rows_of_column(statement, struct, path)
    return statement.spark.createDataFrame(column, "info_name string, info_value string")


def _struct_of(statement: Statement, reference: Reference) -> Any:
    """Return the Spark schema of a table, or of the metadata table that is named."""
    if reference.metadata_table is None:
        return to_spark_schema(reference.table.schema())
    no_rows = metadata_schema(reference.table, reference.metadata_table).empty_table()
    return commented(metadata_frame(statement.spark, no_rows).schema, reference.metadata_table)


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


def _partitioning(reference: Reference, struct: Any) -> list[tuple[str, str, str | None]]:
    """Return the rows of the partition fields: with their types if all are columns, else as CREATE TABLE takes them."""
    table = reference.table
    active = [field for field in table.spec().fields if str(field.transform) != "void"]
    if not active:
        return []
    if any(str(field.transform) != "identity" for field in active):
        parts: list[tuple[str, str, str | None]] = [
            (f"Part {index}", text, "") for index, text in enumerate(partitioning_of(table))
        ]
        return [_BLANK, ("# Partitioning", "", ""), *parts]
    rows: list[tuple[str, str, str | None]] = [
        ("# Partition Information", "", ""),
        ("# col_name", "data_type", "comment"),
    ]
    for field in active:
        name = table.schema().find_column_name(field.source_id) or ""
        column = _field_at(struct, name)
        rows.append((name, column.dataType.simpleString(), (column.metadata or {}).get("comment")))
    return rows


def _field_at(struct: Any, name: str) -> Any:
    """Return the column, or the field within columns, of a dotted name, whose parts may have dots."""
    for field in struct.fields:
        if name == field.name:
            return field
        if name.startswith(f"{field.name}.") and hasattr(field.dataType, "fields"):
            return _field_at(field.dataType, name[len(field.name) + 1 :])
    raise ResolveError(f"DESCRIBE: the table has no column {name!r}; expected one of {', '.join(struct.names)}")


def _details(statement: Statement, reference: Reference) -> list[tuple[str, str, str | None]]:
    """Return the rows of EXTENDED: metadata columns, then the facts of the table."""
    table = reference.table
    kinds = to_spark_schema(Schema(*(metadata_field(name, table.metadata) for name in _METADATA_COLUMNS)))
    rows: list[tuple[str, str, str | None]] = [_BLANK, ("# Metadata Columns", "", "")]
    rows += [(field.name, field.dataType.simpleString(), "") for field in kinds.fields]
    rows += [_BLANK, ("# Detailed Table Information", "", ""), ("Name", reference.dotted, "")]
    rows += [(key, value, "") for key, value in table_facts(reference, statement.spark).items()]
    statistics = row_statistics(table)
    return rows if statistics is None else [*rows, ("Statistics", statistics, None)]
