"""Python values as values of a column: a literal that its column cannot hold as it is, is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time
from numbers import Integral
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.expressions.literals import Literal
from icefloe.table.row_level.fitted_columns import fitted
from icefloe.types import UUIDType

if TYPE_CHECKING:
    from icefloe.types import NestedField


def literal_scalar(value: Any, kind: pa.DataType, column_field: NestedField) -> pa.Scalar:
    """Return a literal as a scalar of the storage type of a column.

    Args:
        value: A Python object, a pyarrow scalar or an icefloe literal.
        kind: The column's Arrow type.
        column_field: The column.

    Raises:
        pyarrow.ArrowException, OverflowError, TypeError, ValidationError, ValueError: The column cannot hold the value.
    """
    storage = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    if isinstance(value, pa.Scalar):
        plain = value.value if isinstance(value, pa.ExtensionScalar) else value
        return fitted(pa.chunked_array([pa.repeat(plain, 1)]), pa.field(column_field.name, storage))[0]
    if isinstance(value, Literal):
        # A literal of the column's type; dates and moments are numbers in it.
        return pa.scalar(value.to(column_field.field_type).value, storage)
    if hasattr(value, "bytes") and isinstance(column_field.field_type, UUIDType):
        value = value.bytes
    scalar = pa.scalar(value, storage)
    if not _holds(storage, scalar.as_py(), value):
        raise ValidationError(f"it would be stored as {scalar.as_py()!r}")
    return scalar


def _holds(kind: pa.DataType, stored: Any, given: Any) -> bool:
    """Return whether a stored value is the given one; floating-point numbers may be rounded."""
    if stored is None:
        return True
    if pa.types.is_struct(kind):
        values = dict(given)
        fields = {field.name: field for field in (kind.field(index) for index in range(kind.num_fields))}
        return values.keys() <= fields.keys() and all(
            _fits(field, stored[name], values.get(name)) for name, field in fields.items()
        )
    if pa.types.is_map(kind):
        pairs = list(given.items() if isinstance(given, Mapping) else given)
        return all(_fits(kind.item_field, kept[1], pair[1]) for kept, pair in zip(stored, pairs, strict=True))
    if pa.types.is_nested(kind):
        return all(_fits(kind.value_field, kept, one) for kept, one in zip(stored, given, strict=True))
    if pa.types.is_floating(kind):
        return math.isfinite(stored) or not math.isfinite(given)
    if isinstance(stored, datetime):
        return not isinstance(given, Integral)
    if isinstance(stored, date) and isinstance(given, datetime):
        return given.time() == time() and given.date() == stored
    return bool(stored in (given, getattr(given, "bytes", given)))


def _fits(field: pa.Field, stored: Any, given: Any) -> bool:
    """Return whether a value within a struct, list or map is the given one, and not null where a value is required."""
    return (field.nullable or stored is not None) and _holds(field.type, stored, given)
