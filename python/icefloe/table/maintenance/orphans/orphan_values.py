"""The plan and the result of a removal of orphan files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from icefloe.table.maintenance.age import iso_time
from icefloe.table.maintenance.deletion import Deletion, size_text, total_bytes
from icefloe.table.maintenance.display import count_text
from icefloe.table.maintenance.plan import Plan, Result

if TYPE_CHECKING:
    from icefloe.table.maintenance.orphans.orphans import PrefixRules

YOUNG_MS = 259_200_000
"""The age below which files may belong to a running write: three days."""
_SAMPLE = 20_000


@dataclass(frozen=True)
class RemoveOrphanFilesPlan(Plan):
    """The files below a table's directories that nothing in the table refers to.

    Attributes:
        table_name: The table's name with dots.
        table_uuid: The table's UUID.
        metadata_location: The metadata file of the version whose files were compared.
        snapshot_ids: The snapshots of that version.
        roots: The directories.
        now_ms: The time of the plan, milliseconds since 1970-01-01 UTC.
        older_than_ms: Files that were modified from this time on stay, in milliseconds since 1970-01-01 UTC.
        prefixes: How schemes and authorities were compared.
        listed_count: The number of files in the listing.
        ignored: Files that stay because the table refers to the same path below another scheme or authority.
        orphans: The orphan files: `location`, `size` in bytes or null, `last_modified_ms`.
    """

    verb: ClassVar[str] = "remove_orphan_files"
    table_name: str
    table_uuid: str
    metadata_location: str
    snapshot_ids: frozenset[int]
    roots: tuple[str, ...]
    now_ms: int
    older_than_ms: int
    prefixes: PrefixRules
    listed_count: int
    ignored: tuple[str, ...]
    orphans: pa.Table

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning if files are deleted that are younger than three days."""
        if self.is_empty or self.now_ms - self.older_than_ms >= YOUNG_MS:
            return ()
        return (
            f"{self.table_name}: files younger than 3 days are deleted; a running write loses the files that it has not committed",
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is no orphan file."""
        return self.file_count == 0

    @property
    def file_count(self) -> int:
        """The number of orphan files."""
        return len(self.orphans)

    @property
    def total_bytes(self) -> int:
        """The bytes of the orphan files whose sizes are known."""
        return total_bytes(self.orphans)

    def summary(self) -> str:
        """Return one sentence on what the plan does."""
        if self.listed_count == 0:
            return (
                f"{self.table_name}: no file was found below {', '.join(self.roots)}; expected at least the table's own files, or another "
                "spelling of the directory"
            )
        if self.is_empty:
            return (
                f"{self.table_name}: no orphan file among {count_text(self.listed_count, 'listed file')}, modified before "
                f"{iso_time(self.older_than_ms)}"
            )
        return (
            f"{self.table_name}: delete {count_text(self.file_count, 'orphan file')} of {size_text(self.orphans)}, of "
            f"{count_text(self.listed_count, 'listed file')}, modified before {iso_time(self.older_than_ms)}"
        )

    def rows(self) -> pa.Table:
        """Return one row for each orphan file."""
        reasons = pa.DictionaryArray.from_arrays(
            pa.array([0] * self.orphans.num_rows, pa.int8()), pa.array(["no snapshot refers to the file"])
        )
        modified = self.orphans.column("last_modified_ms").cast(pa.timestamp("ms", "UTC"))
        columns = [self.orphans.column("location"), self.orphans.column("size"), modified, reasons.cast(pa.string())]
        return pa.table(columns, names=["orphan_file_location", "size", "last_modified", "reason"])

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values; of more than 20,000 orphan files the first 20,000."""
        return {
            "verb": self.verb,
            "table": self.table_name,
            "metadata_location": self.metadata_location,
            "roots": list(self.roots),
            "older_than": iso_time(self.older_than_ms),
            "warnings": list(self.warnings),
            "listed_count": self.listed_count,
            "file_count": self.file_count,
            "total_bytes": self.total_bytes,
            "ignored_files": list(self.ignored),
            "orphan_file_locations": self.orphans.column("location").slice(0, _SAMPLE).to_pylist(),
        }


@dataclass(frozen=True)
class RemoveOrphanFilesResult(Result):
    """The orphan files of a table and the outcome of their deletion.

    Attributes:
        table_name: The table's name with dots.
        orphan_file_locations: The orphan files, as one column of text.
        deletion: Deleted files, and failures.
        spared: Files of the plan that stayed because a commit since then refers to them.
    """

    verb: ClassVar[str] = "remove_orphan_files"
    table_name: str
    orphan_file_locations: pa.ChunkedArray
    deletion: Deletion = field(default_factory=Deletion)
    spared: tuple[str, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether a file could not be deleted."""
        return bool(self.deletion.failures)

    def summary(self) -> str:
        """Return one sentence on what was done."""
        parts = [
            (
                f"{self.table_name}: deleted {count_text(self.deletion.deleted_files, 'orphan file')} of "
                f"{self.deletion.size_text}"
            )
        ]
        if self.deletion.failures:
            parts.append(f"{count_text(len(self.deletion.failures), 'file')} could not be deleted")
        if self.spared:
            parts.append(f"{count_text(len(self.spared), 'file')} stayed, since a commit refers to them")
        return "; ".join(parts)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values; of more than 20,000 orphan files the first 20,000."""
        return {
            "verb": self.verb,
            "table": self.table_name,
            "orphan_file_locations": self.orphan_file_locations.slice(0, _SAMPLE).to_pylist(),
            "spared_files": list(self.spared),
            **self.deletion.as_dict(),
        }
