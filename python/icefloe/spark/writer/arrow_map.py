"""Rows given to a function as Arrow batches, whatever their columns are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class WithNames:
    """Calls a function with batches whose columns get their names back.

    Args:
        function: Takes batches and yields batches.
        names: Names of the columns that it takes.
    """

    function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    names: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield what the function does."""
        names = list(self.names)
        return self.function(pa.RecordBatch.from_arrays(batch.columns, names=names) for batch in batches)


def map_in_arrow(
    frame: DataFrame, function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: Any
) -> DataFrame:
    """Return ``frame.mapInArrow(function, schema)``, which by itself looks for a column ``a.b`` as a field of a column ``a``.

    Args:
        frame: Rows.
        function: Takes batches and yields batches.
        schema: Schema of what it yields.
    """
    names = tuple(frame.columns)
    if not any("." in name or "`" in name for name in names):
        return frame.mapInArrow(function, schema)
    plain = frame.toDF(*[f"column_{place}" for place in range(len(names))])
    return plain.mapInArrow(WithNames(function, names), schema)
