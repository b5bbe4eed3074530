"""Arrow values that are made of bytes instead of Python objects.

The first conversion of a Python object to Arrow in a process makes pyarrow import pandas where it is installed, which takes 0.5 to 1.2 seconds
of CPU. `pa.array([1])`, `pa.scalar(1)`, `pc.equal(column, 1)` and `schema.empty_table()` convert; the values of this module do not. An
append, a scan and a count use these values alone, so that the first commit of a process does not wait for pandas.
"""

from __future__ import annotations

import sys

import pyarrow as pa


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


def empty_table(schema: pa.Schema) -> pa.Table:
    """Return a table of no rows.

    Args:
        schema: Schema of the table.

    >>> empty_table(pa.schema([("id", pa.int64())])).num_rows
    0
    """
    return pa.Table.from_batches([], schema=schema)
