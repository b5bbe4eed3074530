"""A table of four data files."""

from __future__ import annotations

import icefloe.spark
from icefloe.partitioning import PartitionField, PartitionSpec

ROWS = 4_000
BY_HALF = PartitionSpec(PartitionField(2, 1000, "identity", "half"))


def four_files(frame, new_table, *, mode, partitioned):
    """Return a table of the rows of a frame, with files in one partition, or in two of two files each.

    Args:
        frame: `ROWS` rows with the columns `id`, from 0, and `half`, which has two values.
        new_table: Creates a table.
        mode: Mode of deletes, updates and merges.
        partitioned: Partition by `half`.
    """
    modes = {f"write.{verb}.mode": mode for verb in ("delete", "update", "merge")}
    made = new_table(frame.schema, BY_HALF if partitioned else None, **modes)
    for start in range(0, ROWS, ROWS // 4):
        icefloe.spark.write(frame.where(f"id >= {start} and id < {start + ROWS // 4}").coalesce(1), made)
    return made


def rows_of(table):
    """Return the rows of the newest snapshot by their ids."""
    return {row["id"]: row for row in table.refresh().scan().to_arrow().to_pylist()}
