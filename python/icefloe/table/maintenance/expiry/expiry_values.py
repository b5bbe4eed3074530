"""The plan and the result of a snapshot expiry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from icefloe.table.maintenance.age import iso_time
from icefloe.table.maintenance.deletion import Deletion, size_text, total_bytes
from icefloe.table.maintenance.display import count_text
from icefloe.table.maintenance.plan import Plan, Result

if TYPE_CHECKING:
    from collections.abc import Collection

    from icefloe.table.maintenance.expiry.retention import Retention

YOUNG_MS = 6 * 3_600_000
"""The age below which running scans and writes may need the files of an expired snapshot."""
ROWS_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("name", pa.string()),
        ("snapshot_id", pa.int64()),
        ("committed_at", pa.timestamp("ms", "UTC")),
        ("expires", pa.bool_()),
        ("reason", pa.string()),
    ]
)


def young_snapshot_warnings(table_name: str, ages_ms: Collection[int]) -> tuple[str, ...]:
    """Return a warning if an expired snapshot is younger than 6 hours.

    Args:
        table_name: The table's name with dots.
        ages_ms: Ages of the expired snapshots in milliseconds.
    """
    if min(ages_ms, default=YOUNG_MS) >= YOUNG_MS:
        return ()
    return (
        f"{table_name}: snapshots younger than 6 hours expire; scans and writes that began on them fail when their files are gone",
    )


@dataclass(frozen=True)
class ExpireSnapshotsPlan(Plan):
    """The snapshots, branches and tags that an expiry removes, and the files that only they need.

    Attributes:
        table_name: The table's name with dots.
        table_uuid: The table's UUID.
        metadata_location: The metadata file of the version that the plan was made from.
        retention: Each snapshot, branch and tag with the reason for which it stays or expires.
        schema_ids: Schemas that nothing uses any more, with `clean_expired_metadata`.
        spec_ids: Partition specs that nothing uses any more, with `clean_expired_metadata`.
        files: The files to delete: `kind`, `location`, `size` in bytes, null if it is not recorded.
        outside: Files outside of the table's locations, which stay unless `allow_outside`.
        ambiguous: Files that stay because the table refers to the same path below another scheme or authority.
        unread: `(location, reason)` of manifest lists and manifests of expired snapshots that could not be read.
        now_ms: The time that ages are counted from, milliseconds since 1970-01-01 UTC.
        deletes_files: Whether the files are deleted.
        allow_outside: Whether files outside of the table's locations are deleted too.
    """

    verb: ClassVar[str] = "expire_snapshots"
    table_name: str
    table_uuid: str
    metadata_location: str
    retention: Retention
    schema_ids: tuple[int, ...]
    spec_ids: tuple[int, ...]
    files: pa.Table
    outside: tuple[str, ...]
    ambiguous: tuple[str, ...]
    unread: tuple[tuple[str, str], ...]
    now_ms: int
    deletes_files: bool
    allow_outside: bool

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning if snapshots expire that are younger than 6 hours."""
        if not self.deletes_files:
            return ()
        ages = [self.now_ms - fate.timestamp_ms for fate in self.retention.snapshots if fate.expires]
        return young_snapshot_warnings(self.table_name, ages)

    @property
    def is_empty(self) -> bool:
        """Whether nothing expires and no schema or spec is unused."""
        return not (self.retention.expired_ids or self.retention.expired_refs or self.schema_ids or self.spec_ids)

    @property
    def file_count(self) -> int:
        """The number of files to delete."""
        return len(self.files)

    @property
    def total_bytes(self) -> int:
        """The bytes of the files to delete, as far as sizes are recorded."""
        return total_bytes(self.files)

    def summary(self) -> str:
        """Return one sentence on what the plan does."""
        if self.is_empty:
            return f"{self.table_name}: nothing to expire, {count_text(len(self.retention.snapshots), 'snapshot stays', 'snapshots stay')}"
        expired, refs = len(self.retention.expired_ids), len(self.retention.expired_refs)
        parts = [f"expire {expired:,} of {count_text(len(self.retention.snapshots), 'snapshot')}"]
        if refs > 0:
            parts.append(count_text(refs, "branch or tag", "branches and tags"))
        if self.schema_ids or self.spec_ids:
            parts.append(
                f"{count_text(len(self.schema_ids) + len(self.spec_ids), 'unused schema or spec', 'unused schemas and specs')}"
            )
        verb = "delete" if self.deletes_files else "keep"
        return f"{self.table_name}: {', '.join(parts)}, {verb} {count_text(self.file_count, 'file')} of {size_text(self.files)}"

    def rows(self) -> pa.Table:
        """Return one row for each snapshot, branch and tag, and why it stays or expires."""
        times = {fate.snapshot_id: fate.timestamp_ms for fate in self.retention.snapshots}
        snapshots = [
            ("snapshot", None, fate.snapshot_id, fate.timestamp_ms, fate.expires, fate.reason)
            for fate in self.retention.snapshots
        ]
        refs = [
            (fate.type, fate.name, fate.snapshot_id, times.get(fate.snapshot_id), fate.expires, fate.reason)
            for fate in self.retention.refs
        ]
        columns = list(zip(*snapshots, *refs, strict=True)) or [()] * len(ROWS_SCHEMA)
        return pa.table(
            [pa.array(list(values), kind) for values, kind in zip(columns, ROWS_SCHEMA.types, strict=True)],
            schema=ROWS_SCHEMA,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "verb": self.verb,
            "table": self.table_name,
            "metadata_location": self.metadata_location,
            "snapshots": [
                {
                    "snapshot_id": str(fate.snapshot_id),
                    "committed_at": iso_time(fate.timestamp_ms),
                    "expires": fate.expires,
                    "reason": fate.reason,
                }
                for fate in self.retention.snapshots
            ],
            "refs": [
                {
                    "name": fate.name,
                    "type": fate.type,
                    "snapshot_id": str(fate.snapshot_id),
                    "expires": fate.expires,
                    "reason": fate.reason,
                }
                for fate in self.retention.refs
            ],
            "unused_schema_ids": list(self.schema_ids),
            "unused_spec_ids": list(self.spec_ids),
            "warnings": list(self.warnings),
            "file_count": self.file_count,
            "total_bytes": self.total_bytes,
            "outside_files": list(self.outside),
            "unread_files": [{"location": location, "reason": reason} for location, reason in self.unread],
        }


