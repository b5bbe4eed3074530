"""Cherry-picking: applying the files of one snapshot again, on top of main's head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.manifest.columns import DATA_FILE_SCHEMA
from icefloe.table.commit.concurrent_changes import ADDED, DELETED, changes_since
from icefloe.table.commit.conflicts import check_no_new_deletes_for
from icefloe.table.commit.derived_requirements import requirements_of
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.snapshot_producer import MAIN, SnapshotProducer
from icefloe.table.read_context import schema_json, specs_json
from icefloe.table.snapshots import Operation, Snapshot, ancestors_of
from icefloe.table.update import AssertSnapshotExists

if TYPE_CHECKING:
    from icefloe.table.commit.change import OpenTransaction
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate

    Partition = tuple[int, str]
    Staged = tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]

WAP_ID = "wap.id"
PUBLISHED_WAP_ID = "published-wap-id"
SOURCE_SNAPSHOT_ID = "source-snapshot-id"
REPLACE_PARTITIONS = "replace-partitions"


class CherryPick(SnapshotProducer):
    """Makes main's head a snapshot with the files that another snapshot added.

    If that snapshot's parent is main's head, main moves to it and no snapshot is added. Otherwise the snapshot must be an append, or
    have replaced partitions that did not change since.

    Args:
        transaction: The transaction that commits the change.
        source: The snapshot to apply.
    """

    merges = True

    def __init__(self, transaction: OpenTransaction, source: Snapshot) -> None:
        super().__init__(transaction)
        self._source = source
        self._read = False
        self._only_moves = False
        self._rewritten: list[str] = []

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation(self._source.operation)

    def stage(self, base: TableMetadata, attempt: int) -> Staged:
        """Return the updates that move main to the source, or that add a snapshot of its files.

        Raises:
            ValidationException: The source cannot be applied to `base`.
        """
        if self._source.snapshot_id not in base.snapshots.positions():
            # Expiry deletes the files of a staged snapshot, which no other snapshot refers to.
            raise ValidationException(
                f"cannot cherry-pick snapshot {self._source.snapshot_id}: a concurrent commit has expired it"
            )
        head = base.current_snapshot()
        self._check_not_published(base, head)
        self._only_moves = self._source.parent_snapshot_id == (head.snapshot_id if head is not None else None)
        if self._only_moves:
            move = self._ref_update(base, MAIN).model_copy(update={"snapshot_id": self._source.snapshot_id})
            return (move,), requirements_of(base, (move,))
        self._check_not_applied(base, head)
        if not self._read:
            self._read_files(base)
            self._read = True
        if self._source.operation == Operation.OVERWRITE:
            self._check_replaced_rows(base, head)
        updates, requirements = super().stage(base, attempt)
        return updates, (*requirements, AssertSnapshotExists(snapshot_id=self._source.snapshot_id))

    def committed(self, table: TableMetadata) -> None:
        """Delete manifests and lists that the committed change does not use: all of them if it only moved main."""
        if self._only_moves and table.snapshot_by_id(self.snapshot_id) is None:
            self._delete(self._writer.written)
        else:
            super().committed(table)

    def _check_not_applied(self, base: TableMetadata, head: Snapshot | None) -> None:
        source = self._source
        for ancestor in ancestors_of(head, base):
            if ancestor.snapshot_id == source.snapshot_id:
                raise ValidationException(
                    f"cannot cherry-pick snapshot {source.snapshot_id}: it is an ancestor of main's head already"
                )
            if _value(ancestor, SOURCE_SNAPSHOT_ID) == str(source.snapshot_id):
                raise ValidationException(
                    f"cannot cherry-pick snapshot {source.snapshot_id}: snapshot {ancestor.snapshot_id} has its changes already"
                )

    def _check_not_published(self, base: TableMetadata, head: Snapshot | None) -> None:
        """Check that no other snapshot of main has published the source's write-audit-publish id."""
        source, wap_id = self._source, _value(self._source, WAP_ID)
        if wap_id is None or not _has_files_to_pick(source):
            return
        for ancestor in ancestors_of(head, base):
            own = str(source.snapshot_id) in (str(ancestor.snapshot_id), _value(ancestor, SOURCE_SNAPSHOT_ID))
            if not own and wap_id in (_value(ancestor, WAP_ID), _value(ancestor, PUBLISHED_WAP_ID)):
                raise ValidationException(
                    f"cannot publish changes of {WAP_ID} {wap_id!r}: snapshot {ancestor.snapshot_id} published them already"
                )

    def _read_files(self, base: TableMetadata) -> None:
        """Take the files that the source added and removed from its manifests."""
        source = self._source
        if not _has_files_to_pick(source):
            raise ValidationException(
                f"cannot cherry-pick snapshot {source.snapshot_id}: expected an append, a snapshot that replaced partitions, or one "
                f"whose parent is main's head, got operation {source.operation.value}"
            )
        manifests = self._writer.list_of(source)
        own = manifests.filter(pc.equal(manifests.column("added_snapshot_id"), source.snapshot_id))
        entries = _core.read_manifest(
            self._transaction.io.core, own, schema=schema_json(base.schema()), specs=specs_json(base), keep="all"
        )
        entries = entries.filter(pc.equal(entries.column("snapshot_id"), source.snapshot_id))
        if pc.any(pc.not_equal(entries.column("content"), 0)).as_py():
            raise ValidationException(
                f"cannot cherry-pick snapshot {source.snapshot_id}: it has delete files, which apply only to the rows that it read"
            )
        added = entries.filter(pc.equal(entries.column("status"), ADDED)).select(DATA_FILE_SCHEMA.names)
        removed = entries.filter(pc.equal(entries.column("status"), DELETED))
        if added.num_rows > 0:
            self._added.append(added.combine_chunks().to_batches()[0])
        if len(removed) > 0:
            self.remove_files(RemovedFiles.of(removed))
        replaced = self._partitions_of_added_files()
        self._rewritten = [path for path, partition in _files(removed) if partition not in replaced]
        self._properties[SOURCE_SNAPSHOT_ID] = str(source.snapshot_id)
        wap_id = _value(source, WAP_ID)
        if wap_id is not None:
            self._properties[PUBLISHED_WAP_ID] = wap_id

    def _check_replaced_rows(self, base: TableMetadata, head: Snapshot | None) -> None:
        """Check the commits since the source's parent: none added files to the replaced partitions, or deleted rows that it rewrote.

        Replaced partitions are those of the added files, as in the Java library. A removed file of another partition belongs to another
        spec, and the added files have a part of its rows.
        """
        io = self._transaction.io
        changes = changes_since(io, base, self._source.parent_snapshot_id, head)
        if changes is None or head is None:
            return
        replaced = self._partitions_of_added_files()
        for _, partition in _files(changes.added_data):
            if partition in replaced:
                raise ValidationException(
                    f"cannot cherry-pick snapshot {self._source.snapshot_id}: a later commit added rows to partition "
                    f"{partition[1]}, which it replaces"
                )
        check_no_new_deletes_for(io, base, head, changes, pa.array(self._rewritten, pa.string()))

    def _partitions_of_added_files(self) -> set[Partition]:
        return {partition for batch in self._added for _, partition in _files(batch)}


