"""A group of data files while it is rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.maintenance.branch_plan import whole_files
from icefloe.table.maintenance.rewrite.live_files import LiveFiles
from icefloe.table.read_context import context_json, schema_json
from icefloe.table.scan.plan import ScanPlan, with_own_deletes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from icefloe.table.maintenance.rewrite.group_writer import GroupWriter
    from icefloe.table.maintenance.rewrite.rewrite_plan import RewriteDataFilesPlan


class FileGroup:
    """A group of a plan, its new files once they are written, and the snapshot that it was read from.

    Args:
        number: The number of the group in its plan.
        plan: The plan.
        files: Its data files, columns of a scan plan.
        deletes: The delete files that apply to them.
        start: Id and sequence number of the snapshot whose rows are read.
    """

    def __init__(
        self,
        number: int,
        plan: RewriteDataFilesPlan,
        files: pa.RecordBatch,
        deletes: pa.RecordBatch,
        start: tuple[int | None, int],
    ) -> None:
        self.number = number
        self.files = files
        self.deletes = deletes
        self.snapshot_id, self.sequence_number = start
        self.partition: str | None = plan.groups.column("partition")[number].as_py()
        self.added: pa.RecordBatch | None = None
        self.writer: Any = None
        self._plan = plan

    @property
    def total_bytes(self) -> int:
        """Bytes of the data files."""
        return int(pc.sum(self.files.column("file_size_in_bytes")).as_py() or 0)

    @property
    def record_count(self) -> int:
        """Rows of the data files, deleted rows included."""
        return int(pc.sum(self.files.column("record_count")).as_py() or 0)

    def scan(self, table: Any) -> ScanPlan:
        """Return the scan of the group's live rows."""
        metadata = table.metadata
        schema = metadata.schema()
        return ScanPlan(
            files=self.files,
            deletes=self.deletes,
            counters={},
            context=context_json(metadata, schema),
            projection=schema_json(schema),
            io=table.io,
        )

    def abandon(self) -> None:
        """Delete the group's new files, which no snapshot refers to."""
        writer: GroupWriter | None = self.writer
        self.added = None
        if writer is not None:
            writer.abandon()

    def keep(self) -> None:
        """Keep the group's new files: a snapshot refers to them, or may refer to them."""
        writer: GroupWriter | None = self.writer
        if writer is not None:
            writer.keep()

    @property
    def is_finished(self) -> bool:
        """Whether the group needs no rewrite: it has no file, or a single one without deletes."""
        files, deletes = int(self.files.num_rows), int(self.deletes.num_rows)
        return files == 0 or (files == 1 and deletes == 0)


def groups_of(plan: RewriteDataFilesPlan) -> Iterator[FileGroup]:
    """Yield the groups of a plan."""
    start = 0
    for number, count in enumerate(plan.groups.column("files").to_pylist()):
        files, deletes = with_own_deletes(plan.files.slice(start, count), plan.deletes)
        yield FileGroup(number, plan, files, deletes, (plan.snapshot_id, plan.sequence_number))
        start += count


def groups_on_head(table: Any, plan: RewriteDataFilesPlan, groups: Sequence[FileGroup]) -> list[FileGroup]:
    """Return groups with their files that are still live on the branch's head."""
    if not groups:
        return []
    head = head_of(table.metadata, plan.branch)
    if head is None:
        none = [(group.files.slice(0, 0), group.deletes.slice(0, 0)) for group in groups]
        return [FileGroup(group.number, plan, *own, (None, 0)) for group, own in zip(groups, none, strict=True)]
    start = (head.snapshot_id, head.sequence_number or 0)
    live = LiveFiles.of(whole_files(table, table.metadata, head.snapshot_id), [group.files for group in groups])
    return [FileGroup(group.number, plan, *own, start) for group, own in zip(groups, live.of_groups(), strict=True)]
