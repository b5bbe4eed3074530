"""Producing one snapshot: its manifests, manifest list and summary.

The snapshot id and the manifests of added files stay the same over all attempts. A retry filters and merges the manifests of the
newer head and writes a new manifest list, since these depend on the head.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.arguments import checked_text
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.io.arrow_values import int_scalar
from icefloe.table.commit.derived_requirements import requirements_of
from icefloe.table.commit.manifest_writer import DATA, DELETES, ManifestWriter
from icefloe.table.commit.removed_files import RemovedFiles, may_list
from icefloe.table.commit.repeated_files import without_repeated
from icefloe.table.commit.summary import (
    change_metrics,
    changed_partitions,
    file_columns,
    partition_metrics,
    summary_properties,
)
from icefloe.table.commit.unused_deletes import Removal, unused_deletes
from icefloe.table.properties.definitions import MANIFEST_MERGE, PARTITION_SUMMARY_LIMIT
from icefloe.table.read_context import schema_json, spec_json
from icefloe.table.refs import SnapshotRefType
from icefloe.table.snapshots import Operation, Snapshot, Summary, update_snapshot_summaries
from icefloe.table.update import AddSnapshotUpdate, AssertPartitionSpecExists, AssertRefSnapshotId, SetSnapshotRefUpdate

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.partitioning import PartitionSpec
    from icefloe.table.commit.change import OpenTransaction, Versions
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate
    from icefloe.typedef import Properties

MAIN = "main"


@dataclass(frozen=True)
class Manifests:
    """The manifests of the new snapshot.

    Attributes:
        rows: ManifestFile columns, in the order of the list.
        removed: Files that the snapshot removes, as `file_columns` returns them.
        created: The number of manifests that the snapshot adds.
        kept: The number of the head's manifests that it lists unchanged.
        replaced: The number of the head's manifests with live files that were rewritten or merged.
    """

    rows: pa.Table
    removed: pa.Table
    created: int
    kept: int
    replaced: int


class SnapshotProducer(ABC):
    """A change that adds one snapshot to a branch.

    Args:
        transaction: The transaction that commits the change.
        branch: The branch to move; it is created from main's head if it does not exist. None stages the snapshot: its parent is
            main's head and no branch moves.
        snapshot_properties: Additional keys of the summary.
    """

    merges = False

    def __init__(
        self, transaction: OpenTransaction, branch: str | None = MAIN, snapshot_properties: Properties | None = None
    ) -> None:
        self._transaction = transaction
        check_branch_name(branch)
        self._branch = branch
        self._properties = summary_properties(snapshot_properties)
        self._environment = transaction.environment
        self.snapshot_id = self._environment.new_snapshot_id()
        self._added: list[pa.RecordBatch] = []
        self._added_deletes: list[pa.RecordBatch] = []
        self._removed: list[RemovedFiles] = []
        self._removed_deletes: list[RemovedFiles] = []
        self._covered_deletes: list[RemovedFiles] = []
        self._writer = ManifestWriter(transaction.deferring_io, self.snapshot_id, self._environment.new_uuid())
        self._current: set[str] = set()
        self._is_committed = False
        self._specs: dict[int, PartitionSpec] = {}

    # ---- building the change

    def set_summary(self, key: str, value: object) -> SnapshotProducer:
        """Add a key to the snapshot's summary.

        Raises:
            ValidationError: The key is `operation` or not text, or the value is None.
        """
        self._properties |= summary_properties({checked_text("set_summary", key): value})
        return self

    def commit(self) -> None:
        """Add the change to its transaction; one with `autocommit` commits it now. A file that was added twice is added once.

        Raises:
            ValidationError: The change was committed before, with success or not.
            CommitFailedException: Concurrent commits won more often than `commit.retry.num-retries` allows.
            CommitStateUnknownException: The outcome is unknown; nothing was cleaned up.
            ValidationException: A concurrent commit conflicts with this change.
        """
        if self._is_committed:
            # Its manifests are part of the table, or were deleted after a failure.
            raise ValidationError(
                f"commit of snapshot {self.snapshot_id}: expected one call of commit(), got a second one; begin a new change"
            )
        self._is_committed = True
        self._added = without_repeated(self._added)
        self._added_deletes = without_repeated(self._added_deletes)
        self._transaction.apply(self)

    def remove_files(self, files: RemovedFiles) -> Self:
        """Remove data files. Manifests of other partitions are not read if the partitions of all removed files are known."""
        if len(files.paths) > 0:
            self._removed.append(files)
        return self

    def remove_delete_files(self, files: RemovedFiles) -> Self:
        """Remove delete files, as `remove_files` removes data files."""
        if len(files.paths) > 0:
            self._removed_deletes.append(files)
        return self

    def drop_deletes(self, files: RemovedFiles) -> Self:
        """Drop delete files that apply to removed data files only. Unlike removed files, they may be gone when the change commits."""
        if len(files.paths) > 0:
            self._covered_deletes.append(files)
        return self

    @abstractmethod
    def operation(self) -> Operation:
        """Return the operation of the summary."""

    # ---- the protocol of a transaction's changes

    def validate(self, versions: Versions) -> None:  # noqa: B027 - appends conflict with nothing
        """Raise ValidationException if a concurrent commit conflicts with this change."""

    def stage(self, base: TableMetadata, attempt: int) -> tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]:
        """Write the snapshot's manifests and list on top of `base`; return the updates and requirements that commit it."""
        self._check_format(base)
        specs = self._spec_requirements(base)
        head = head_of(base, self._branch)
        manifests = self._manifests(base, head)
        sequence_number = base.last_sequence_number + 1 if base.format_version >= 2 else 0
        parent_id = head.snapshot_id if head is not None else None
        location = self._writer.write_list(base, manifests.rows, attempt, parent_id, sequence_number)
        self._current = {location, *manifests.rows.column("manifest_path").to_pylist()}
        snapshot = Snapshot(
            snapshot_id=self.snapshot_id,
            parent_snapshot_id=parent_id,
            sequence_number=sequence_number,
            timestamp_ms=max(self._environment.now_ms(), base.last_updated_ms),
            manifest_list=location,
            summary=self._summary(base, manifests),
            schema_id=base.current_schema_id,
        )
        updates: tuple[TableUpdate, ...] = (AddSnapshotUpdate(snapshot=snapshot),)
        if self._branch is not None:
            updates = (*updates, self._ref_update(base, self._branch))
        return updates, (*requirements_of(base, updates), *self._origin_requirement(base), *specs)

    def committed(self, table: TableMetadata) -> None:
        """Delete manifests and lists of earlier attempts that the committed snapshot does not use.

        Nothing is deleted if an earlier attempt, which the catalog reported as failed, is the one that took effect.
        """
        snapshot = table.snapshot_by_id(self.snapshot_id)
        if snapshot is not None and snapshot.manifest_list in self._current:
            self._delete([path for path in self._writer.written if path not in self._current])

    def abandoned(self) -> None:
        """Delete the manifests and lists of a change that was not committed. Data files belong to the caller."""
        self._delete(self._writer.written)

    # ---- internals

    def _delete(self, locations: list[str]) -> None:
        if locations:
            # Deletion is best effort: the outcome of the commit is decided already.
            self._transaction.io.core.delete_many(locations)

    def _check_format(self, base: TableMetadata) -> None:
        check_branch(base, self._branch)
        if self._added_deletes:
            check_delete_files(base)

    def _spec_requirements(self, base: TableMetadata) -> tuple[TableRequirement, ...]:
        """Return the requirements that the partition specs of new files exist.

        Raises:
            ValidationException: A concurrent commit removed one of them. Its id may be that of another spec by now.
        """
        files = file_columns(*self._added, *self._added_deletes)
        spec_ids = sorted(pc.unique(files.column("spec_id")).to_pylist())
        specs = base.specs()
        for spec_id in spec_ids:
            if spec_id not in specs or self._specs.setdefault(spec_id, specs[spec_id]) != specs[spec_id]:
                raise ValidationException(
                    f"cannot add files of partition spec {spec_id}: a concurrent commit removed the spec, since no file used it; "
                    "refresh the table and write the rows again"
                )
        return tuple(AssertPartitionSpecExists(spec=self._specs[spec_id]) for spec_id in spec_ids)

    def _origin_requirement(self, base: TableMetadata) -> tuple[TableRequirement, ...]:
        """Return the requirement that main has not moved if the change starts at main's head: a new branch, or a staged snapshot.

        Otherwise that head may have been replaced and expired, with files that the new snapshot refers to.
        """
        if self._branch == MAIN or self._branch in base.refs:
            return ()
        main = base.refs.get(MAIN)
        return (AssertRefSnapshotId(ref=MAIN, snapshot_id=main.snapshot_id if main is not None else None),)

    def _ref_update(self, base: TableMetadata, branch: str) -> SetSnapshotRefUpdate:
        ref = base.refs.get(branch)
        return SetSnapshotRefUpdate(
            ref_name=branch,
            type=SnapshotRefType.BRANCH,
            snapshot_id=self.snapshot_id,
            max_ref_age_ms=ref.max_ref_age_ms if ref is not None else None,
            max_snapshot_age_ms=ref.max_snapshot_age_ms if ref is not None else None,
            min_snapshots_to_keep=ref.min_snapshots_to_keep if ref is not None else None,
        )

    def _summary(self, base: TableMetadata, manifests: Manifests) -> Summary:
        added = file_columns(*self._added, *self._added_deletes)
        changes = change_metrics(added, manifests.removed)
        partitions = changed_partitions(added, manifests.removed)
        ref = base.refs.get(self._branch if self._branch is not None else MAIN)
        parent = base.snapshot_by_id(ref.snapshot_id) if ref is not None else None
        before = None if parent is None else dict(parent.summary) if parent.summary is not None else {}
        by_partition = {}
        if 0 < partitions.num_rows <= PARTITION_SUMMARY_LIMIT.of(base.properties):
            specs = {spec.spec_id: spec_json(spec) for spec in base.partition_specs}
            by_partition = partition_metrics(
                added, manifests.removed, partitions, schema=schema_json(base.schema()), specs=specs
            )
        properties = {
            **self._properties,
            **changes,
            "changed-partition-count": str(partitions.num_rows),
            **by_partition,
            "manifests-created": str(manifests.created),
            "manifests-kept": str(manifests.kept),
            "manifests-replaced": str(manifests.replaced),
            "engine-name": "icefloe",
            "engine-version": _core.__version__,
        }
        return update_snapshot_summaries(Summary(self.operation(), **properties), before)

    def _manifests(self, base: TableMetadata, head: Snapshot | None) -> Manifests:
        previous = self._writer.list_of(head)
        data, removed = self._remaining(base, _of_content(previous, DATA), self._removed)
        own_data = self._writer.add(base, DATA, self._added)
        unused = self._unused_deletes(base, previous, pa.concat_tables([data, own_data]), removed)
        own = [*self._removed_deletes, *unused]
        deletes, removed_deletes = self._remaining(base, _of_content(previous, DELETES), own)
        own_deletes = self._writer.add(base, DELETES, self._added_deletes)
        parts = [pa.concat_tables([own_data, data]), pa.concat_tables([own_deletes, deletes])]
        if self.merges:
            parts = [self._merged(base, part) for part in parts]
        rows = pa.concat_tables(parts)
        paths, before = rows.column("manifest_path"), previous.column("manifest_path")
        # A manifest that lists deleted files only is dropped, and replaced by none.
        live = before.filter(_may_have_live_files(previous))
        return Manifests(
            rows=rows,
            removed=file_columns(*removed, *removed_deletes),
            created=_count(paths, before, present=False),
            kept=_count(paths, before, present=True),
            replaced=_count(live, paths, present=False),
        )

    def _merged(self, base: TableMetadata, manifests: pa.Table) -> pa.Table:
        """Drop the manifests of one kind that list only older deleted files, and merge the others under `commit.manifest-merge.enabled`."""
        if manifests.num_rows == 0:
            return manifests
        is_own = pc.equal(manifests.column("added_snapshot_id"), int_scalar(self.snapshot_id, pa.int64()))
        live = manifests.filter(pc.or_(_may_have_live_files(manifests), is_own))
        return self._writer.merge(base, live) if MANIFEST_MERGE.of(base.properties) else live

    def _remaining(
        self, base: TableMetadata, manifests: pa.Table, removed: list[RemovedFiles]
    ) -> tuple[pa.Table, list[pa.RecordBatch]]:
        """Return manifests of one kind without some files, and the entries of these files.

        Manifests whose partitions have none of the files are not read.
        """
        if not removed:
            return manifests, []
        is_read = may_list(base, manifests, removed)
        paths = pc.unique(pa.concat_arrays([each.paths for each in removed]))
        filtered = self._writer.remove(base, manifests.filter(is_read), paths)
        both = pa.concat_tables([pa.Table.from_batches([filtered.manifests]), manifests.filter(pc.invert(is_read))])
        places = pa.concat_arrays([pc.indices_nonzero(mask) for mask in (is_read, pc.invert(is_read))])
        return both.take(pc.sort_indices(places)), [filtered.deleted]

    @property
    def _deleted_paths(self) -> list[pa.Array]:
        """The paths of the data files that the change removes."""
        return [each.paths for each in self._removed]

    def _named_deletes(self) -> list[RemovedFiles]:
        """Return the delete files that the change removes by name."""
        return self._removed_deletes

    def _unused_deletes(
        self, base: TableMetadata, previous: pa.Table, data: pa.Table, removed: list[pa.RecordBatch]
    ) -> list[RemovedFiles]:
        """Return the delete files that apply to no data file any more. Changes that remove no file keep them, as in the Java reference."""
        deletes = _of_content(previous, DELETES)
        if deletes.num_rows == 0 or not (removed or self._removed_deletes or self._covered_deletes):
            return []
        removal = Removal(remaining=data, removed=removed, covered=self._covered_deletes, named=self._named_deletes())
        unused = unused_deletes(self._writer, base, deletes, removal)
        return [unused] if len(unused.paths) > 0 else []


