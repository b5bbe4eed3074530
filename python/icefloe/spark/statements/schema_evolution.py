"""WITH SCHEMA EVOLUTION of MERGE: columns and wider types of the source, added to the table in the commit of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark_types

from icefloe.exceptions import SchemaMismatchError, ValidationError
from icefloe.spark.lexer import Cursor, split_items
from icefloe.spark.statements.column_names import column_named, folded
from icefloe.spark.types.conform import fits
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from icefloe.spark.statements.merge_clause import MergeClause
    from icefloe.table.update.schema import UpdateSchema
    from icefloe.table.write_transaction import WriteTransaction

    Path = tuple[str, ...]


class EvolvedTable(Table):
    """A table with the schema that a transaction gives it; operations on this handle are part of the transaction.

    Args:
        table: The table.
        transaction: The transaction with the change of the schema.
    """

    def __init__(self, table: Table, transaction: WriteTransaction) -> None:
        super().__init__(
            table.name(), transaction.table_metadata, table.metadata_location, table.io, table.catalog, table.config
        )
        self._transaction = transaction

    def transaction(self) -> WriteTransaction:
        """Return the transaction that has the change of the schema."""
        return self._transaction


def evolved_table(
    table: Table, source: Any, clauses: Sequence[MergeClause], names: tuple[str, str], *, case_sensitive: bool
) -> EvolvedTable:
    """Return a table with the columns that the clauses of a MERGE take from its source unchanged, and with their wider types.

    Args:
        table: The target.
        source: Spark schema of the source.
        clauses: The clauses.
        names: Names of the target and of the source in the statement.
        case_sensitive: Match names in their case.

    Raises:
        SchemaMismatchError: A column has a type that the table's type cannot be widened to.
        FeatureUnsupportedError: Iceberg has no type for a new column.
    """

    def fold(name: str) -> str:
        return folded(name, case_sensitive=case_sensitive)

    taken = {path for clause in clauses for path in _taken(clause, *names, fold)}
    part = _part_of(source, (), taken, fold, takes_all=any(clause.takes_all for clause in clauses))
    transaction = table.transaction()
    try:
        with transaction.update_schema(case_sensitive=case_sensitive) as update:
            _add(update, (), to_spark_schema(table.schema()), part, case_sensitive=case_sensitive)
    except ValidationError as error:
        raise SchemaMismatchError(
            f"MERGE WITH SCHEMA EVOLUTION: expected columns of the source in types that the table's can be widened to, got others: {error}"
        ) from error
    return EvolvedTable(table, transaction)


def _taken(clause: MergeClause, target: str, source: str, fold: Callable[[str], str]) -> Iterator[Path]:
    """Yield the columns, and fields within columns, that a clause sets to the source's column or field of the same name."""
    if clause.by_source:
        return
    pairs = list(clause.inserted or ())
    for item in split_items(clause.assignments or ""):
        cursor = Cursor(item)
        names = cursor.names()
        if cursor.accept("=") or cursor.accept("=="):
            pairs.append((names, cursor.rest()))
    for names, value in pairs:
        path = _without(tuple(map(fold, names)), fold(target))
        cursor = Cursor(value)
        if cursor.words and cursor.words[0].is_name:
            other = _without(tuple(map(fold, cursor.names())), fold(source))
            if cursor.done and other == path:
                yield path


def _without(path: Path, alias: str) -> Path:
    return path[1:] if len(path) > 1 and path[0] == alias else path


def _part_of(struct: Any, path: Path, taken: set[Path], fold: Callable[[str], str], *, takes_all: bool) -> Any:
    """Return the fields of a struct of the source that clauses take."""
    fields = []
    for field in struct.fields:
        here = (*path, fold(field.name))
        within = isinstance(field.dataType, spark_types.StructType)
        if here in taken or (takes_all and not within):
            fields.append(field)
        elif within and (takes_all or any(one[: len(here)] == here for one in taken)):
            inner = _part_of(field.dataType, here, taken, fold, takes_all=takes_all)
            fields.append(spark_types.StructField(field.name, inner, field.nullable, field.metadata))
    return spark_types.StructType(fields)


def _add(update: UpdateSchema, path: Path, old: Any, new: Any, *, case_sensitive: bool) -> None:
    """Add the fields of a new type that the old one lacks, and take its wider types, at any depth."""
    if isinstance(old, spark_types.StructType) and isinstance(new, spark_types.StructType):
        for field in new.fields:
            name = column_named(field.name, old.names, case_sensitive=case_sensitive)
            if name is None:
                update.add_column((*path, field.name), _iceberg_type(field.dataType))
            else:
                _add(update, (*path, name), old[name].dataType, field.dataType, case_sensitive=case_sensitive)
    elif isinstance(old, spark_types.ArrayType) and isinstance(new, spark_types.ArrayType):
        _add(update, (*path, "element"), old.elementType, new.elementType, case_sensitive=case_sensitive)
    elif isinstance(old, spark_types.MapType) and isinstance(new, spark_types.MapType):
        _add(update, (*path, "key"), old.keyType, new.keyType, case_sensitive=case_sensitive)
        _add(update, (*path, "value"), old.valueType, new.valueType, case_sensitive=case_sensitive)
    elif not fits(new, old):
        update.update_column(path, _iceberg_type(new))


def _iceberg_type(kind: Any) -> Any:
    return schema_from_spark(spark_types.StructType([spark_types.StructField("value", kind)])).fields[0].field_type
