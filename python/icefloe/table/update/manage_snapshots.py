"""Updates of branches, tags and the current snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.refs import MAIN_BRANCH, SnapshotRefType
from icefloe.table.snapshots import is_ancestor_of
from icefloe.table.update.actions import RemoveSnapshotRefUpdate, SetSnapshotRefUpdate
from icefloe.table.update.builder import UpdatableTable, UpdateBuilder, UpdatesAndRequirements

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update.actions import TableUpdate


class ManageSnapshots(UpdateBuilder):
    """Changes of refs, committed together by `commit()` or at the end of a `with` block.

    They are not retried if a concurrent commit has moved a ref that they change.

    Examples:
        >>> with table.manage_snapshots() as manage:
        ...     _ = manage.create_tag(table.current_snapshot().snapshot_id, "audited")
        >>> sorted(table.refs())
        ['audited', 'main']
    """

    def __init__(self, transaction: UpdatableTable) -> None:
        super().__init__(transaction)
        self._updates: list[TableUpdate] = []

    @property
    def _metadata(self) -> TableMetadata:
        return self._transaction.table_metadata

    def create_tag(self, snapshot_id: int, tag_name: str, max_ref_age_ms: int | None = None) -> Self:
        """Create a tag of a snapshot.

        Args:
            snapshot_id: The snapshot.
            tag_name: The tag's name.
            max_ref_age_ms: The age in milliseconds at which snapshot expiry removes the tag.

        Raises:
            ValidationError: The snapshot does not exist, or the name is in use.
        """
        self._check_new(tag_name, snapshot_id)
        return self._set(
            SetSnapshotRefUpdate(
                ref_name=tag_name, type=SnapshotRefType.TAG, snapshot_id=snapshot_id, max_ref_age_ms=max_ref_age_ms
            )
        )

    def create_branch(
        self,
        snapshot_id: int,
        branch_name: str,
        max_ref_age_ms: int | None = None,
        max_snapshot_age_ms: int | None = None,
        min_snapshots_to_keep: int | None = None,
    ) -> Self:
        """Create a branch at a snapshot; the ages in milliseconds limit what snapshot expiry retains.

        Raises:
            ValidationError: The snapshot does not exist, or the name is in use.
        """
        self._check_new(branch_name, snapshot_id)
        return self._set(
            SetSnapshotRefUpdate(
                ref_name=branch_name,
                type=SnapshotRefType.BRANCH,
                snapshot_id=snapshot_id,
                max_ref_age_ms=max_ref_age_ms,
                max_snapshot_age_ms=max_snapshot_age_ms,
                min_snapshots_to_keep=min_snapshots_to_keep,
            )
        )

    def remove_tag(self, tag_name: str) -> Self:
        """Remove a tag; its snapshot stays until it expires.

        Raises:
            ValidationError: There is no such tag.
        """
        return self._remove(tag_name, SnapshotRefType.TAG)

    def remove_branch(self, branch_name: str) -> Self:
        """Remove a branch; its snapshots stay until they expire.

        Raises:
            ValidationError: There is no such branch, or it is `main`.
        """
        if branch_name == MAIN_BRANCH:
            raise ValidationError("cannot remove branch 'main': every table has it")
        return self._remove(branch_name, SnapshotRefType.BRANCH)

    def set_current_snapshot(self, snapshot_id: int | None = None, ref_name: str | None = None) -> Self:
        """Set the current snapshot, by id or by the name of a branch or tag.

        Raises:
            ValidationError: The snapshot does not exist, or not exactly one argument is given.
        """
        if (snapshot_id is None) == (ref_name is None):
            raise ValidationError(
                "set_current_snapshot: expected either snapshot_id or ref_name, got "
                + ("neither" if snapshot_id is None else "both")
            )
        if ref_name is not None:
            ref = self._metadata.refs.get(ref_name)
            if ref is None:
                raise ValidationError(
                    f"the table has no branch or tag {ref_name!r}; expected one of {sorted(self._metadata.refs)}"
                )
            snapshot_id = ref.snapshot_id
        return self._move_main(self._existing(snapshot_id))

    def rollback_to_snapshot(self, snapshot_id: int) -> Self:
        """Set the current snapshot to one of its ancestors.

        Raises:
            ValidationError: The snapshot does not exist or is not an ancestor.
        """
        self._existing(snapshot_id)
        current = self._metadata.current_snapshot_id
        if current is None or not is_ancestor_of(current, snapshot_id, self._metadata):
            raise ValidationError(
                f"cannot roll back to snapshot {snapshot_id}: it is not an ancestor of the current snapshot {current}; use "
                "set_current_snapshot(), which accepts any snapshot"
            )
        return self._move_main(snapshot_id)

    def rollback_to_timestamp(self, timestamp_ms: int) -> Self:
        """Set the current snapshot to its newest ancestor from before a time, milliseconds since 1970-01-01 UTC.

        Raises:
            ValidationError: There is no such ancestor.
        """
        current = self._metadata.current_snapshot()
        while current is not None and current.timestamp_ms >= timestamp_ms:
            parent = current.parent_snapshot_id
            current = self._metadata.snapshot_by_id(parent) if parent is not None else None
        if current is None:
            raise ValidationError(
                f"cannot roll back: no ancestor of the current snapshot is older than {timestamp_ms} ms"
            )
        return self._move_main(current.snapshot_id)

    def commit(self) -> None:
        """Commit the changes.

        Raises:
            CommitFailedException: A concurrent commit has moved a ref.
        """
        super().commit()
        self._updates = []

    def _changes(self) -> UpdatesAndRequirements:
        return tuple(self._updates), ()

    def _set(self, update: TableUpdate) -> Self:
        self._updates.append(update)
        return self

    def _move_main(self, snapshot_id: int) -> Self:
        main = self._metadata.refs.get(MAIN_BRANCH)
        return self._set(
            SetSnapshotRefUpdate(
                ref_name=MAIN_BRANCH,
                type=SnapshotRefType.BRANCH,
                snapshot_id=snapshot_id,
                max_ref_age_ms=main.max_ref_age_ms if main is not None else None,
                max_snapshot_age_ms=main.max_snapshot_age_ms if main is not None else None,
                min_snapshots_to_keep=main.min_snapshots_to_keep if main is not None else None,
            )
        )

    def _remove(self, name: str, kind: SnapshotRefType) -> Self:
        ref = self._metadata.refs.get(name)
        if ref is None or ref.snapshot_ref_type != kind:
            raise ValidationError(f"the table has no {kind.value} {name!r}")
        return self._set(RemoveSnapshotRefUpdate(ref_name=name))

    def _check_new(self, name: str, snapshot_id: int) -> None:
        self._existing(snapshot_id)
        pending = {update.ref_name for update in self._updates if isinstance(update, SetSnapshotRefUpdate)}
        if name in self._metadata.refs or name in pending:
            raise ValidationError(f"cannot create {name!r}: the table already has a branch or tag of this name")

    def _existing(self, snapshot_id: int | None) -> int:
        if snapshot_id is None or self._metadata.snapshot_by_id(snapshot_id) is None:
            raise ValidationError(f"the table has no snapshot {snapshot_id}; it may have expired")
        return snapshot_id
