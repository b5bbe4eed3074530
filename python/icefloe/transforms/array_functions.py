"""Transforms of Arrow arrays, by the type that the array itself has.

An array is anything with ``__arrow_c_array__`` (a ``pyarrow.Array``, an ``arro3`` or ``nanoarrow`` array) and gives a
``pyarrow.Array``; a stream is anything with ``__arrow_c_stream__`` (a ``pyarrow.ChunkedArray``, a Polars ``Series``) and gives a
``pyarrow.ChunkedArray`` with a chunk for each of its own. Results are as long as the input and null where it is null. Every
encoding is read: dictionaries, run ends, views, large offsets, slices. Other threads run meanwhile.
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
        array: Integers, decimals, dates, times, timestamps, text or bytes.
        num_buckets: How many buckets there are, in 1..=2**31 - 1.

    Raises:
        ValidationError: ``num_buckets`` is out of range, or values of this type have no bucket.

    >>> import pyarrow as pa
    >>> bucket(pa.array([34, None, -1]), 16).to_pylist()
    [3, None, 8]
    """
    from icefloe import _core

    return each_chunk(array, lambda chunk: _core.bucket(chunk, num_buckets))


def truncate(array: Any, width: int) -> pa.Array | pa.ChunkedArray:
    """Return each value cut to a width, of the input's type: text to characters, bytes to bytes, numbers down to a multiple.

    Args:
        array: Integers, decimals, text or bytes. Small integers come back as int32.
        width: The width, in 1..=2**31 - 1; of decimals in units of the last digit.

    Raises:
        ValidationError: ``width`` is out of range, or values of this type are not truncated.

    >>> import pyarrow as pa
    >>> truncate(pa.array(["iceberg", "ice", None]), 4).to_pylist()
    ['iceb', 'ice', None]
    """
    from icefloe import _core

    return each_chunk(array, lambda chunk: _core.truncate(chunk, width))


def years(array: Any) -> pa.Array | pa.ChunkedArray:
    """Return whole years from 1970 of dates or timestamps, as int32; negative before.

    Raises:
        ValidationError: The values are neither dates nor timestamps.
    """
    from icefloe import _core

    return each_chunk(array, _core.years)


def months(array: Any) -> pa.Array | pa.ChunkedArray:
    """Return whole months from 1970-01 of dates or timestamps, as int32; negative before.

    Raises:
        ValidationError: The values are neither dates nor timestamps.
    """
    from icefloe import _core

    return each_chunk(array, _core.months)


def days(array: Any) -> pa.Array | pa.ChunkedArray:
    """Return the day, as date32, of dates or timestamps.

    Raises:
        ValidationError: The values are neither dates nor timestamps.
    """
    from icefloe import _core

    return each_chunk(array, _core.days)


def hours(array: Any) -> pa.Array | pa.ChunkedArray:
    """Return whole hours from 1970-01-01 00:00 of timestamps, as int32; negative before.

    Raises:
        ValidationError: The values are not timestamps.
    """
    from icefloe import _core

    return each_chunk(array, _core.hours)


def each_chunk(data: Any, function: Callable[[Any], pa.Array]) -> pa.Array | pa.ChunkedArray:
    """Return what a function makes of an array, or of each chunk of a stream of arrays; ValidationError for anything else."""
    if hasattr(data, "__arrow_c_array__"):
        return function(data)
    import pyarrow as pa

    if isinstance(data, pa.ChunkedArray):
        chunks = data
    elif hasattr(data, "__arrow_c_stream__"):
        chunks = pa.chunked_array(data)
    else:
        kind = type(data).__name__
        raise ValidationError(
            f"array: expected an Arrow array or a stream of them, got {kind}; pyarrow.array() makes one"
        )
    results = [function(chunk) for chunk in chunks.iterchunks()]
    # Where there is no chunk, an empty array still says what type the results have.
    return pa.chunked_array(results or [function(pa.nulls(0, chunks.type))])
