"""Data from callers: anything that exports Arrow, as a stream or as a table."""

from __future__ import annotations

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.types.arrow import storage_table


def to_stream(data: object) -> object:
    """Return data as an object with `__arrow_c_stream__`; streams are passed on and not read.

    Args:
        data: A pyarrow, pandas, Polars or DuckDB object, or anything else with `__arrow_c_stream__` or
            `__arrow_c_array__`.

    Raises:
        ValidationError: It is none of these.
    """
    if hasattr(data, "__arrow_c_stream__"):
        return data
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([_batch(data)])
    raise ValidationError(
        f"{type(data).__name__} is no Arrow data: pass a pyarrow table or batch reader, a pandas or Polars data frame, or "
        "anything else with __arrow_c_stream__"
    )


def to_table(data: object) -> pa.Table:
    """Return data as an Arrow table, reading a stream to its end; extension types as their storage."""
    whole = data if isinstance(data, pa.Table) else pa.RecordBatchReader.from_stream(to_stream(data)).read_all()
    return storage_table(whole)


def _batch(data: object) -> pa.RecordBatch:
    try:
        return pa.record_batch(data)
    except (TypeError, ValueError, pa.ArrowInvalid) as error:
        raise ValidationError(f"{type(data).__name__} exports an array that is no record batch: {error}") from error
