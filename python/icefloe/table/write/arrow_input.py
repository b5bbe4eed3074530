"""Conversion of callers' data, any object that exports Arrow, to a stream or a table."""

from __future__ import annotations

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.types.arrow import storage_table


def to_stream(data: object) -> object:
    """Return data as an object with `__arrow_c_stream__`; streams are returned unread.

    Args:
        data: A pyarrow, pandas, Polars or DuckDB object, or anything else with `__arrow_c_stream__` or
            `__arrow_c_array__`.

    Raises:
        ValidationError: The data exports no Arrow stream or array, or one of a single column that is no struct.
    """
    if hasattr(data, "__arrow_c_stream__"):
        is_column = isinstance(data, pa.ChunkedArray) or hasattr(data, "dtype")
        return _rows_of_column(data) if is_column else data
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([_batch(data)])
    raise ValidationError(
        f"cannot read a {type(data).__name__} as Arrow data; pass a pyarrow table or batch reader, a pandas or Polars data frame, "
        "or an object with __arrow_c_stream__"
    )


def to_table(data: object) -> pa.Table:
    """Return data as an Arrow table, with extension types as their storage types; a stream is read to its end."""
    whole = data if isinstance(data, pa.Table) else pa.RecordBatchReader.from_stream(to_stream(data)).read_all()
    return storage_table(whole)


def _rows_of_column(data: object) -> pa.RecordBatchReader:
    """Return a column of structs as rows, such as a Series of Polars."""
    try:
        return pa.RecordBatchReader.from_stream(data)
    except pa.ArrowInvalid as error:
        raise ValidationError(
            f"cannot read a {type(data).__name__} as rows: expected named columns or a column of structs, got a single column; pass "
            f"a table or a data frame with it: {error}"
        ) from error


def _batch(data: object) -> pa.RecordBatch:
    try:
        return pa.record_batch(data)
    except (TypeError, ValueError, pa.ArrowInvalid) as error:
        raise ValidationError(
            f"cannot read a {type(data).__name__} as Arrow data: expected an array of structs from __arrow_c_array__: {error}"
        ) from error
