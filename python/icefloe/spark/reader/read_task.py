"""The Spark task that reads a group of a plan's tasks, in the Arrow types that Spark requires."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from icefloe.spark.types.conform import matched_names
from icefloe.spark.types.uuid_text import uuid_to_text
from icefloe.spark.worker_process import reduce_fixed_costs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.scan.task_group import TaskGroup


@dataclass(frozen=True)
class ReadTask(InputPartition):
    """The files that one Spark task reads.

    Credentials are in the task instead of in options because plans and logs show options.

    Args:
        group: Files, deletes, storage properties and selected columns.
    """

    group: TaskGroup

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows after deletes and filter.

        Args:
            schema: Arrow schema of the columns that Spark expects, in any order; their types are those of the group.
        """
        reduce_fixed_costs()
        for batch in self.group.read():
            yield exact(batch, schema)


def exact(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch in the Arrow schema that Spark expects: at any depth, uuid becomes text and fixed becomes binary.

    Columns are matched by name, exactly or else ignoring case. Values are not checked for nulls.
    """
    if batch.num_columns == 0:
        return batch
    names = matched_names(batch.schema.names, schema.names)
    arrays = [_as_type(batch.column(names[field.name]), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _as_type(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    if values.type == wanted:
        return values
    if len(values) == 0:
        return pa.array([], wanted)  # Arrays of no values may have no buffers.
    if pa.types.is_string(wanted) and _is_fixed(values.type):
        return uuid_to_text(values)
    if pa.types.is_nested(wanted) and wanted.id == values.type.id:
        return _rebuilt(values, wanted)
    return values.cast(wanted)


def _rebuilt(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return a struct, list or map with its children in other types; a cast would take the bytes of a uuid for text."""
    validity = None
    if values.null_count > 0:
        is_valid = values.is_valid().to_numpy(zero_copy_only=False)
        validity = pa.py_buffer(np.packbits(is_valid, bitorder="little"))
    if pa.types.is_struct(wanted):
        fields = [_as_type(values.field(field.name), field.type) for field in wanted]
        return pa.Array.from_buffers(wanted, len(values), [validity], children=fields)
    # A slice has the children of all rows: only the children of its own rows are converted.
    offsets = values.offsets.to_numpy()
    children = values.values.slice(offsets[0], offsets[-1] - offsets[0])
    if pa.types.is_map(wanted):
        kinds = (wanted.key_type, wanted.item_type)
        parts = [_as_type(part, kind) for part, kind in zip(children.flatten(), kinds, strict=True)]
        entries = pa.struct([wanted.key_field, wanted.item_field])
        elements = pa.Array.from_buffers(entries, len(children), [None], children=parts)
    else:
        elements = _as_type(children, wanted.value_type)
    buffers = [validity, pa.py_buffer(offsets - offsets[0])]
    return pa.Array.from_buffers(wanted, len(values), buffers, children=[elements])


def _is_fixed(data_type: pa.DataType) -> bool:
    storage = data_type.storage_type if isinstance(data_type, pa.BaseExtensionType) else data_type
    return bool(pa.types.is_fixed_size_binary(storage))
