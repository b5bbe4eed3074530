"""The Spark task that reads a group of a plan's tasks, in the Arrow types that Spark requires."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """Return a batch in the Arrow schema that Spark expects: uuid becomes text, fixed becomes binary.

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
    if pa.types.is_string(wanted) and _is_fixed(values.type):
        return uuid_to_text(values)
    return values.cast(wanted)


def _is_fixed(data_type: pa.DataType) -> bool:
    storage = data_type.storage_type if isinstance(data_type, pa.BaseExtensionType) else data_type
    return bool(pa.types.is_fixed_size_binary(storage))
