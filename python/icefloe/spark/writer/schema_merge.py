"""Schema merging: columns and wider types of new rows, added to the table in the commit of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark_types

from icefloe.exceptions import SchemaMismatchError, ValidationError
from icefloe.spark.types.conform import fits, matched_names
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.spark.types.to_spark import to_spark_schema

if TYPE_CHECKING:
    from icefloe.table.write_transaction import WriteTransaction


def merge_schema(transaction: WriteTransaction, struct: Any, *, case_sensitive: bool = False) -> None:
    """Add the columns of rows that a table lacks, as optional columns, and widen the types that are too narrow for them.

    Columns are matched by name, exactly or, unless case matters, ignoring case. No column is dropped, narrowed or made optional. Columns that are void
    in the rows are left as they are.

    Args:
        transaction: The transaction, which commits the columns together with the rows.
        struct: The ``StructType`` of the rows.
        case_sensitive: Match names in their case alone.

    Raises:
        SchemaMismatchError: A column has a type that the table's type cannot be widened to.
    """
    wanted = to_spark_schema(transaction.table_metadata.schema())
    matched = {name: name for name in struct.names} if case_sensitive else matched_names(struct.names, wanted.names)
    targets = {source: wanted[target] for target, source in matched.items() if target in wanted.names}
    changed = [field for field in struct.fields if _changes(field, targets.get(field.name))]
    if not changed:
        return
    merged = schema_from_spark(spark_types.StructType([_optional(field) for field in changed]))
    try:
        with transaction.update_schema(case_sensitive=case_sensitive) as update:
            update.union_by_name(merged)
    except ValidationError as error:
        raise SchemaMismatchError(
            f"option merge-schema: expected rows of types that the table's can be widened to, got others: {error}"
        ) from error


def _changes(field: Any, target: Any) -> bool:
    """Return whether a column of the rows needs a change of the table."""
    if isinstance(field.dataType, spark_types.NullType):
        return False
    return target is None or not fits(field.dataType, target.dataType)


def _optional(field: Any) -> Any:
    return spark_types.StructField(field.name, field.dataType, True, field.metadata)
