"""Branches, tags and the current snapshot: moving names, adding no snapshot."""

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

    Such changes are not tried again when a ref that they touch has moved meanwhile.

    Example:
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
        """Name a snapshot.

        Args:
            snapshot_id: The snapshot.
            tag_name: Its name.
            max_ref_age_ms: How old the name may become before expiry removes it.

        Raises:
            ValidationError: The snapshot does not exist, or the name is taken.
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
        """Begin a branch at a snapshot; ages in milliseconds say what expiry keeps.

        Raises:
            ValidationError: The snapshot does not exist, or the name is taken.
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
            raise ValidationError("main cannot be removed")
        return self._remove(branch_name, SnapshotRefType.BRANCH)

    def set_current_snapshot(self, snapshot_id: int | None = None, ref_name: str | None = None) -> Self:
        """Make any snapshot of the table the current one, by id or by the name of a branch or tag.

        Raises:
            ValidationError: It does not exist, or not exactly one of the two was given.
        """
        if (snapshot_id is None) == (ref_name is None):
            raise ValidationError("set_current_snapshot: give a snapshot id or a ref name, not both")
        if ref_name is not None:
            ref = self._metadata.refs.get(ref_name)
            if ref is None:
                raise ValidationError(f"there is no branch or tag {ref_name!r}")
            snapshot_id = ref.snapshot_id
        return self._move_main(self._existing(snapshot_id))

    def rollback_to_snapshot(self, snapshot_id: int) -> Self:
        """Go back to an ancestor of the current snapshot.

        Raises:
            ValidationError: The snapshot does not exist, or is no ancestor; `set_current_snapshot` takes any.
        """
        self._existing(snapshot_id)
        current = self._metadata.current_snapshot_id
        if current is None or not is_ancestor_of(current, snapshot_id, self._metadata):
            raise ValidationError(
                f"snapshot {snapshot_id} is no ancestor of the current one: set_current_snapshot() goes to any snapshot"
            )
        return self._move_main(snapshot_id)

    def rollback_to_timestamp(self, timestamp_ms: int) -> Self:
        """Go back to the newest ancestor from before a time, milliseconds since 1970-01-01 UTC.

        Raises:
            ValidationError: There is none.
        """
        current = self._metadata.current_snapshot()
        while current is not None and current.timestamp_ms >= timestamp_ms:
            parent = current.parent_snapshot_id
            current = self._metadata.snapshot_by_id(parent) if parent is not None else None
        if current is None:
            raise ValidationError(f"there is no snapshot from before {timestamp_ms}")
        return self._move_main(current.snapshot_id)

    def commit(self) -> None:
        """Commit the changes.

        Raises:
            CommitFailedException: A ref has moved meanwhile.
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
            raise ValidationError(f"there is no {kind.value} {name!r}")
        return self._set(RemoveSnapshotRefUpdate(ref_name=name))

    def _check_new(self, name: str, snapshot_id: int) -> None:
        self._existing(snapshot_id)
        pending = {update.ref_name for update in self._updates if isinstance(update, SetSnapshotRefUpdate)}
        if name in self._metadata.refs or name in pending:
            raise ValidationError(f"there is a branch or tag {name!r} already")

    def _existing(self, snapshot_id: int | None) -> int:
        if snapshot_id is None or self._metadata.snapshot_by_id(snapshot_id) is None:
            raise ValidationError(f"the table has no snapshot {snapshot_id}; it may have been expired")
        return snapshot_id
