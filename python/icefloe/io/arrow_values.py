"""Arrow values that are made of bytes instead of Python objects.

The first conversion of a Python object to Arrow in a process makes pyarrow import pandas where it is installed, which takes 0.5 to 1.2 seconds
of CPU. `pa.array([1])`, `pa.scalar(1)`, `pc.equal(column, 1)` and `schema.empty_table()` convert; the values of this module do not. An
append, a scan and a count use these values alone, so that the first commit of a process does not wait for pandas.
"""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence


def int_scalar(value: int, data_type: pa.DataType) -> pa.Scalar:
    """Return an integer as a scalar, to compare a column with.

    Args:
        value: The number.
        data_type: A signed integer type of Arrow.

    Raises:
        OverflowError: The number is out of the range of the type.

    >>> int_scalar(7, pa.int32())
    <pyarrow.Int32Scalar: 7>
    """
    data = pa.py_buffer(value.to_bytes(data_type.bit_width // 8, sys.byteorder, signed=True))
    return pa.Array.from_buffers(data_type, 1, [None, data])[0]


def text_array(values: Sequence[str]) -> pa.Array:
    """Return texts as a string array, without nulls.

    Args:
        values: The texts.

    >>> text_array(["a", "bc"]).to_pylist()
    ['a', 'bc']
    """
    encoded = [value.encode() for value in values]
    offsets = [0]
    for value in encoded:
        offsets.append(offsets[-1] + len(value))
    buffers = [None, pa.py_buffer(struct.pack(f"={len(offsets)}i", *offsets)), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def row_numbers(count: int) -> pa.Array:
    """Return the numbers from 0 to `count` - 1 as int64.

    >>> row_numbers(3).to_pylist()
    [0, 1, 2]
    """
    one = int_scalar(1, pa.int64())
    return pc.subtract(pc.cumulative_sum(pa.repeat(one, count)), one)


def empty_table(schema: pa.Schema) -> pa.Table:
    """Return a table of no rows.

    Args:
        schema: Schema of the table.

    >>> empty_table(pa.schema([("id", pa.int64())])).num_rows
    0
    """
    return pa.Table.from_batches([], schema=schema)
