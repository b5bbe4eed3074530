"""Implicit conversion of operands, as in Spark's ANSI mode."""

from __future__ import annotations

import functools
import uuid
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clause_sql.casting import can_cast, cast
from icefloe.table.row_level.clause_sql.value import Value, computed, literal

if TYPE_CHECKING:
    from collections.abc import Sequence


def converts(value: Value, kind: pa.DataType) -> bool:
    """Return whether values convert to a type; the text or bytes of a literal may be a UUID."""
    return can_cast(value.kind, kind) or (kind == kinds.UUID and value.constant)


def coerced(value: Value, kind: pa.DataType) -> Value:
    """Return a value in a type.

    Raises:
        ValidationError: The types do not convert, or a literal is out of the type's range.
    """
    if value.kind == kind:
        return value
    if kind == kinds.UUID and value.constant:
        return _uuid(value)
    if not converts(value, kind):
        raise ValidationError(
            f"expected {kinds.name_of(kind)}, got {kinds.name_of(value.kind)}, which does not convert to {kinds.name_of(kind)}"
        )
    if value.constant:
        return literal(cast(pa.array([value.single()], value.kind), kind)[0])
    return computed(kind, lambda values: cast(values, kind), [value], can_fail=True)


def explicitly_cast(value: Value, kind: pa.DataType) -> Value:
    """Return a value in the type of a `cast`: a constant that does not fit fails where a row needs it, as `1 / 0` does.

    Raises:
        ValidationError: The types do not convert.
    """
    if value.constant and kind not in (value.kind, kinds.UUID) and can_cast(value.kind, kind):
        return computed(kind, lambda values: cast(values, kind), [value], can_fail=True)
    return coerced(value, kind)


def to_common(values: Sequence[Value]) -> list[Value]:
    """Return values in their common type; ValidationError if there is none."""
    found = functools.reduce(_wider, values[1:], values[0].kind)
    return [coerced(value, found) for value in values]


def compared(values: Sequence[Value]) -> list[Value]:
    """Return values in their common type.

    Raises:
        ValidationError: There is none, or its values have no order.
    """
    found = to_common(values)
    if not kinds.is_known(found[0].kind):
        raise ValidationError(f"comparison: expected values with an order, got {found[0].kind}; compare their fields")
    return found


def require_boolean(value: Value, where: str) -> Value:
    """Return a boolean; ValidationError for a value of any other type but null."""
    if value.kind not in (pa.bool_(), pa.null()):
        raise ValidationError(
            f"`{where}`: expected a boolean, got {kinds.name_of(value.kind)}; compare it with a value"
        )
    return coerced(value, pa.bool_())


def _wider(kind: pa.DataType, value: Value) -> pa.DataType:
    found = kinds.common(kind, value.kind)
    if found is None:
        raise ValidationError(f"{kinds.name_of(kind)} and {kinds.name_of(value.kind)} have no common type; cast one")
    return found


def _uuid(value: Value) -> Value:
    given = value.single().as_py()
    if isinstance(given, bytes) and len(given) == 16:
        return literal(pa.scalar(given, kinds.UUID))
    if given is None:
        return literal(pa.scalar(None, kinds.UUID))
    try:
        return literal(pa.scalar(uuid.UUID(given).bytes, kinds.UUID))
    except (ValueError, AttributeError, TypeError) as error:
        raise ValidationError(f"expected a uuid, got {given!r}") from error
