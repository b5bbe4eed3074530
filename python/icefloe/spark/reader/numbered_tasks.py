"""The rows of a scan's tasks as a DataFrame, for each session, classic or over Spark Connect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from icefloe.spark.types.to_spark import to_arrow_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


class ReadableTask(Protocol):
    """Files that one Spark task reads."""

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows in the Arrow schema that Spark expects."""


@dataclass(frozen=True)
class NumberedTasks:
    """Read the tasks of the given numbers, for ``DataFrame.mapInArrow`` over a range of numbers.

    Args:
        tasks: All tasks of the scan.
        schema: Arrow schema of the DataFrame.
    """

    tasks: tuple[ReadableTask, ...]
    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of each task."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self.tasks[number].batches(self.schema)


def frame_of_tasks(spark: Any, tasks: Sequence[ReadableTask], struct: StructType) -> DataFrame:
    """Return the rows of tasks, each read by one Spark task.

    Args:
        spark: Session.
        tasks: Tasks of one scan.
        struct: Schema of the rows.
    """
    if not tasks:
        empty: DataFrame = spark.createDataFrame([], struct)
        return empty
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    frame: DataFrame = numbers.mapInArrow(NumberedTasks(tuple(tasks), to_arrow_schema(struct)), struct)
    return frame
