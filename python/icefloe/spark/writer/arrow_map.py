"""``DataFrame.mapInArrow`` for frames whose column names have dots or backticks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class WithNames:
    """A function of batches, called with restored column names.

    Args:
        function: Function from batches to batches.
        names: Column names of the batches that it gets.
    """

    function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    names: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of the function."""
        names = list(self.names)
        return self.function(pa.RecordBatch.from_arrays(batch.columns, names=names) for batch in batches)


def map_in_arrow(
    frame: DataFrame, function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: Any
) -> DataFrame:
    """Return ``frame.mapInArrow(function, schema)``, which alone would take a column ``a.b`` for a field of a column ``a``.

    Args:
        frame: Rows.
        function: Function from batches to batches.
        schema: Schema of the batches that it yields.
    """
    names = tuple(frame.columns)
    if not any("." in name or "`" in name for name in names):
        return frame.mapInArrow(function, schema)
    plain = frame.toDF(*[f"column_{index}" for index in range(len(names))])
    return plain.mapInArrow(WithNames(function, names), schema)
