"""Names of columns and fields in sessions that distinguish case."""

from __future__ import annotations

from typing import Any

from pyspark import TaskContext
from pyspark.sql import types as spark_types

from icefloe.exceptions import SchemaMismatchError
from icefloe.spark.session import CASE_SENSITIVE
from icefloe.spark.types.to_spark import to_spark_schema


def check_exact_names(given: Any, wanted: Any) -> None:
    """Check that a table has the columns of rows, and the fields within them at any depth, in the same case.

    Args:
        given: ``StructType`` of the rows.
        wanted: ``StructType`` of the table.

    Raises:
        SchemaMismatchError: The table lacks a column or field.
    """
    unknown = _first_unknown(given, wanted)
    if unknown is not None:
        name, names = unknown
        raise SchemaMismatchError(
            f"rows do not fit the table: column {name!r} is not in the table; expected one of {', '.join(names)}: the session has "
            "spark.sql.caseSensitive=true"
        )


def check_names_in_task(given: Any, schema: str) -> None:
    """Check names as :func:`check_exact_names` does if the session of this task distinguishes case.

    Spark hands the session's settings to tasks as local properties. Writers of data sources have no other access to them.

    Args:
        given: ``StructType`` of the rows.
        schema: Schema of the table as JSON.

    Raises:
        SchemaMismatchError: The table lacks a column or field.
    """
    context = TaskContext.get()
    if context is not None and context.getLocalProperty(CASE_SENSITIVE) == "true":
        check_exact_names(given, to_spark_schema(schema))


def _first_unknown(given: Any, wanted: Any) -> tuple[str, list[str]] | None:
    """Return the dotted name of the first field that the second type lacks, and the names that this has there."""
    if isinstance(given, spark_types.StructType) and isinstance(wanted, spark_types.StructType):
        for field in given.fields:
            if field.name not in wanted.names:
                return field.name, wanted.names
            below = _first_unknown(field.dataType, wanted[field.name].dataType)
            if below is not None:
                return f"{field.name}.{below[0]}", below[1]
    if isinstance(given, spark_types.ArrayType) and isinstance(wanted, spark_types.ArrayType):
        return _first_unknown(given.elementType, wanted.elementType)
    if isinstance(given, spark_types.MapType) and isinstance(wanted, spark_types.MapType):
        key = _first_unknown(given.keyType, wanted.keyType)
        return _first_unknown(given.valueType, wanted.valueType) if key is None else key
    return None
