"""Changes of rows. They are in the order in which they were made; ``deleted`` tells deletions from insertions."""

import pyarrow as pa
from icefloe._core_api.arrow import ArrayLike, BatchLike

def plan_changes(
    before_files: BatchLike, before_deletes: BatchLike, after_files: BatchLike, after_deletes: BatchLike
) -> tuple[pa.RecordBatch, pa.RecordBatch, pa.RecordBatch]:
    """Return what one state of a table has that another has not: tasks of inserted rows, of deleted rows, their delete files.

    Both plans are of whole files. The tasks have the columns of the plans and ``marks``, like ``deletes``: of a file that both
    states have, the delete files that delete the rows in question; null for a file that only one of them has.
    """

def net_changes(rows: BatchLike, deleted: ArrayLike) -> pa.UInt64Array:
    """Return what is left of changes once those of equal rows that undo each other are taken out.

    Rows are compared by all columns, of any type; null equals null. Each deletion undoes one insertion, and the other way round.
    For each change that is left there is the number of the one that it is told as: the first of equal rows since all changes of them
    were last undone. The others are null.
    """

def row_updates(keys: BatchLike, deleted: ArrayLike) -> pa.BooleanArray:
    """Return which changes are halves of an update: a deletion and an insertion with the same key.

    Raises:
        ValidationError: A key that is both deleted and inserted is so more than once.
    """
