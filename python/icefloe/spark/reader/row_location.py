"""Where a row of a scan is: the key of its file, and its position there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FILE = "__icefloe_file"
"""The column with the key of a row's file, or with its path."""

POSITION = "__icefloe_pos"
"""The column with the position of the row in its file, an int64 from 0."""

# The lower 31 bits of a key are the file's size, the upper bits its group.
_GROUP_STEP = 1 << 31


def file_keys(files: pa.RecordBatch) -> pa.Array:
    """Return the key of each file: its size modulo 2 GiB, plus 2 GiB for each earlier file with the same key.

    Returns:
        int64 array without nulls, one key for each row of ``files``.
    """
    sizes = files.column("file_size_in_bytes").to_numpy(zero_copy_only=False) % _GROUP_STEP
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(ordered) > 0 else np.zeros(0, dtype=bool)
    rank = np.arange(len(ordered)) - np.maximum.accumulate(np.where(first, np.arange(len(ordered)), 0))
    keys = np.empty(len(sizes), dtype=np.int64)
    keys[order] = ordered + rank * _GROUP_STEP
    return pa.array(keys)


def groups_of(keys: pa.Array) -> pa.Array:
    """Return the group of each key: files of one group have different sizes."""
    return pc.divide(keys, _GROUP_STEP)


def located_rows(relation: DataFrame, group: int) -> DataFrame:
    """Return the rows of a relation of Parquet files of one group, with :data:`FILE` and :data:`POSITION`."""
    number = f"_metadata.file_size & {_GROUP_STEP - 1}L | {group * _GROUP_STEP}L"
    return relation.selectExpr("*", f"{number} AS {FILE}", f"_metadata.row_index AS {POSITION}")