def _of_content(manifests: pa.Table, content: int) -> pa.Table:
    return manifests.filter(pc.equal(manifests.column("content"), int_scalar(content, pa.int32())))


def check_branch(base: TableMetadata, branch: str | None) -> None:
    """Raise ValidationError if the ref that a change is committed to is a tag, or cannot be a branch's name."""
    check_branch_name(branch)
    ref = base.refs.get(branch) if branch is not None else None
    if ref is not None and ref.snapshot_ref_type != SnapshotRefType.BRANCH:
        raise ValidationError(
            f"cannot commit to {branch!r}: expected a branch, got a tag; create a branch with manage_snapshots().create_branch()"
        )


def check_branch_name(branch: str | None) -> None:
    """Raise ValidationError if a value is neither text nor None, or is empty text."""
    if branch is not None and (not isinstance(branch, str) or branch == ""):
        raise ValidationError(f"branch: expected the name of a branch, or None to stage the snapshot, got {branch!r}")


def check_delete_files(base: TableMetadata) -> None:
    """Raise ValidationError if the table's format version has no delete files."""
    if base.format_version < 2:
        raise ValidationError(
            f"cannot write delete files: expected format version 2, got {base.format_version}; upgrade the table with "
            "transaction().upgrade_table_version(2), or rewrite data files with write.<operation>.mode=copy-on-write"
        )


def head_of(base: TableMetadata, branch: str | None) -> Snapshot | None:
    """Return the parent of a new snapshot: the branch's head, or main's if the branch does not exist or is None."""
    ref = base.refs.get(branch) if branch is not None else None
    return base.snapshot_by_id(ref.snapshot_id) if ref is not None else base.current_snapshot()


def _may_have_live_files(manifests: pa.Table) -> pa.ChunkedArray:
    """Return a boolean column: whether each manifest lists live files, or does not say."""
    files = pc.add(manifests.column("added_files_count"), manifests.column("existing_files_count"))
    return pc.or_kleene(pc.is_null(files), pc.greater(files, int_scalar(0, files.type)))


def _count(values: pa.ChunkedArray, others: pa.ChunkedArray, *, present: bool) -> int:
    found = pc.sum(pc.is_in(values, others.combine_chunks())).as_py() if len(others) > 0 else 0
    return (found or 0) if present else len(values) - (found or 0)
