"""Changes of rows. They are in the order in which they were made; ``deleted`` tells deletions from insertions."""

import pyarrow as pa
from icefloe._core_api.arrow import ArrayLike, BatchLike

def net_changes(rows: BatchLike, deleted: ArrayLike) -> pa.BooleanArray:
    """Return which changes are left once those of equal rows that undo each other are taken out.

    Rows are compared by all columns, of any type; null equals null. Each deletion undoes one insertion, and the other way round.
    """

def row_updates(keys: BatchLike, deleted: ArrayLike) -> pa.BooleanArray:
    """Return which changes are halves of an update: a deletion and an insertion with the same key.

    Raises:
        ValidationError: A key that is both deleted and inserted is so more than once.
    """
