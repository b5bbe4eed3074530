"""The rows that the tasks of a copy-on-write change get: positions, and new versions of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.spark.dml.new_rows import NEW
from icefloe.spark.dml.rewrite_tasks import SLOT
from icefloe.spark.reader.frame import replaced_by
from icefloe.spark.reader.row_location import FILE, POSITION
from icefloe.spark.types.conform import column_of, conform, conformed_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from icefloe.schema import Schema

_PLACE = (SLOT, FILE, POSITION)


@dataclass(frozen=True, kw_only=True)
class ChangedRows:
    """Changed rows of some data files, and rows to add to these files.

    Args:
        deleted: Positions of rows without a new version; None if there are none.
        updated: Positions and new versions of rows; None if there are none.
        inserted: Rows to add; None if there are none.
        inserted_rows: Number of rows to add.
    """

    deleted: DataFrame | None
    updated: DataFrame | None
    inserted: DataFrame | None
    inserted_rows: int

    @property
    def has_values(self) -> bool:
        """Whether rows have the table's columns beside their positions."""
        return self.updated is not None or self.inserted is not None

    def with_slots(self, mapping: pa.Table, slots: Sequence[int], schema: Schema) -> DataFrame:
        """Return the rows with the slots of their tasks.

        Args:
            mapping: Number and slot of each file.
            slots: All slots. Rows to add are spread over them.
            schema: The table's schema.
        """
        frames = []
        if self.updated is not None:
            values = conformed_columns(self.updated.drop(FILE, POSITION).schema, schema)
            frames.append(replaced_by(self.updated, mapping).select(*_PLACE, F.lit(True).alias(NEW), *values))
        if self.deleted is not None:
            frames.append(replaced_by(self.deleted, mapping).select(*_PLACE))
        if self.inserted is not None:
            frames.append(_without_place(conform(self.inserted, schema), slots))
        rows, *others = frames
        for frame in others:
            rows = rows.unionByName(frame, allowMissingColumns=True)
        return rows


def _without_place(rows: DataFrame, slots: Sequence[int]) -> DataFrame:
    """Return rows to add, spread over slots."""
    spread = f"int(monotonically_increasing_id() % {len(slots)}) + 1"
    place: list[Column] = [
        F.expr(f"element_at(array({', '.join(map(str, slots))}), {spread})").alias(SLOT),
        F.lit(None).cast("int").alias(FILE),
        F.lit(None).cast("bigint").alias(POSITION),
    ]
    return rows.select(*place, F.lit(True).alias(NEW), *[column_of(name) for name in rows.columns])
