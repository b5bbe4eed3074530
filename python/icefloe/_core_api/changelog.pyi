"""Changes of rows."""

from typing import final

import pyarrow as pa
from icefloe._core_api.arrow import ArrayLike, BatchLike

def plan_changes(
    before_files: BatchLike, before_deletes: BatchLike, after_files: BatchLike, after_deletes: BatchLike
) -> tuple[pa.RecordBatch, pa.RecordBatch, pa.RecordBatch]:
    """Return the difference of two states of a table: tasks of inserted rows, tasks of deleted rows, their delete files.

    Both plans are of whole files. The tasks have the columns of the plans and ``marks``, a list like ``deletes``: for a file of
    both states the delete files whose rows changed, null for a file of one state.
    """

@final
class ChangePairs:
    """Changes of which deletes and inserts of equal rows cancel and others pair up as updates. Only hashes are stored.

    Rows are compared by all columns, of any type; null equals null, floats are equal where their bits are.

    Args:
        keyed: Report a delete and an insert of the same key as an update.
        budget: Bytes of memory for hashes; more go to a temporary file. A change takes 24 bytes, 40 with updates.
    """

    def __new__(cls, *, keyed: bool = False, budget: int = 67_108_864) -> ChangePairs: ...
    def begin_part(self) -> None:
        """Begin the next part of the changes; parts are numbered from 0."""

    def add(
        self, rows: BatchLike, keys: BatchLike | None = None, wanted: ArrayLike | None = None, *, deleted: bool
    ) -> None:
        """Add changes in commit order.

        Args:
            rows: All columns of the rows.
            keys: The key columns, for updates.
            wanted: Which rows to report; all if None. The others cancel and pair as well.
            deleted: Whether the rows were deleted.

        Raises:
            StorageError: The temporary file cannot be written.
        """

    def cancel(self) -> NetChanges:
        """Cancel each delete with one insert of an equal row. No changes can be added afterwards.

        Raises:
            ValidationError: A key that is both deleted and inserted is deleted or inserted more than once.
        """

@final
class NetChanges:
    """The changes that remain after cancelling. Changes are numbered in the order of adding."""

    def count(self, first: int, count: int) -> int:
        """Return the number of net changes among ``count`` changes from number ``first`` on."""

    def rows(self, first: int, count: int) -> tuple[pa.BooleanArray, pa.BooleanArray, pa.Int32Array]:
        """Return the net rows among ``count`` changes from number ``first`` on: a mask, and two values for each row in it.

        The values are whether the row is half of an update, and the part it is reported as: equal rows are reported as part of
        the first of them since the last time that all of them cancelled.
        """
