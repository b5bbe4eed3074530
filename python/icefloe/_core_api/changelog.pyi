"""Changes of rows."""

from typing import final

import pyarrow as pa
from icefloe._core_api.arrow import ArrayLike, BatchLike

def plan_changes(
    before_files: BatchLike, before_deletes: BatchLike, after_files: BatchLike, after_deletes: BatchLike
) -> tuple[pa.RecordBatch, pa.RecordBatch, pa.RecordBatch]:
    """Return what one state of a table has that another has not: tasks of inserted rows, of deleted rows, their delete files.

    Both plans are of whole files. The tasks have the columns of the plans and ``marks``, like ``deletes``: of a file that both
    states have, the delete files that delete the rows in question; null for a file that only one of them has.
    """

@final
class ChangePairs:
    """Changes of which some undo each other and some are halves of updates. Only hashes of their rows are kept.

    Rows are compared by all columns, of any type; null equals null, floats are equal where their bits are.

    Args:
        keyed: Whether updates are told.
        budget: Bytes of memory for hashes; what is more goes to a temporary file, 24 bytes for each change, 40 with updates.
    """

    def __new__(cls, *, keyed: bool = False, budget: int = 67_108_864) -> ChangePairs: ...
    def begin_part(self) -> None:
        """Begin the next part of the changes; parts are numbered from 0."""

    def add(
        self, rows: BatchLike, keys: BatchLike | None = None, wanted: ArrayLike | None = None, *, deleted: bool
    ) -> None:
        """Add changes, in the order in which they were made.

        Args:
            rows: All columns of the rows.
            keys: The columns that tell which row it is; for updates.
            wanted: Which of them are told if they are left; all if None. The others take part all the same.
            deleted: Whether the rows were deleted.

        Raises:
            StorageError: The temporary file cannot be written.
        """

    def settle(self) -> SettledChanges:
        """Take out what undoes each other: each deletion one insertion of an equal row, and the other way round. Ends the adding.

        Raises:
            ValidationError: A key that is both deleted and inserted is so more than once.
        """

@final
class SettledChanges:
    """Which changes are left. Changes are numbered in the order in which they were added."""

    def count(self, first: int, count: int) -> int:
        """Return how many are left of ``count`` changes from number ``first`` on."""

    def told(self, first: int, count: int) -> tuple[pa.BooleanArray, pa.BooleanArray, pa.Int32Array]:
        """Return what is left of ``count`` changes from number ``first`` on.

        That is which of them are; and of those that are, which are halves of an update, a deletion and an insertion with the same
        key, and as changes of which part they are told: of several equal rows all as those of the first since all were last undone.
        """
