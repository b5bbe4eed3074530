"""The check that the tasks of a row-level change wrote the rows that were counted before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationException
from icefloe.spark.writer.commit import files_deleted_on_failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from icefloe.spark.dml.target import PlannedTarget


@dataclass(frozen=True, kw_only=True)
class WrittenRows:
    """The numbers of the rows in new data files.

    Args:
        remaining: Unchanged rows of the old files.
        updated: New versions of rows.
        inserted: Other new rows.
    """

    remaining: int
    updated: int
    inserted: int

    def __str__(self) -> str:
        """Return the numbers in words."""
        return f"{self.remaining} remaining, {self.updated} updated and {self.inserted} inserted rows"


def check_both_passes(
    target: PlannedTarget, files: Sequence[pa.RecordBatch | None], *, counted: Any, written: Any
) -> None:
    """Check that Spark computed the same rows in both passes over them; delete the new files otherwise.

    A cache is no snapshot: after a lost executor or ``CLEAR CACHE``, Spark computes the rows again, which a source that is not
    deterministic does not repeat.

    Args:
        target: The table.
        files: DataFile columns of the new files; None without files.
        counted: Numbers of the rows of the first pass.
        written: Numbers of the rows of the second pass.

    Raises:
        ValidationException: The numbers differ.
    """
    if counted == written:
        return
    with files_deleted_on_failure(target.table, [batch for batch in files if batch is not None]):
        raise ValidationException(
            f"{target.operation}: the rows changed while Spark read them; expected {counted}, as in the first pass, got {written} in the "
            "second: nothing was committed. Use a source and conditions that have the same rows whenever Spark computes them, for example "
            "write the source to a table first, and run the operation again"
        )
