"""Snapshot expiry: removal of snapshots, and of the files that only they need. Spec: Snapshot Retention Policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.arguments import check_callable, checked_flag, checked_integer, checked_snapshot_id
from icefloe.exceptions import IcebergError, ValidationError
from icefloe.table.commit.transaction import Transaction
from icefloe.table.environment import SYSTEM, Environment
from icefloe.table.maintenance.age import Age, Moment, age_ms, moment_ms
from icefloe.table.maintenance.deletion import delete_files
from icefloe.table.maintenance.expiry.change import ExpireChange, Expiry, planned_expiry
from icefloe.table.maintenance.expiry.expiry_values import ExpireSnapshotsPlan, ExpireSnapshotsResult
from icefloe.table.maintenance.expiry.retention import RetentionRules, retention
from icefloe.table.maintenance.locations import is_below, table_roots
from icefloe.table.maintenance.plan import check_plan_kind
from icefloe.table.maintenance.snapshot_files import unused_files, unused_schemas, unused_specs
from icefloe.table.maintenance.table_checks import check_garbage_collection, check_plan_of, dotted_name
from icefloe.table.update import update_table_metadata

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from icefloe.table.commit.committing_table import CommittingTable
    from icefloe.table.maintenance.plan import Plan
    from icefloe.table.metadata import TableMetadata


class ExpireSnapshots:
    """Removes snapshots and the files that only they need.

    Without arguments the table properties `history.expire.*` decide, and the settings of branches and tags before them. Naming
    snapshots by `by_id` or `by_ids` alone removes these only.

    Raises:
        ValidationError: The table property `gc.enabled` is false.

    Examples:
        >>> expiry = table.maintenance.expire_snapshots().older_than("1h").retain_last(2)
        >>> print(expiry.plan().summary())
        examples.t: nothing to expire, 1 snapshot stays
        >>> expiry.execute().deleted_data_files_count
        0
    """

    def __init__(self, table: CommittingTable) -> None:
        self._table = table
        check_garbage_collection(table, table.metadata, "expire snapshots")
        environment: Environment = getattr(table.catalog, "environment", SYSTEM)
        self._rules = RetentionRules(now_ms=environment.now_ms(), by_age=False)
        self._has_ids = self._has_age = False
        self._clean_metadata = self._allow_outside = False
        self._delete_files = True
        self._progress: Callable[[int, int], None] | None = None

    def by_id(self, snapshot_id: int) -> Self:
        """Expire a snapshot, whatever its age.

        Raises:
            ValidationError: There is no such snapshot, or it is the head of a branch or tag.
        """
        return self.by_ids([snapshot_id])

    def by_ids(self, snapshot_ids: Iterable[int]) -> Self:
        """Expire snapshots, whatever their age.

        Raises:
            ValidationError: A snapshot does not exist, or is the head of a branch or tag.
        """
        if isinstance(snapshot_ids, str | bytes | Mapping) or not isinstance(snapshot_ids, Iterable):
            raise ValidationError(f"snapshot_ids: expected the ids of snapshots, got {snapshot_ids!r}")
        named = frozenset(checked_snapshot_id(one) for one in snapshot_ids)
        unknown = named - self._table.metadata.snapshots.positions().keys()
        if unknown:
            raise ValidationError(f"table {self._name()}: there is no snapshot {min(unknown)} to expire")
        rules = replace(self._rules, snapshot_ids=self._rules.snapshot_ids | named)
        retention(self._table.metadata, replace(rules, by_age=False))
        self._rules, self._has_ids = rules, True
        return self

    def older_than(self, moment: Moment) -> Self:
        """Expire snapshots from before a time, on branches that have no maximal age of their own.

        Args:
            moment: A datetime (UTC if it has no time zone), ISO 8601 text, or an age such as `7d`. A snapshot of exactly this time stays.
        """
        self._rules = replace(self._rules, older_than_ms=moment_ms(moment, self._rules.now_ms))
        self._has_age = True
        return self

    def retain_last(self, count: int) -> Self:
        """Keep the last snapshots of each branch that has no number of its own, whatever their age.

        Raises:
            ValidationError: The number is below 1.
        """
        number = checked_integer("retain_last", count, 1)
        self._rules, self._has_age = replace(self._rules, retain_last=number), True
        return self

    def max_ref_age(self, age: Age) -> Self:
        """Remove branches and tags without a maximal age of their own whose snapshot is older; `main` always stays."""
        self._rules, self._has_age = replace(self._rules, max_ref_age_ms=age_ms(age, "max_ref_age")), True
        return self

    def clean_expired_metadata(self, clean: bool = True) -> Self:
        """Also remove schemas and partition specs that no remaining snapshot needs to be read."""
        self._clean_metadata = checked_flag("clean_expired_metadata", clean)
        return self

    def delete_files(self, delete: bool = True) -> Self:
        """Set whether files are deleted, true by default; if not, they are left to `remove_orphan_files`."""
        self._delete_files = checked_flag("delete_files", delete)
        return self

    def allow_outside(self, allow: bool = True) -> Self:
        """Also delete files outside of the table's locations, such as files of `add_files`, which stay by default."""
        self._allow_outside = checked_flag("allow_outside", allow)
        return self

    def on_progress(self, progress: Callable[[int, int], None]) -> Self:
        """Call a function with the number of deleted files and of all files to delete, after each group of files."""
        check_callable("on_progress", progress, "a function of the deleted files and all files")
        self._progress = progress
        return self

    def plan(self) -> ExpireSnapshotsPlan:
        """Return what would be removed and deleted, for the version of the table's handle. Nothing changes.

        Raises:
            ValidationError: A named snapshot is the head of a branch or tag.
            IcebergError: A manifest list or manifest of a remaining snapshot could not be read.
        """
        before, location = self._table.version
        expiry = self._expiry(before)
        after = update_table_metadata(before, expiry.updates(), now_ms=self._rules.now_ms)
        unused = unused_files(self._table.io, before, after)
        files, outside = unused.files, tuple[str, ...]()
        if not self._allow_outside:
            inside = is_below(files.column("location").combine_chunks(), table_roots(before))
            outside = tuple(files.filter(pc.invert(inside)).column("location").to_pylist())
            files = files.filter(inside)
        return ExpireSnapshotsPlan(
            table_name=self._name(),
            table_uuid=str(before.table_uuid),
            metadata_location=location,
            retention=expiry.retention,
            schema_ids=expiry.schema_ids,
            spec_ids=expiry.spec_ids,
            files=files,
            outside=outside,
            ambiguous=unused.ambiguous,
            unread=unused.unread,
            now_ms=self._rules.now_ms,
            deletes_files=self._delete_files,
            allow_outside=self._allow_outside,
        )

    def execute(self, plan: Plan | None = None) -> ExpireSnapshotsResult:
        """Remove the snapshots in one commit, then delete the files.

        What expires is computed again for every attempt of the commit; with a plan exactly its snapshots expire, and no file is
        deleted that is not in the plan. All branches and tags must be unchanged when the commit is applied.

        Raises:
            CommitFailedException: Concurrent commits won more often than `commit.retry.num-retries` allows. Nothing has changed.
            CommitStateUnknownException: The outcome of the commit is unknown. No file was deleted.
            ValidationError: The plan is of another table.
            ValidationException: A snapshot, branch, tag, schema or spec of the plan has changed since.
        """
        if plan is not None:
            check_plan_kind(plan, ExpireSnapshotsPlan, "expire_snapshots")
            assert isinstance(plan, ExpireSnapshotsPlan)
            check_plan_of(self._table, plan.verb, plan.table_uuid)
            self._delete_files, self._allow_outside = plan.deletes_files, plan.allow_outside
            planned = Expiry(plan.retention, plan.schema_ids, plan.spec_ids)
            change = ExpireChange(lambda base: planned_expiry(planned, base, self._table.io))
        else:
            change = ExpireChange(self._expiry)
        transaction = Transaction(self._table)
        transaction.apply(change)
        transaction.commit_transaction()
        assert change.base is not None, "a change that was applied is staged"
        assert change.expiry is not None, "a change that was applied is staged"
        return self._clean(change.base, change.expiry, plan)

    def commit(self) -> ExpireSnapshotsResult:
        """Do the same as `execute`."""
        return self.execute()

    def _expiry(self, metadata: TableMetadata) -> Expiry:
        check_garbage_collection(self._table, metadata, "expire snapshots")
        rules = replace(self._rules, by_age=self._has_age or not self._has_ids)
        existing = metadata.snapshots.positions().keys()
        rules = replace(rules, snapshot_ids=rules.snapshot_ids & existing)
        found = retention(metadata, rules)
        if not self._clean_metadata:
            return Expiry(found)
        remaining = existing - set(found.expired_ids)
        io = self._table.io
        return Expiry(found, unused_schemas(io, metadata, remaining), unused_specs(io, metadata, remaining))

    def _clean(self, before: TableMetadata, expiry: Expiry, plan: ExpireSnapshotsPlan | None) -> ExpireSnapshotsResult:
        """Delete the files of the snapshots that the commit removed, against the version of the table that is current now."""
        result = ExpireSnapshotsResult(
            table_name=self._name(),
            snapshot_ids=expiry.retention.expired_ids,
            refs=expiry.retention.expired_refs,
            schema_ids=expiry.schema_ids,
            spec_ids=expiry.spec_ids,
        )
        if not self._delete_files or not expiry.retention.expired_ids:
            return result
        try:
            self._table.refresh()
            after = self._table.metadata
            if set(expiry.retention.expired_ids) & after.snapshots.positions().keys():
                raise ValidationError(f"table {self._name()}: the catalog shows a version from before the expiry")
            unused = unused_files(self._table.io, before, after)
        except IcebergError as error:
            # The commit has succeeded: without a complete view of the remaining snapshots every file stays.
            return replace(result, unread=((self._name(), str(error)),))
        files = unused.files
        if plan is not None:
            planned = pa.array([*plan.files.column("location").to_pylist(), *plan.outside], pa.string())
            files = files.filter(pc.is_in(files.column("location"), planned))
        deletion = delete_files(
            self._table.io, files, table_roots(after), allow_outside=self._allow_outside, progress=self._progress
        )
        return replace(result, deletion=deletion, ambiguous=unused.ambiguous, unread=unused.unread)

    def _name(self) -> str:
        return dotted_name(self._table)
