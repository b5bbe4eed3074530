"""Transforms of Arrow arrays, by the Arrow type of the array.

An input with ``__arrow_c_array__`` (a ``pyarrow.Array``, an ``arro3`` or ``nanoarrow`` array) returns a ``pyarrow.Array``; an input
with ``__arrow_c_stream__`` (a ``pyarrow.ChunkedArray``, a Polars ``Series``) returns a ``pyarrow.ChunkedArray`` with the chunks of the
input. Results have the length of the input and are null where it is null. Every encoding is accepted: dictionaries, run ends,
views, large offsets, slices. The GIL is released during the computation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa


def bucket(array: Any, num_buckets: int) -> pa.Array | pa.ChunkedArray:
    """Return the bucket of each value, an int32 in ``0..num_buckets``. Spec: Appendix B.

    Args:
        array: Array or stream of integers, decimals, dates, times, timestamps, strings or binaries.
        num_buckets: Number of buckets, from 1 to 2**31 - 1.

    Raises:
        ValidationError: ``num_buckets`` is out of range, or the specification defines no hash for the type.

    >>> import pyarrow as pa
    >>> bucket(pa.array([34, None, -1]), 16).to_pylist()
    [3, None, 8]
    """
    from icefloe import _core

    return each_chunk(array, lambda chunk: _core.bucket(chunk, num_buckets))


def truncate(array: Any, width: int) -> pa.Array | pa.ChunkedArray:
    """Return each value truncated to a width: the first characters of a string, the first bytes of a binary, a multiple below a number.

    Args:
        array: Array or stream of integers, decimals, strings or binaries. The result has the same type; int8 and int16 become int32.
        width: Width from 1 to 2**31 - 1, in characters, bytes, or units of the last digit of a decimal.

    Raises:
        ValidationError: ``width`` is out of range, or the transform does not apply to the type.

    >>> import pyarrow as pa
    >>> truncate(pa.array(["iceberg", "ice", None]), 4).to_pylist()
    ['iceb', 'ice', None]
    """
    from icefloe import _core

    return each_chunk(array, lambda chunk: _core.truncate(chunk, width))


def years(array: Any) -> pa.Array | pa.ChunkedArray:
    """Return the years from 1970 of dates or timestamps, as int32; negative before 1970.

    Raises:
        ValidationError: The values are neither dates nor timestamps.

    >>> import datetime, pyarrow as pa
    >>> years(pa.array([datetime.date(1969, 12, 31), datetime.date(2026, 1, 1), None])).to_pylist()
    [-1, 56, None]
    """
    from icefloe import _core

    return each_chunk(array, _core.years)


def months(array: Any) -> pa.Array | pa.ChunkedArray:
    """Return the months from 1970-01 of dates or timestamps, as int32; negative before 1970.

    Raises:
        ValidationError: The values are neither dates nor timestamps.

    >>> import datetime, pyarrow as pa
    >>> months(pa.array([datetime.date(1970, 3, 31)])).to_pylist()
    [2]
    """
    from icefloe import _core

    return each_chunk(array, _core.months)


def days(array: Any) -> pa.Array | pa.ChunkedArray:
    """Return the days of dates or timestamps, as date32.

    Raises:
        ValidationError: The values are neither dates nor timestamps.

    >>> import datetime, pyarrow as pa
    >>> days(pa.array([datetime.datetime(2026, 1, 31, 23, 59)])).to_pylist()
    [datetime.date(2026, 1, 31)]
    """
    from icefloe import _core

    return each_chunk(array, _core.days)


def hours(array: Any) -> pa.Array | pa.ChunkedArray:
    """Return the hours from 1970-01-01 00:00 of timestamps, as int32; negative before 1970.

    Raises:
        ValidationError: The values are not timestamps.

    >>> import datetime, pyarrow as pa
    >>> hours(pa.array([datetime.datetime(1970, 1, 2, 1, 30)])).to_pylist()
    [25]
    """
    from icefloe import _core

    return each_chunk(array, _core.hours)


def each_chunk(data: Any, function: Callable[[Any], pa.Array]) -> pa.Array | pa.ChunkedArray:
    """Return the result of a function of an array, or of each chunk of a stream of arrays.

    Raises:
        ValidationError: The data has neither Arrow interface.
    """
    if hasattr(data, "__arrow_c_array__"):
        return function(data)
    import pyarrow as pa

    if isinstance(data, pa.ChunkedArray):
        chunks = data
    elif hasattr(data, "__arrow_c_stream__"):
        chunks = pa.chunked_array(data)
    else:
        kind = type(data).__name__
        raise ValidationError(f"array: expected an Arrow array or stream, got {kind}; convert it with pyarrow.array()")
    results = [function(chunk) for chunk in chunks.iterchunks()]
    # A stream without chunks still determines the type of the result.
    return pa.chunked_array(results or [function(pa.nulls(0, chunks.type))])
