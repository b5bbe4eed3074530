"""Explanations of changelog scans: snapshots and files that will be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.scan.changelog_plan import DELETE, INSERT
from icefloe.table.scan.explain import Explanation
from icefloe.table.scan.findings import KEYS, POSITIONS, Finding, byte_text, counted, selection_findings
from icefloe.table.scan.plan import with_own_deletes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from icefloe.table.scan.changelog_plan import SnapshotChanges

SHOWN_SNAPSHOTS = 20


@dataclass(frozen=True)
class ChangedFiles:
    """The data files of one kind of change of one snapshot.

    Attributes:
        snapshot_id: The snapshot.
        operation: The operation of its summary.
        change_type: `INSERT` or `DELETE`.
        files: Number of files to read.
        rows: Rows of these files.
        size: Bytes of these files.
    """

    snapshot_id: int
    operation: str
    change_type: str
    files: int
    rows: int
    size: int


@dataclass(frozen=True, repr=False)
class ChangelogExplanation(Explanation):
    """The explanation of a changelog scan: figures that print as a tree and show as HTML in notebooks.

    Attributes:
        table: Name of the table.
        snapshot_ids: The snapshots of the range, oldest first.
        row_filter: The filter, as text.
        columns: Names of the columns.
        changes: Files to read, by snapshot and kind of change; none for snapshots that change no rows.
        deletes: The delete files to read, one row each: `content`, `file_path`, `size`.
    """

    table: str
    snapshot_ids: tuple[int, ...]
    row_filter: str
    columns: tuple[str, ...]
    changes: tuple[ChangedFiles, ...]
    deletes: pa.Table

    @property
    def bytes_to_read(self) -> int:
        """Bytes of the data files and the delete files."""
        return sum(one.size for one in self.changes) + self._delete_bytes()

    def title(self) -> tuple[str, str]:  # noqa: D102  documented by Explanation
        if not self.snapshot_ids:
            return f"changes of {self.table}", "no snapshots"
        return f"changes of {self.table}", f"snapshots {self.snapshot_ids[0]} to {self.snapshot_ids[-1]}"

    def findings(self) -> list[Finding]:  # noqa: D102  documented by Explanation
        data = sum(one.size for one in self.changes)
        rows = sum(one.rows for one in self.changes)
        return [
            *selection_findings(self.row_filter, self.columns),
            self._snapshots(),
            Finding(
                "data files", f"{self._files(INSERT):,} for inserted rows, {self._files(DELETE):,} for deleted rows"
            ),
            self._delete_files(),
            Finding("bytes", f"{byte_text(data)} of data files, {byte_text(self._delete_bytes())} of delete files"),
            Finding("rows", f"at most {rows:,} to compare"),
        ]

    def _files(self, change_type: str) -> int:
        return sum(one.files for one in self.changes if one.change_type == change_type)

    def _delete_bytes(self) -> int:
        return pc.sum(self.deletes.column("size")).as_py() or 0

    def _snapshots(self) -> Finding:
        changed = len({one.snapshot_id for one in self.changes})
        words = {INSERT: "inserted", DELETE: "deleted"}
        details = [
            f"{one.snapshot_id}, {one.operation}: {counted(one.files, 'file')} for {words[one.change_type]} rows, {byte_text(one.size)}"
            for one in self.changes[:SHOWN_SNAPSHOTS]
        ]
        if len(self.changes) > SHOWN_SNAPSHOTS:
            details.append(f"and {len(self.changes) - SHOWN_SNAPSHOTS:,} more")
        total = len(self.snapshot_ids)
        return Finding("snapshots", f"{changed:,} of {total:,} changed rows", (changed, total), tuple(details))

    def _delete_files(self) -> Finding:
        kinds = [(POSITIONS, "position delete file"), (KEYS, "equality delete file")]
        contents = self.deletes.column("content")
        counts = [(pc.sum(pc.equal(contents, kind)).as_py() or 0, name) for kind, name in kinds]
        details = tuple(counted(count, name) for count, name in counts if count)
        return Finding("delete files", f"{self.deletes.num_rows:,} to apply", None, details)


def explained_changes(
    changes: Iterable[SnapshotChanges],
    table: str,
    snapshot_ids: tuple[int, ...],
    row_filter: str,
    columns: tuple[str, ...],
) -> ChangelogExplanation:
    """Return the explanation of the changes of a range of snapshots."""
    found, deletes = [], []
    for one in changes:
        for kind, plan in one.sides():
            files, own = with_own_deletes(plan.files, plan.deletes)
            rows, size = (pc.sum(files.column(name)).as_py() for name in ("record_count", "length"))
            snapshot = one.snapshot
            found.append(ChangedFiles(snapshot.snapshot_id, snapshot.operation.value, kind, files.num_rows, rows, size))
            deletes.append(own.select(["content", "file_path", "file_size_in_bytes"]))
    return ChangelogExplanation(table, snapshot_ids, row_filter, columns, tuple(found), _each_once(deletes))


def _each_once(deletes: list[pa.RecordBatch]) -> pa.Table:
    """Return each delete file once, however many changes it applies to."""
    schema = pa.schema([("content", pa.int32()), ("file_path", pa.string()), ("size", pa.int64())])
    renamed = [pa.Table.from_batches([one]).rename_columns(schema.names).cast(schema) for one in deletes]
    every = pa.concat_tables([schema.empty_table(), *renamed])
    return every.group_by(["content", "file_path", "size"], use_threads=False).aggregate([])
