"""The Spark task of a data source that reads main, or the branch of the session's setting ``spark.wap.branch``.

Spark plans a Python data source in a process without the session's settings, which its tasks have: the plan has the files of every
branch, and each task reads those of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from icefloe.spark.reader.audit_branch import audit_branch_of_task
from icefloe.spark.reader.read_task import ReadTask
from icefloe.table.properties.definitions import WAP_ENABLED
from icefloe.table.refs import SnapshotRefType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from icefloe.table.scan import DataScan


@dataclass(frozen=True)
class AuditedTask(InputPartition):
    """The files that one Spark task reads, for each setting that the session may have.

    Args:
        main: Files of main; None if other tasks have all of them.
        branches: Files of each branch whose snapshot is another one; None if other tasks have all of them.
    """

    main: ReadTask | None
    branches: Mapping[str, ReadTask | None]

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the session's branch, or of main, as :meth:`ReadTask.batches` does."""
        branch = audit_branch_of_task()
        task = self.main if branch is None else self.branches.get(branch, self.main)
        return iter(()) if task is None else task.batches(schema)


def read_tasks(scan: DataScan, *, of_version: bool) -> Sequence[ReadTask | AuditedTask]:
    """Return the tasks of a scan.

    Args:
        scan: The scan.
        of_version: Whether the caller has chosen the version, which the session's setting then leaves as it is.
    """
    main = [ReadTask(group) for group in scan.plan_tasks()]
    metadata = scan.table_metadata
    if of_version or not WAP_ENABLED.of(metadata.properties):
        return main
    current = metadata.current_snapshot_id
    branches = {
        name: [ReadTask(group) for group in scan.use_ref(name).plan_tasks()]
        for name, ref in metadata.refs.items()
        if ref.snapshot_ref_type == SnapshotRefType.BRANCH and ref.snapshot_id != current
    }
    if not branches:
        return main
    tasks = zip_longest(main, *branches.values())
    return [AuditedTask(first, dict(zip(branches, others, strict=True))) for first, *others in tasks]