def published_snapshot(metadata: TableMetadata, wap_id: str) -> Snapshot:
    """Return the staged snapshot of a write-audit-publish id.

    Raises:
        ValidationError: No snapshot has the id, or several staged snapshots have it, of which only one can be published.
    """
    found = [snapshot for snapshot in metadata.snapshots if _value(snapshot, WAP_ID) == wap_id]
    if not found:
        raise ValidationError(
            f"cannot publish changes: no snapshot has {WAP_ID} {wap_id!r} in its summary; it may have expired"
        )
    line = list(ancestors_of(metadata.current_snapshot(), metadata))
    published = {str(one.snapshot_id) for one in line} | {_value(one, SOURCE_SNAPSHOT_ID) for one in line}
    staged = [snapshot for snapshot in found if str(snapshot.snapshot_id) not in published]
    if len(staged) > 1:
        ids = ", ".join(str(snapshot.snapshot_id) for snapshot in staged)
        raise ValidationError(
            f"cannot publish changes: expected one staged snapshot with {WAP_ID} {wap_id!r}, got {len(staged)}: {ids}; publish one of them by "
            "cherry_pick()"
        )
    return staged[0] if staged else found[-1]


def _has_files_to_pick(source: Snapshot) -> bool:
    """Return whether the files of a snapshot can be applied to another head: it is an append, or has replaced partitions."""
    replaces = source.operation == Operation.OVERWRITE and _value(source, REPLACE_PARTITIONS) == "true"
    return replaces or source.operation == Operation.APPEND


def _value(snapshot: Snapshot, key: str) -> str | None:
    return snapshot.summary.get(key) if snapshot.summary is not None else None


def _files(files: pa.RecordBatch | pa.Table) -> list[tuple[str, Partition]]:
    """Return the path of each file, with the id of its spec and its partition."""
    rows = files.select(["file_path", "spec_id", "partition"]).to_pylist()
    return [(row["file_path"], (row["spec_id"], row["partition"])) for row in rows]
