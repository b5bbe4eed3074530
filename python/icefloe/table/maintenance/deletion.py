"""Deletion of a table's files in bulk, after a commit that is known to have succeeded.

Content goes before manifests, manifests before manifest lists, lists before statistics: after an interruption small files remain
that name the others, and never content that nothing names.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.maintenance.display import bytes_text
from icefloe.table.maintenance.locations import is_below
from icefloe.table.maintenance.progress import MaintenanceProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from icefloe.io import FileIO

KINDS = (
    "data",
    "position_deletes",
    "equality_deletes",
    "manifest",
    "manifest_list",
    "statistics",
    "partition_statistics",
    "metadata",
    "other",
)
"""Kinds of files, in the order of their deletion."""

CONTENT_KINDS = KINDS[:3]
"""Kinds of the files that manifests name."""

FILE_SCHEMA = pa.schema([("kind", pa.string()), ("location", pa.string()), ("size", pa.int64())])
"""Files to delete: kind, location as stored, size in bytes or null if it is not recorded."""

_GROUP = 10_000


@dataclass(frozen=True)
class Deletion:
    """The outcome of a deletion.

    Attributes:
        counts: Deleted files by kind. A file that did not exist counts as deleted.
        deleted_bytes: Their bytes, as far as sizes are recorded.
        failures: `(location, reason)` of each file that could not be deleted.
        outside: Files outside of the table's locations, which were kept.
        unsized_files: The number of deleted files whose sizes are not recorded.
    """

    counts: dict[str, int] = field(default_factory=dict)
    deleted_bytes: int = 0
    failures: tuple[tuple[str, str], ...] = ()
    outside: tuple[str, ...] = ()
    unsized_files: int = 0

    @property
    def size_text(self) -> str:
        """The deleted bytes as text; `unknown size` if no size is recorded."""
        return _size_text(self.deleted_bytes, self.deleted_files, self.unsized_files)

    @property
    def deleted_files(self) -> int:
        """The number of deleted files."""
        return sum(self.counts.values())

    def with_group(self, files: pa.Table, failed: list[tuple[str, str]]) -> Deletion:
        """Return the outcome with files of one kind added, of which some could not be deleted."""
        count, counts = files.num_rows - len(failed), dict(self.counts)
        if count > 0:
            kind = files.column("kind")[0].as_py()
            counts[kind] = counts.get(kind, 0) + count
        deleted = _without(files, [location for location, _ in failed])
        return replace(
            self,
            counts=counts,
            deleted_bytes=self.deleted_bytes + total_bytes(deleted),
            unsized_files=self.unsized_files + deleted.column("size").null_count,
            failures=(*self.failures, *failed),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        return {
            "deleted_files": self.deleted_files,
            "deleted_bytes": self.deleted_bytes,
            "failures": [{"location": location, "reason": reason} for location, reason in self.failures],
            "outside_files": list(self.outside),
        }


def file_table(rows: Iterable[tuple[str, str, int | None]]) -> pa.Table:
    """Return files of `(kind, location, size)` as a table of `FILE_SCHEMA`."""
    return pa.Table.from_pylist([dict(zip(FILE_SCHEMA.names, row, strict=True)) for row in rows], FILE_SCHEMA)


def delete_files(
    io: FileIO,
    files: pa.Table,
    roots: Sequence[str],
    *,
    allow_outside: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Deletion:
    """Delete files in the order of their kinds. Failures are returned, not raised: the commit has already succeeded.

    Args:
        io: The table's storage.
        files: The files, in the columns of `FILE_SCHEMA`.
        roots: The table's locations.
        allow_outside: Whether files that are not below one of the roots are deleted too.
        progress: Called after each group with the number of files so far and of all files.

    Raises:
        KeyboardInterrupt: An interrupt (Ctrl-C), with the number of files that were deleted before.
    """
    files = files.combine_chunks()
    outside: tuple[str, ...] = ()
    if not allow_outside:
        inside = is_below(_texts(files.column("location")), roots)
        outside = tuple(files.filter(pc.invert(inside)).column("location").to_pylist())
        files = files.filter(inside)
    done = Deletion(outside=outside)
    try:
        with MaintenanceProgress(files.num_rows, "deleting", "files") as bar:
            for group in _groups(files):
                done = done.with_group(group, io.core.delete_many(group.column("location").to_pylist()))
                bar.advance(group.num_rows)
                if progress is not None:
                    progress(done.deleted_files + len(done.failures), files.num_rows)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"interrupted; at least {done.deleted_files:,} of {files.num_rows:,} files were deleted, the others are left to "
            "remove_orphan_files"
        ) from None
    return done


def _groups(files: pa.Table) -> Iterator[pa.Table]:
    """Yield the files kind by kind, at most 10,000 at a time."""
    for kind in KINDS:
        of_kind = files.filter(pc.equal(files.column("kind"), kind))
        for start in range(0, of_kind.num_rows, _GROUP):
            yield of_kind.slice(start, _GROUP)


def total_bytes(files: pa.Table) -> int:
    """Return the recorded bytes of files."""
    found: int | None = pc.sum(files.column("size")).as_py()
    return 0 if found is None else found


def size_text(files: pa.Table) -> str:
    """Return the recorded bytes of files as text; `unknown size` if there are files and no size is recorded."""
    return _size_text(total_bytes(files), files.num_rows, files.column("size").null_count)


def _size_text(size: int, files: int, unsized: int) -> str:
    return "unknown size" if 0 < files == unsized else bytes_text(size)


def _without(files: pa.Table, failed: list[str]) -> pa.Table:
    if not failed:
        return files
    return files.filter(pc.invert(pc.is_in(files.column("location"), pa.array(failed, pa.string()))))


def _texts(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks > 0 else pa.array([], pa.string())
