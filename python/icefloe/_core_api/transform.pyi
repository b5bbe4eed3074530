"""Transforms over arrays, and single values."""

import pyarrow as pa
from icefloe._core_api.arrow import ArrayLike

def bucket(array: ArrayLike, num_buckets: int) -> pa.Array:
    """Return the ``bucket[num_buckets]`` ordinal of each value: int32, null where the input is null. Spec: Appendix B."""

def truncate(array: ArrayLike, width: int) -> pa.Array:
    """Return each value truncated to ``width``, of the input's type, null where the input is null."""

def years(array: ArrayLike) -> pa.Array:
    """Return years from 1970 of dates or timestamps: int32, null where the input is null."""

def months(array: ArrayLike) -> pa.Array:
    """Return months from 1970-01 of dates or timestamps: int32, null where the input is null."""

def days(array: ArrayLike) -> pa.Array:
    """Return days from 1970-01-01 of dates or timestamps: date32, null where the input is null."""

def hours(array: ArrayLike) -> pa.Array:
    """Return hours from 1970-01-01 00:00 of timestamps: int32, null where the input is null."""

def transform(array: ArrayLike, transform: str, source_type: str) -> pa.Array:
    """Apply the transform with a name such as ``bucket[16]`` to an array of the Iceberg type ``source_type``."""

def single_value_to_bytes(type: str, json: str) -> bytes:
    """Return the binary form of a JSON single value. Spec: Appendix D."""

def single_value_from_bytes(type: str, data: bytes) -> str:
    """Return the JSON form of a binary single value. Spec: Appendix D."""

def single_values(array: ArrayLike, type: str) -> pa.Array:
    """Decode an array of binary single values, null where it is null; CorruptFileError for an invalid length.

    A long of four bytes is read as int, a double of four bytes as float: promoting a column does not rewrite its bounds. Spec:
    Appendix D.
    """

def partition_path(spec: str, schema: str, partition: str) -> str:
    """Return the directory path ``name=value/...`` of a partition tuple given as a JSON array."""
