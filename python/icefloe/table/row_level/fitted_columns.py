"""Columns in the types of the table's columns."""

from __future__ import annotations

import pyarrow as pa

from icefloe.exceptions import SchemaMismatchError


def fitted(values: pa.ChunkedArray, field: pa.Field, label: str = "merge") -> pa.ChunkedArray:
    """Return a column in the type of a field.

    Raises:
        SchemaMismatchError: A value cannot be converted without loss.
    """
    if values.type == field.type:
        return values
    try:
        return values.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise SchemaMismatchError(
            f"{label}: a value does not fit column {field.name!r}; expected {field.type}, got {values.type} ({error}): "
            "cast the value"
        ) from error
