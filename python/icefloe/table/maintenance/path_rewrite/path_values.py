"""The plan and the result of rewriting the paths of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.maintenance.display import bytes_text, count_text
from icefloe.table.maintenance.plan import Plan, Result

if TYPE_CHECKING:
    from icefloe.table.maintenance.path_rewrite.prefixes import Prefixes

VERB = "rewrite_table_path"

COPIED_FILES = pa.schema(
    [
        ("kind", pa.string()),
        ("source", pa.string()),
        ("target", pa.string()),
        ("size", pa.int64()),
        ("is_rewritten", pa.bool_()),
    ]
)
"""Files of a copy: kind, location, new location, bytes (null if not recorded), and whether its content has paths that change."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RewriteTablePathPlan(Plan):
    """The files of a table that a copy at another location needs.

    Attributes:
        table_name: The table's name with dots.
        table_uuid: The table.
        prefixes: The source and the target prefix.
        staging_location: The directory of the rewritten copies and of the list of files.
        versions: Metadata files to copy, oldest first; the last one is the version that the copy has.
        snapshot_ids: The snapshots whose manifest lists are copied.
        files: The files, in the columns of `COPIED_FILES`.
        create_file_list: Whether the list of files is written.
    """

    verb: ClassVar[str] = VERB
    table_name: str
    table_uuid: str
    prefixes: Prefixes
    staging_location: str
    versions: tuple[str, ...]
    snapshot_ids: frozenset[int]
    files: pa.Table = field(repr=False)
    create_file_list: bool = True

    @property
    def is_empty(self) -> bool:
        """Always false: the metadata file is copied."""
        return False

    @property
    def file_count(self) -> int:
        """The number of files to copy."""
        return int(self.files.num_rows)

    @property
    def total_bytes(self) -> int:
        """The bytes of the files whose sizes are recorded."""
        return int(pc.sum(self.files.column("size")).as_py() or 0)

    def summary(self) -> str:
        """Return one sentence on what the plan does."""
        staged = pc.sum(self.files.column("is_rewritten")).as_py() or 0
        step = "and list" if self.create_file_list else "without a list of the"
        return (
            f"{self.table_name}: stage {count_text(staged, 'file')} with paths below {self.prefixes.target} in {self.staging_location}, "
            f"{step} {count_text(self.file_count, 'file')} of {bytes_text(self.total_bytes)} to copy"
        )

    def rows(self) -> pa.Table:
        """Return one row for each file: kind, source, target, size and `reason`."""
        reasons = pc.if_else(self.files.column("is_rewritten"), "its paths are replaced", "copied as it is")
        return self.files.drop_columns(["is_rewritten"]).append_column("reason", reasons)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "verb": self.verb,
            "table": self.table_name,
            "source_prefix": self.prefixes.source,
            "target_prefix": self.prefixes.target,
            "staging_location": self.staging_location,
            "versions": list(self.versions),
            "snapshot_ids": sorted(str(snapshot_id) for snapshot_id in self.snapshot_ids),
            "file_count": self.file_count,
            "total_bytes": self.total_bytes,
            "files": self.rows().to_pylist(),
        }


@dataclass(frozen=True, kw_only=True)
class RewriteTablePathResult(Result):
    """The staged copies of a table's metadata.

    Attributes:
        latest_version: The name of the metadata file that the copy begins with.
        file_list_location: A CSV file without a header, one line `source,target` for each file to copy; the metadata file of the
            latest version is its last line. None if no list was wanted.
        metadata_location: The location of the copy's metadata file, once the files are copied.
        rewritten_manifest_file_paths_count: Manifests that were staged.
        rewritten_delete_file_paths_count: Position delete files that were staged.
        file_count: Files to copy.
    """

    verb: ClassVar[str] = VERB
    latest_version: str
    file_list_location: str | None
    metadata_location: str
    rewritten_manifest_file_paths_count: int
    rewritten_delete_file_paths_count: int
    file_count: int

    def summary(self) -> str:
        """Return one sentence on what was done."""
        of_list = "the plan" if self.file_list_location is None else self.file_list_location
        return (
            f"{self.verb}: staged version {self.latest_version}; copy the {count_text(self.file_count, 'file')} of "
            f"{of_list}, then register {self.metadata_location}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "verb": self.verb,
            "summary": self.summary(),
            "latest_version": self.latest_version,
            "file_list_location": self.file_list_location,
            "metadata_location": self.metadata_location,
            "rewritten_manifest_file_paths_count": self.rewritten_manifest_file_paths_count,
            "rewritten_delete_file_paths_count": self.rewritten_delete_file_paths_count,
            "file_count": self.file_count,
        }
