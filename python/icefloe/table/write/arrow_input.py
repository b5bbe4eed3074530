"""Conversion of callers' data, any object that exports Arrow, to a stream or a table."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.types.arrow import storage_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_READ_BY_THE_CORE = ("icefloe", "pyarrow")
_INDEX_WITHOUT_NAME = re.compile(r"__index_level_\d+__")


def to_stream(data: object) -> object:
    """Return data as an object with `__arrow_c_stream__`; streams are returned unread.

    Args:
        data: A pyarrow, pandas, Polars or DuckDB object, or anything else with `__arrow_c_stream__` or
            `__arrow_c_array__`.

    Raises:
        ValidationError: The data exports no Arrow stream or array, or one of a single column that is no struct; or Arrow cannot hold a
            column of a pandas data frame.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _table_of_frame(data)
    if hasattr(data, "__arrow_c_stream__"):
        is_column = isinstance(data, pa.ChunkedArray) or hasattr(data, "dtype")
        return _rows_of_column(data) if is_column else data
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([_batch(data)])
    raise ValidationError(
        f"cannot read a {type(data).__name__} as Arrow data; pass a pyarrow table or batch reader, a pandas or Polars data frame, "
        "or an object with __arrow_c_stream__"
    )


def to_reader(data: object) -> pa.RecordBatchReader:
    """Return data as a reader of batches, unread. A reader is returned as it is, so that it raises its own exceptions.

    Raises:
        ValidationError: As for `to_stream`, and when a stream that is read later fails.
    """
    if isinstance(data, pa.RecordBatchReader):
        return data
    kind = type(data).__name__
    try:
        reader = pa.RecordBatchReader.from_stream(to_stream(data))
    except pa.ArrowException as error:
        raise ValidationError(f"cannot read a {kind} as Arrow data: {error}") from error
    return pa.RecordBatchReader.from_batches(reader.schema, _readable(reader, kind))


def _readable(batches: pa.RecordBatchReader, kind: str) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except pa.ArrowException as error:
        raise ValidationError(f"data: reading a {kind} failed: {error}") from error


def to_table(data: object) -> pa.Table:
    """Return data as an Arrow table, with extension types as their storage types; a stream is read to its end."""
    return storage_table(data if isinstance(data, pa.Table) else to_reader(data).read_all())


@contextmanager
def stream_to_write(data: object, columns: Collection[str]) -> Iterator[object]:
    """Yield data as a stream for the core. An exception of a reader is raised as it is; the C interface keeps its text alone.

    The index of a pandas data frame that has no name is left out: Arrow stores it as a column `__index_level_0__`.

    Args:
        data: As for `to_stream`.
        columns: The names of the table's columns, which are never left out.

    Raises:
        ValidationError: As for `to_stream`.
    """
    stream = to_stream(data)
    if type(stream).__module__.partition(".")[0] not in _READ_BY_THE_CORE:
        # Polars exports columns of type null with a buffer, which pyarrow reads and the core does not.
        stream = to_reader(stream)
    stream = without_nameless_index(stream, columns)
    if not isinstance(stream, pa.RecordBatchReader):
        yield stream
        return
    failures: list[BaseException] = []
    try:
        yield pa.RecordBatchReader.from_batches(stream.schema, _recorded(stream, failures))
    except Exception:
        if failures:
            raise failures[0] from None
        raise


def _recorded(batches: pa.RecordBatchReader, failures: list[BaseException]) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except BaseException as failure:
        failures.append(failure)
        raise


def without_nameless_index(stream: object, columns: Collection[str]) -> object:
    """Return a stream without the columns of a nameless index of pandas, unless the table has them.

    Args:
        stream: Rows; data of other types than pyarrow's is returned as it is.
        columns: The names of the table's columns.
    """
    if not isinstance(stream, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return stream
    left_out = _nameless_index(stream.schema).difference(columns)
    if not left_out:
        return stream
    kept = [position for position, name in enumerate(stream.schema.names) if name not in left_out]
    if not isinstance(stream, pa.RecordBatchReader):
        return stream.select(kept)
    schema = pa.schema([stream.schema.field(position) for position in kept])
    return pa.RecordBatchReader.from_batches(schema, (batch.select(kept) for batch in stream))


def _nameless_index(schema: pa.Schema) -> set[str]:
    stored = (schema.metadata or {}).get(b"pandas")
    if stored is None:
        return set()
    try:
        index = json.loads(stored).get("index_columns", ())
    except (ValueError, AttributeError):
        return set()
    return {name for name in index if isinstance(name, str) and _INDEX_WITHOUT_NAME.fullmatch(name)}


def _table_of_frame(frame: Any) -> pa.Table:
    """Return a pandas data frame as a table, with each index that has a name as a column.

    pyarrow leaves out a `RangeIndex`, which pandas makes of consecutive integers: `frame.set_index("id")` would lose the ids.
    """
    index = frame.index
    has_named_range = (
        type(index).__name__ == "RangeIndex" and index.name is not None and index.name not in frame.columns
    )
    try:
        return pa.Table.from_pandas(frame, preserve_index=True if has_named_range else None)
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        raise ValidationError(f"cannot read a {type(frame).__name__} as Arrow data: {error}") from error


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
