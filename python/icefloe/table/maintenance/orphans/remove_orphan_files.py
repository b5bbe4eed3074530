"""Removal of orphan files: files below a table's directories that nothing in the table refers to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.arguments import check_callable, checked_flag, checked_text
from icefloe.exceptions import ValidationError
from icefloe.table.environment import SYSTEM, Environment
from icefloe.table.maintenance.age import Moment, iso_time, moment_ms
from icefloe.table.maintenance.deletion import FILE_SCHEMA, delete_files
from icefloe.table.maintenance.locations import is_below, table_roots
from icefloe.table.maintenance.orphans.listing import inventory_files, listed_files
from icefloe.table.maintenance.orphans.neighbours import check_catalog, check_listing
from icefloe.table.maintenance.orphans.orphan_values import RemoveOrphanFilesPlan, RemoveOrphanFilesResult
from icefloe.table.maintenance.orphans.orphans import (
    PREFIX_MISMATCH_MODES,
    PrefixRules,
    compare,
    equal_names,
    find_orphans,
    reachable_files,
)
from icefloe.table.maintenance.plan import check_plan_kind
from icefloe.table.maintenance.table_checks import check_garbage_collection, check_plan_of, dotted_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

    from icefloe.table.commit.committing_table import CommittingTable
    from icefloe.table.maintenance.plan import Plan
    from icefloe.table.metadata import TableMetadata

DEFAULT_AGE = "3d"
_LEAST_AGE_MS = 86_400_000


class RemoveOrphanFiles:
    """Deletes files below the table's directories that no snapshot and no metadata refer to.

    Files are listed first, then the table is refreshed and its files are read, so that a commit in between is taken into account.
    Files that are younger than three days stay: a writer may be about to commit them.

    Raises:
        ValidationError: The table property `gc.enabled` is false.

    Examples:
        >>> removal = table.maintenance.remove_orphan_files()
        >>> removal.plan().is_empty
        True
        >>> removal.execute().deletion.deleted_files
        0
    """

    def __init__(self, table: CommittingTable) -> None:
        self._table = table
        check_garbage_collection(table, table.metadata, "remove orphan files")
        environment: Environment = getattr(table.catalog, "environment", SYSTEM)
        self._now_ms = environment.now_ms()
        self._older_than_ms = moment_ms(DEFAULT_AGE, self._now_ms)
        self._location: str | None = None
        self._is_outside_allowed = self._is_forced = False
        self._checks_neighbours = True
        self._mode = "error"
        self._equal_schemes: dict[str, str] = {}
        self._equal_authorities: dict[str, str] = {}
        self._inventory: Any = None
        self._progress: Callable[[int, int], None] | None = None

    def older_than(self, moment: Moment) -> Self:
        """Delete files that were last modified before a time, by default three days ago.

        Args:
            moment: A datetime (UTC if it has no time zone), ISO 8601 text, or an age such as `7d`. It must be at least 24 hours ago
                unless `force()`.
        """
        self._older_than_ms = moment_ms(moment, self._now_ms)
        return self

    def location(self, location: str, *, allow_outside: bool = False) -> Self:
        """Search one directory instead of the table's location, data path and metadata path.

        Args:
            location: The directory.
            allow_outside: Whether it may be outside of these directories, such as an earlier data path.

        Raises:
            ValidationError: The location is empty or the root of a file system.
        """
        directory = checked_text("location", location).rstrip("/")
        if directory == "" or directory.endswith(":"):
            raise ValidationError(
                f"location: expected a directory such as 's3://bucket/table', got {location!r}, which holds more than a table"
            )
        self._location, self._is_outside_allowed = directory, checked_flag("allow_outside", allow_outside)
        return self

    def prefix_mismatch_mode(self, mode: str) -> Self:
        """Set what happens to a file whose path the table refers to below another scheme or authority.

        Args:
            mode: `error` raises before anything is deleted, which is the default; `ignore` keeps such files; `delete` deletes them.
        """
        if not isinstance(mode, str) or mode.lower() not in PREFIX_MISMATCH_MODES:
            raise ValidationError(
                f"prefix_mismatch_mode: expected one of {', '.join(PREFIX_MISMATCH_MODES)}, got {mode!r}"
            )
        self._mode = mode.lower()
        return self

    def equal_schemes(self, schemes: Mapping[str, str]) -> Self:
        """Take schemes as equal: a mapping of schemes, or of several with commas between, to the scheme that stands for them."""
        self._equal_schemes |= equal_names(schemes, "equal_schemes")
        return self

    def equal_authorities(self, authorities: Mapping[str, str]) -> Self:
        """Take authorities (buckets, hosts) as equal: a mapping as for `equal_schemes`."""
        self._equal_authorities |= equal_names(authorities, "equal_authorities")
        return self

    def inventory(self, inventory: Any) -> Self:
        """Use an inventory report instead of listing the directories.

        Args:
            inventory: Arrow data with `file_path` (text), `last_modified` (timestamp) and optionally `size` in bytes. Of several rows
                for one file the newest one decides.
        """
        self._inventory = inventory
        return self

    def force(self, force: bool = True) -> Self:
        """Permit a time less than 24 hours ago. Files of a running write are deleted if they are older than the time."""
        self._is_forced = checked_flag("force", force)
        return self

    def check_neighbours(self, check: bool = True) -> Self:
        """Set whether other tables in the same directories are searched for, true by default; their files would be deleted."""
        self._checks_neighbours = checked_flag("check_neighbours", check)
        return self

    def on_progress(self, progress: Callable[[int, int], None]) -> Self:
        """Call a function with the number of deleted files and of all files to delete, after each group of files."""
        check_callable("on_progress", progress, "a function of the deleted files and all files")
        self._progress = progress
        return self

    def plan(self) -> RemoveOrphanFilesPlan:
        """List files, refresh the table's handle and return the orphan files. Nothing is deleted.

        Raises:
            ValidationError: The time is too young, a directory belongs to another table too, or schemes or authorities differ.
            IcebergError: Storage cannot be listed, or a manifest list or manifest could not be read.
        """
        self._check_age()
        roots = self._roots(self._table.metadata)
        files = (
            listed_files(self._table.io, roots) if self._inventory is None else inventory_files(self._inventory, roots)
        )
        self._table.refresh()
        metadata, location = self._table.version
        check_garbage_collection(self._table, metadata, "remove orphan files")
        if self._checks_neighbours:
            check_catalog(self._table, roots)
            check_listing(self._table, metadata, files)
        snapshot_ids = frozenset(metadata.snapshots.positions())
        reachable = reachable_files(self._table.io, metadata, location, snapshot_ids)
        prefixes = PrefixRules(self._mode, self._equal_schemes, self._equal_authorities)
        orphans = find_orphans(files, reachable, metadata, roots, self._older_than_ms, prefixes)
        return RemoveOrphanFilesPlan(
            table_name=dotted_name(self._table),
            table_uuid=str(metadata.table_uuid),
            metadata_location=location,
            snapshot_ids=snapshot_ids,
            roots=roots,
            now_ms=self._now_ms,
            older_than_ms=self._older_than_ms,
            prefixes=prefixes,
            listed_count=files.num_rows,
            ignored=orphans.ignored,
            orphans=orphans.files,
        )

    def execute(self, plan: Plan | None = None) -> RemoveOrphanFilesResult:
        """Delete the orphan files of a plan, or of a new one. The table is refreshed again, and files that a commit refers to since stay.

        Raises:
            ValidationError: The plan is of another table, or `gc.enabled` is false now.
            IcebergError: The table could not be refreshed, or a manifest could not be read. Nothing was deleted.
        """
        if plan is None:
            plan = self.plan()
        check_plan_kind(plan, RemoveOrphanFilesPlan, "remove_orphan_files")
        assert isinstance(plan, RemoveOrphanFilesPlan)
        self._table.refresh()
        check_plan_of(self._table, plan.verb, plan.table_uuid)
        metadata, location = self._table.version
        check_garbage_collection(self._table, metadata, "remove orphan files")
        orphans, spared = plan.orphans, list[str]()
        if location != plan.metadata_location:
            added = frozenset(metadata.snapshots.positions()) - plan.snapshot_ids
            reachable = reachable_files(self._table.io, metadata, location, added)
            matches = compare(reachable, _texts(orphans.column("location")), plan.prefixes)
            in_use = pc.equal(matches, 1) if plan.prefixes.mode == "delete" else pc.not_equal(matches, 0)
            spared = orphans.filter(in_use).column("location").to_pylist()
            orphans = orphans.filter(pc.invert(in_use))
        kinds = pa.array(["other"] * orphans.num_rows, pa.string())
        files = pa.table([kinds, orphans.column("location"), orphans.column("size")], schema=FILE_SCHEMA)
        deletion = delete_files(self._table.io, files, plan.roots, progress=self._progress)
        return RemoveOrphanFilesResult(plan.table_name, orphans.column("location"), deletion, tuple(spared))

    def _roots(self, metadata: TableMetadata) -> tuple[str, ...]:
        own = table_roots(metadata)
        if self._location is None:
            return own
        if not self._is_outside_allowed and not is_below([self._location], own)[0].as_py():
            raise ValidationError(
                f"table {dotted_name(self._table)}: {self._location} is outside of the table's directories {', '.join(own)}; pass "
                "allow_outside=True, or --allow-outside to the command, if no other table uses it"
            )
        return (self._location,)

    def _check_age(self) -> None:
        if self._now_ms - self._older_than_ms < _LEAST_AGE_MS and not self._is_forced:
            raise ValidationError(
                f"remove_orphan_files: older_than: expected a time at least 24 hours ago, got {iso_time(self._older_than_ms)}: running "
                "writes have files that nothing refers to yet; if no write is running, call force(), or pass --force to the command"
            )


def _texts(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks > 0 else pa.array([], pa.string())