@dataclass(frozen=True)
class ExpireSnapshotsResult(Result):
    """The result of an expiry. The counts have the names of the Java procedure's columns.

    Attributes:
        table_name: The table's name with dots.
        snapshot_ids: The snapshots that were removed.
        refs: The branches and tags that were removed.
        schema_ids: The schemas that were removed.
        spec_ids: The partition specs that were removed.
        deletion: The files that were deleted, failed or stayed because they are outside of the table's locations.
        ambiguous: Files that stay because the table refers to the same path below another scheme or authority.
        unread: `(location, reason)` of files of expired snapshots that could not be read; files that only they name stay.
    """

    verb: ClassVar[str] = "expire_snapshots"
    table_name: str
    snapshot_ids: tuple[int, ...] = ()
    refs: tuple[str, ...] = ()
    schema_ids: tuple[int, ...] = ()
    spec_ids: tuple[int, ...] = ()
    deletion: Deletion = field(default_factory=Deletion)
    ambiguous: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()

    @property
    def deleted_data_files_count(self) -> int:
        """Deleted data files."""
        return self._count("data")

    @property
    def deleted_position_delete_files_count(self) -> int:
        """Deleted position delete files."""
        return self._count("position_deletes")

    @property
    def deleted_equality_delete_files_count(self) -> int:
        """Deleted equality delete files."""
        return self._count("equality_deletes")

    @property
    def deleted_manifest_files_count(self) -> int:
        """Deleted manifests."""
        return self._count("manifest")

    @property
    def deleted_manifest_lists_count(self) -> int:
        """Deleted manifest lists."""
        return self._count("manifest_list")

    @property
    def deleted_statistics_files_count(self) -> int:
        """Deleted statistics files and partition statistics files."""
        return self._count("statistics") + self._count("partition_statistics")

    @property
    def is_partial(self) -> bool:
        """Whether a file could not be read or deleted."""
        return bool(self.deletion.failures or self.unread)

    def summary(self) -> str:
        """Return one sentence on what was done."""
        parts = [
            (
                f"{self.table_name}: expired {count_text(len(self.snapshot_ids), 'snapshot')}, deleted "
                f"{count_text(self.deletion.deleted_files, 'file')} of {self.deletion.size_text}"
            )
        ]
        if self.deletion.failures:
            parts.append(f"{count_text(len(self.deletion.failures), 'file')} could not be deleted")
        if self.unread:
            parts.append(f"{count_text(len(self.unread), 'manifest or list', 'manifests and lists')} could not be read")
        if self.deletion.outside:
            parts.append(f"{count_text(len(self.deletion.outside), 'file')} outside of the table's locations stayed")
        return "; ".join(parts)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "verb": self.verb,
            "table": self.table_name,
            "snapshot_ids": [str(snapshot_id) for snapshot_id in self.snapshot_ids],
            "refs": list(self.refs),
            "schema_ids": list(self.schema_ids),
            "spec_ids": list(self.spec_ids),
            "deleted_data_files_count": self.deleted_data_files_count,
            "deleted_position_delete_files_count": self.deleted_position_delete_files_count,
            "deleted_equality_delete_files_count": self.deleted_equality_delete_files_count,
            "deleted_manifest_files_count": self.deleted_manifest_files_count,
            "deleted_manifest_lists_count": self.deleted_manifest_lists_count,
            "deleted_statistics_files_count": self.deleted_statistics_files_count,
            "unread_files": [{"location": location, "reason": reason} for location, reason in self.unread],
            "ambiguous_files": list(self.ambiguous),
            **self.deletion.as_dict(),
        }

    def _count(self, kind: str) -> int:
        return self.deletion.counts.get(kind, 0)
