"""The assignments of an update: new values of columns, and of fields within structs.

A key of an update is a column, or the dotted path of a field within structs: `address`, `address.city`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from icefloe.exceptions import FeatureUnsupportedError, SchemaMismatchError, ValidationError
from icefloe.types import StructType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from icefloe.types import NestedField

    T = TypeVar("T")


@dataclass(frozen=True)
class FieldValues:
    """New values of fields within a struct, whose other fields keep their values.

    A struct that is null becomes a struct whose other fields are null, as in an UPDATE of Spark.

    Attributes:
        by_name: Field name to value; `FieldValues` for the fields of an inner struct.
    """

    by_name: dict[str, Any]


def assignments(
    values: Mapping[str, Any],
    columns: Mapping[str, T],
    fields_of: Callable[[T], Mapping[str, T] | None],
    label: str,
) -> dict[str, Any]:
    """Return the new value of each column; `FieldValues` for a column of which only fields are set.

    Args:
        values: Column name, or path of a field within structs, to value.
        columns: The table's columns: name to type.
        fields_of: Returns the fields of a struct type as name to type, None for other types.
        label: The clause in messages.

    Raises:
        SchemaMismatchError: The table has no such column or field.
        ValidationError: A column or field is set twice.

    >>> columns = {"id": "long", "place": {"city": "string", "zip": "string"}}
    >>> struct = lambda kind: kind if isinstance(kind, dict) else None
    >>> assignments({"id": "5", "place.city": "'x'"}, columns, struct, "update")
    {'id': '5', 'place': FieldValues(by_name={'city': "'x'"})}
    """
    found: dict[str, Any] = {}
    for key, value in values.items():
        _add(found, _path(key, columns, fields_of, label), value, label)
    return found


def columns_of(fields: Iterable[NestedField]) -> dict[str, Any]:
    """Return Iceberg fields as name to type."""
    return {field.name: field.field_type for field in fields}


def fields_of_struct(kind: Any) -> dict[str, Any] | None:
    """Return the fields of an Iceberg struct type as name to type; None for other types."""
    return columns_of(kind.fields) if isinstance(kind, StructType) else None


def leaves(assigned: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the value of each assignment."""
    for name, value in assigned.items():
        if isinstance(value, FieldValues):
            yield from leaves(value.by_name, (*prefix, name))
        else:
            yield (*prefix, name), value


def require_whole_columns(assigned: Mapping[str, Any], label: str) -> None:
    """Raise FeatureUnsupportedError when a field within a struct is set: an insert has no other fields to keep."""
    for path, _ in leaves(assigned):
        if len(path) > 1:
            raise FeatureUnsupportedError(
                f"{label}: an insert of the field {'.'.join(path)} is not supported; expected a value for the whole column "
                f"{path[0]!r}: take a struct column of the source, or build the struct in the source"
            )


def _path(
    key: str, columns: Mapping[str, T], fields_of: Callable[[T], Mapping[str, T] | None], label: str
) -> tuple[str, ...]:
    """Return the column and the fields that a key names; the name of a column or field may have dots."""
    if key in columns:
        return (key,)
    if not any(key.startswith(f"{name}.") for name in columns):
        raise SchemaMismatchError(
            f"{label}: the table has no column {key!r} to set; expected one of {', '.join(columns)}"
        )

    def below(path: tuple[str, ...], fields: Mapping[str, T], rest: str) -> tuple[str, ...] | SchemaMismatchError:
        if rest in fields:
            return (*path, rest)
        failures = []
        for name in (one for one in fields if rest.startswith(f"{one}.")):
            inner, remaining = fields_of(fields[name]), rest[len(name) + 1 :]
            if inner is None:
                failures.append(
                    SchemaMismatchError(
                        f"{label}: {key}: expected a struct around {remaining!r}, got {_shown(fields[name])}: set the whole column "
                        f"{(*path, name)[0]!r}"
                    )
                )
                continue
            found = below((*path, name), inner, remaining)
            if isinstance(found, tuple):
                return found
            failures.append(found)
        if failures:
            return failures[0]
        return SchemaMismatchError(
            f"{label}: {'.'.join(path)} has no field {rest!r}; expected one of {', '.join(fields)}"
        )

    found = below((), columns, key)
    if isinstance(found, SchemaMismatchError):
        raise found
    return found


def _shown(kind: Any) -> str:
    """Return a type as its engine spells it."""
    return str(kind.simpleString() if hasattr(kind, "simpleString") else kind)


def _add(found: dict[str, Any], path: tuple[str, ...], value: Any, label: str) -> None:
    for name in path[:-1]:
        inner = found.setdefault(name, FieldValues({}))
        if not isinstance(inner, FieldValues):
            raise _set_twice(path, label)
        found = inner.by_name
    if path[-1] in found:
        raise _set_twice(path, label)
    found[path[-1]] = value


def _set_twice(path: tuple[str, ...], label: str) -> ValidationError:
    return ValidationError(f"{label}: {'.'.join(path)} is set twice; expected each column or field once")
