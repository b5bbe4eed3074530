"""SHOW CREATE TABLE: the statement that makes a table with the definition of another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark_types

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.default_collation import COLLATION
from icefloe.spark.statements.literals import literal_text
from icefloe.spark.statements.reported_properties import transformed_column, without_secrets
from icefloe.spark.types.conform import quoted
from icefloe.spark.types.to_spark import to_spark_schema

if TYPE_CHECKING:
    from icefloe.spark.statements.references import Reference
    from icefloe.spark.statements.statement import Statement
    from icefloe.table import Table

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def show_create_table(statement: Statement, text: str) -> Any:
    """Run SHOW CREATE TABLE: one row with the statement."""
    cursor = Cursor(text)
    cursor.expect("SHOW", "CREATE", "TABLE")
    name = cursor.names()
    cursor.finish()
    reference = statement.references.resolve(name)
    if reference.metadata_table is not None or reference.version:
        raise ValidationError(
            f"SHOW CREATE TABLE: a version or metadata table has no definition of its own; expected {reference.dotted}, got "
            f"{'.'.join(name)}"
        )
    return statement.spark.createDataFrame([(_statement(reference, statement.spark),)], "createtab_stmt string")


def _statement(reference: Reference, spark: Any) -> str:
    table = reference.table
    columns = ",\n".join(f"  {_field(field, ' ')}" for field in to_spark_schema(table.schema()).fields)
    name = ".".join(_name(part) for part in (reference.lake.name, *reference.identifier))
    properties = {"format-version": str(table.metadata.format_version), **table.properties}
    comment, collation = properties.pop("comment", None), properties.pop(COLLATION, None)
    # CREATE TABLE refuses these keys.
    for key in ("owner", "external"):
        properties.pop(key, None)
    lines = [f"CREATE TABLE {name} (\n{columns})", "USING iceberg"]
    partitioning = partitioning_of(table)
    lines += [f"PARTITIONED BY ({', '.join(partitioning)})"] if partitioning else []
    lines += [] if comment is None else [f"COMMENT {literal_text(comment)}"]
    lines += [] if collation is None else [f"DEFAULT COLLATION {collation}"]
    lines += [f"LOCATION {literal_text(table.location())}", "TBLPROPERTIES ("]
    shown = without_secrets(properties, spark)
    pairs = [f"  {literal_text(key)} = {literal_text(value)}" for key, value in shown.items()]
    return "\n".join(lines) + "\n" + ",\n".join(pairs) + ")"


def partitioning_of(table: Table) -> list[str]:
    """Return the partition fields as CREATE TABLE takes them; a void field is one that was dropped."""
    found = []
    for field in table.spec().fields:
        column = ".".join(_name(part) for part in (table.schema().find_column_name(field.source_id) or "").split("."))
        if str(field.transform) != "void":
            found.append(transformed_column(str(field.transform), column))
    return found


def _field(field: Any, separator: str) -> str:
    """Return a column, or a field of a struct, with its type, nullability and comment."""
    required = "" if field.nullable else " NOT NULL"
    comment = (field.metadata or {}).get("comment")
    documented = "" if comment is None else f" COMMENT {literal_text(comment)}"
    return f"{_name(field.name)}{separator}{_type(field.dataType)}{required}{documented}"


def _type(data_type: Any) -> str:
    if isinstance(data_type, spark_types.StructType):
        return f"STRUCT<{', '.join(_field(field, ': ') for field in data_type.fields)}>"
    if isinstance(data_type, spark_types.ArrayType):
        return f"ARRAY<{_type(data_type.elementType)}>"
    if isinstance(data_type, spark_types.MapType):
        return f"MAP<{_type(data_type.keyType)}, {_type(data_type.valueType)}>"
    return str(data_type.simpleString()).upper()


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name)
