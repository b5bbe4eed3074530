"""Writing rows: appends, overwrites, deletes, merges, upserts."""

from icefloe.table.write.merge import Merge, MergeResult
from icefloe.table.write.transaction import WriteTransaction
from icefloe.table.write.upsert import UpsertResult

__all__ = ["Merge", "MergeResult", "UpsertResult", "WriteTransaction"]
