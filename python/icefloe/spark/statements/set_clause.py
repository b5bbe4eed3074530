"""The SET clause of UPDATE and MERGE: values of columns, and of fields within structs, as one value for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark_types

from icefloe.exceptions import FeatureUnsupportedError, SchemaMismatchError, ValidationError
from icefloe.spark.lexer import Cursor, split_items
from icefloe.spark.statements.column_names import column_named
from icefloe.spark.statements.literals import literal_text
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    Fields = dict[str, "str | Fields"]


def set_values(  # noqa: PLR0913 - the parts of one clause
    text: str,
    struct: Any,
    alias: str,
    row: str,
    value_of: Callable[[str], str],
    label: str,
    *,
    case_sensitive: bool,
) -> dict[str, str]:
    """Return the new value of each column that a SET clause changes, as Spark SQL.

    Where fields of a struct are set, the other fields keep their values; a struct that is null becomes one whose other fields are null.

    Args:
        text: The assignments, between commas.
        struct: Spark schema of the table.
        alias: Name of the table that may stand before a column.
        row: SQL of the row before the change, such as `target`.
        value_of: Returns the SQL of a value as it is to be evaluated.
        label: The statement, for errors.
        case_sensitive: Match names in their case.

    Raises:
        ValidationError: A column or field is set twice, or an item is no assignment.
        SchemaMismatchError: The table has no such column or field.
        FeatureUnsupportedError: The value of a field within a struct is DEFAULT.
    """
    items = split_items(text)
    if not items:
        raise ValidationError(f"{label}: expected SET column = value, got no assignment")
    changes: Fields = {}
    for item in items:
        cursor = Cursor(item)
        path = _path(cursor.names(), struct, alias, label, case_sensitive=case_sensitive)
        if not (cursor.accept("=") or cursor.accept("==")):
            raise cursor.error("= and a value")
        if cursor.done:
            raise cursor.error("a value")
        value = cursor.rest()
        if value.upper() == "DEFAULT":
            if len(path) > 1:
                raise FeatureUnsupportedError(
                    f"{label}: SET {'.'.join(path)} = DEFAULT is not supported; expected a value: a field of a struct has no default"
                )
            value = "NULL"  # the default of every column
        _add(changes, path, value_of(value), label)
    return {name: _sql(value, struct[name].dataType, f"{row}.{quoted(name)}") for name, value in changes.items()}


def _path(parts: tuple[str, ...], struct: Any, alias: str, label: str, *, case_sensitive: bool) -> tuple[str, ...]:
    """Return the column of an assignment and the fields within it, in the table's spelling."""
    if len(parts) > 1 and column_named(parts[0], [alias], case_sensitive=case_sensitive) is not None:
        parts = parts[1:]
    kind, path = struct, list[str]()
    for part in parts:
        shown = ".".join([*path, part])
        if not isinstance(kind, spark_types.StructType):
            raise SchemaMismatchError(
                f"{label}: {shown}: expected a struct around {part!r}, got {kind.simpleString()}: set the whole column {path[0]!r}"
            )
        found = column_named(part, kind.names, case_sensitive=case_sensitive)
        if found is None:
            what = "the table has no column" if not path else f"{'.'.join(path)} has no field"
            raise SchemaMismatchError(f"{label}: {what} {part!r}; expected one of {', '.join(kind.names)}")
        path.append(found)
        kind = kind[found].dataType
    return tuple(path)


def _add(changes: Fields, path: tuple[str, ...], value: str, label: str) -> None:
    for name in path[:-1]:
        inner = changes.setdefault(name, {})
        if isinstance(inner, str):
            raise ValidationError(f"{label}: {'.'.join(path)} is set twice; expected each column once")
        changes = inner
    if path[-1] in changes:
        raise ValidationError(f"{label}: {'.'.join(path)} is set twice; expected each column once")
    changes[path[-1]] = value


def _sql(value: str | Fields, kind: Any, old: str) -> str:
    """Return the SQL of a new value: of a struct, the changed fields and the old values of the others."""
    if isinstance(value, str):
        return value
    parts = []
    for field in kind.fields:
        old_field = f"{old}.{quoted(field.name)}"
        new = f"({_sql(value[field.name], field.dataType, old_field)})" if field.name in value else old_field
        parts.append(f"{literal_text(field.name)}, {new}")
    return f"named_struct({', '.join(parts)})"
