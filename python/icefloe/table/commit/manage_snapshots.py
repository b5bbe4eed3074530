"""Changes of branches, tags and the current snapshot, and the publication of staged snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.arguments import checked_integer, checked_snapshot_id, checked_time_ms
from icefloe.exceptions import ValidationError
from icefloe.table.commit.ancestry import Ancestry
from icefloe.table.commit.cherry_pick import CherryPick, published_snapshot
from icefloe.table.refs import MAIN_BRANCH, SnapshotRef, SnapshotRefType
from icefloe.table.snapshots import is_ancestor_of
from icefloe.table.update.actions import RemoveSnapshotRefUpdate, SetSnapshotRefUpdate
from icefloe.table.update.builder import UpdateBuilder, UpdatesAndRequirements

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.commit.transaction import Transaction
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

    opener = "manage_snapshots()"

    def __init__(self, transaction: Transaction) -> None:
        self._heads: dict[str, int | None] = {}
        super().__init__(transaction)
        self._open = transaction
        self._updates: list[TableUpdate] = []
        self._picked: int | None = None
        self._ancestry: list[Ancestry] = []

    @property
    def _metadata(self) -> TableMetadata:
        return self._transaction.table_metadata

    @property
    def _refs(self) -> dict[str, SnapshotRef]:
        """The branches and tags after the changes so far."""
        refs = dict(self._metadata.refs)
        for update in self._updates:
            if isinstance(update, SetSnapshotRefUpdate):
                refs[update.ref_name] = SnapshotRef(
                    snapshot_id=update.snapshot_id,
                    snapshot_ref_type=update.type,
                    min_snapshots_to_keep=update.min_snapshots_to_keep,
                    max_snapshot_age_ms=update.max_snapshot_age_ms,
                    max_ref_age_ms=update.max_ref_age_ms,
                )
            elif isinstance(update, RemoveSnapshotRefUpdate):
                refs.pop(update.ref_name, None)
        return refs

    @property
    def _main_head(self) -> int | None:
        """The current snapshot after the changes so far."""
        main = self._refs.get(MAIN_BRANCH)
        return main.snapshot_id if main is not None else None

    def create_tag(self, snapshot_id: int, tag_name: str, max_ref_age_ms: int | None = None) -> Self:
        """Create a tag of a snapshot.

        Args:
            snapshot_id: The snapshot.
            tag_name: The tag's name.
            max_ref_age_ms: The age in milliseconds at which snapshot expiry removes the tag.

        Raises:
            ValidationError: The snapshot does not exist, or the name is in use.
        """
        snapshot_id = self._existing(snapshot_id)
        self._check_new(tag_name)
        max_ref_age_ms = _checked_limit("max_ref_age_ms", max_ref_age_ms)
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
        snapshot_id = self._existing(snapshot_id)
        self._check_new(branch_name)
        max_ref_age_ms = _checked_limit("max_ref_age_ms", max_ref_age_ms)
        max_snapshot_age_ms = _checked_limit("max_snapshot_age_ms", max_snapshot_age_ms)
        min_snapshots_to_keep = _checked_limit("min_snapshots_to_keep", min_snapshots_to_keep)
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
            ref = self._refs.get(_checked_name(ref_name))
            if ref is None:
                raise ValidationError(
                    f"the table has no branch or tag {ref_name!r}; expected one of {sorted(self._refs)}"
                )
            snapshot_id = ref.snapshot_id
        return self._move_main(self._existing(snapshot_id))

    def rollback_to_snapshot(self, snapshot_id: int) -> Self:
        """Set the current snapshot to one of its ancestors.

        Raises:
            ValidationError: The snapshot does not exist or is not an ancestor.
        """
        snapshot_id = self._existing(snapshot_id)
        current = self._main_head
        if current is None or not is_ancestor_of(current, snapshot_id, self._metadata):
            raise ValidationError(
                f"cannot roll back to snapshot {snapshot_id}: it is not an ancestor of the current snapshot {current}; use "
                "set_current_snapshot(), which accepts any snapshot"
            )
        self._ancestry.append(Ancestry(snapshot_id, current))
        return self._move_main(snapshot_id)

    def rollback_to_timestamp(self, timestamp_ms: int) -> Self:
        """Set the current snapshot to its newest ancestor from before a time, milliseconds since 1970-01-01 UTC.

        Raises:
            ValidationError: There is no such ancestor.
        """
        checked_time_ms("timestamp_ms", timestamp_ms)
        head = self._main_head
        current = self._metadata.snapshot_by_id(head) if head is not None else None
        while current is not None and current.timestamp_ms >= timestamp_ms:
            parent = current.parent_snapshot_id
            current = self._metadata.snapshot_by_id(parent) if parent is not None else None
        if current is None or head is None:
            raise ValidationError(
                f"cannot roll back: no ancestor of the current snapshot is older than {timestamp_ms} ms"
            )
        self._ancestry.append(Ancestry(current.snapshot_id, head))
        return self._move_main(current.snapshot_id)

    def replace_branch(self, branch_name: str, snapshot_id: int) -> Self:
        """Move a branch to any snapshot.

        Raises:
            ValidationError: The snapshot or the branch does not exist.
        """
        return self._move(branch_name, self._ref(branch_name, SnapshotRefType.BRANCH), self._existing(snapshot_id))

    def replace_tag(self, tag_name: str, snapshot_id: int) -> Self:
        """Move a tag to any snapshot.

        Raises:
            ValidationError: The snapshot or the tag does not exist.
        """
        return self._move(tag_name, self._ref(tag_name, SnapshotRefType.TAG), self._existing(snapshot_id))

    def rename_branch(self, branch_name: str, new_name: str) -> Self:
        """Rename a branch; its retention stays.

        Raises:
            ValidationError: There is no such branch, it is `main`, or the new name is in use.
        """
        if branch_name == MAIN_BRANCH:
            raise ValidationError("cannot rename branch 'main': every table has it")
        ref = self._ref(branch_name, SnapshotRefType.BRANCH)
        self._check_new(new_name)
        self._set(RemoveSnapshotRefUpdate(ref_name=branch_name))
        return self._move(new_name, ref, ref.snapshot_id)

    def fast_forward(self, branch_name: str, to: str) -> Self:
        """Move a branch forward to the snapshot of another branch or tag; the branch is created if it does not exist.

        Raises:
            ValidationError: The branch's head is not an ancestor of the other snapshot.
        """
        refs = self._refs
        if _checked_name(to) not in refs:
            raise ValidationError(f"the table has no branch or tag {to!r}; expected one of {sorted(refs)}")
        target = refs[to].snapshot_id
        if _checked_name(branch_name) not in refs:
            return self.create_branch(target, branch_name)
        ref = self._ref(branch_name, SnapshotRefType.BRANCH)
        if ref.snapshot_id == target:
            return self
        if not is_ancestor_of(target, ref.snapshot_id, self._metadata):
            raise ValidationError(
                f"cannot fast-forward branch {branch_name!r} to {to!r}: its head {ref.snapshot_id} is not an ancestor of snapshot "
                f"{target}; use replace_branch(), which accepts any snapshot"
            )
        self._ancestry.append(Ancestry(ref.snapshot_id, target))
        return self._move(branch_name, ref, target)

    def set_min_snapshots_to_keep(self, branch_name: str, min_snapshots_to_keep: int) -> Self:
        """Set how many snapshots of a branch snapshot expiry keeps, whatever their age.

        Raises:
            ValidationError: There is no such branch, or the number is not positive.
        """
        number = checked_integer("min_snapshots_to_keep", min_snapshots_to_keep, least=1)
        ref = self._ref(branch_name, SnapshotRefType.BRANCH)
        return self._put(branch_name, ref.model_copy(update={"min_snapshots_to_keep": number}))

    def set_max_snapshot_age_ms(self, branch_name: str, max_snapshot_age_ms: int) -> Self:
        """Set the age in milliseconds up to which snapshot expiry keeps the snapshots of a branch.

        Raises:
            ValidationError: There is no such branch, or the age is not positive.
        """
        number = checked_integer("max_snapshot_age_ms", max_snapshot_age_ms, least=1)
        ref = self._ref(branch_name, SnapshotRefType.BRANCH)
        return self._put(branch_name, ref.model_copy(update={"max_snapshot_age_ms": number}))

    def set_max_ref_age_ms(self, name: str, max_ref_age_ms: int) -> Self:
        """Set the age in milliseconds at which snapshot expiry removes a branch or tag.

        Raises:
            ValidationError: There is no such branch or tag, or the age is not positive.
        """
        number = checked_integer("max_ref_age_ms", max_ref_age_ms, least=1)
        refs = self._refs
        if _checked_name(name) not in refs:
            raise ValidationError(f"the table has no branch or tag {name!r}; expected one of {sorted(refs)}")
        return self._put(name, refs[name].model_copy(update={"max_ref_age_ms": number}))

    def cherry_pick(self, snapshot_id: int) -> Self:
        """Apply the changes of a snapshot to main: move main to it if its parent is main's head, or else append its files again.

        The snapshot must be an append, have replaced partitions that did not change since, or be a child of main's head.

        Raises:
            ValidationError: The snapshot does not exist, or the same builder has other changes.
        """
        if self._updates or self._picked is not None:
            raise ValidationError("cherry_pick: expected no other change in the same builder; commit the others first")
        self._picked = self._existing(snapshot_id)
        return self

    def publish_changes(self, wap_id: str) -> Self:
        """Cherry-pick the staged snapshot whose summary has a write-audit-publish id.

        Raises:
            ValidationError: No snapshot has the id, or the same builder has other changes.
        """
        return self.cherry_pick(published_snapshot(self._metadata, wap_id).snapshot_id)

    def commit(self) -> None:
        """Commit the changes.

        Raises:
            CommitFailedException: A concurrent commit has moved a ref.
            ValidationException: The snapshot to cherry-pick does not fit main's head, or the snapshot to roll back to is none of main's any
                more.
        """
        if self._picked is not None:
            source = self._metadata.snapshot_by_id(self._picked)
            assert source is not None, "checked when it was picked"
            CherryPick(self._open, source).commit()
        for check in self._ancestry:
            self._open.apply(check)
        super().commit()
        self._updates, self._picked, self._heads, self._ancestry = [], None, {}, []

    def _facts(self, metadata: TableMetadata) -> object:
        return {name: _head_id(metadata, name) for name in self._heads}

    def _changes(self) -> UpdatesAndRequirements:
        return tuple(self._updates), ()

    def _set(self, update: SetSnapshotRefUpdate | RemoveSnapshotRefUpdate) -> Self:
        if self._picked is not None:
            raise ValidationError("cherry_pick: expected no other change in the same builder; commit it first")
        self._heads.setdefault(update.ref_name, _head_id(self._metadata, update.ref_name))
        self._origin = dict(self._heads)
        self._updates.append(update)
        return self

    def _put(self, name: str, ref: SnapshotRef) -> Self:
        return self._set(
            SetSnapshotRefUpdate(
                ref_name=name,
                type=ref.snapshot_ref_type,
                snapshot_id=ref.snapshot_id,
                max_ref_age_ms=ref.max_ref_age_ms,
                max_snapshot_age_ms=ref.max_snapshot_age_ms,
                min_snapshots_to_keep=ref.min_snapshots_to_keep,
            )
        )

    def _move(self, name: str, ref: SnapshotRef, snapshot_id: int) -> Self:
        return self._put(name, ref.model_copy(update={"snapshot_id": snapshot_id}))

    def _move_main(self, snapshot_id: int) -> Self:
        main = self._refs.get(MAIN_BRANCH)
        if main is None:
            main = SnapshotRef(snapshot_id=snapshot_id, snapshot_ref_type=SnapshotRefType.BRANCH)
        return self._move(MAIN_BRANCH, main, snapshot_id)

    def _remove(self, name: str, kind: SnapshotRefType) -> Self:
        self._ref(name, kind)
        return self._set(RemoveSnapshotRefUpdate(ref_name=name))

    def _ref(self, name: str, kind: SnapshotRefType) -> SnapshotRef:
        ref = self._refs.get(_checked_name(name))
        if ref is None or ref.snapshot_ref_type != kind:
            raise ValidationError(f"the table has no {kind.value} {name!r}")
        return ref

    def _check_new(self, name: str) -> None:
        if _checked_name(name) in self._refs:
            raise ValidationError(f"cannot create {name!r}: the table already has a branch or tag of this name")

    def _existing(self, snapshot_id: int | None) -> int:
        number = checked_snapshot_id(snapshot_id)
        if self._metadata.snapshot_by_id(number) is None:
            raise ValidationError(f"the table has no snapshot {number}; it may have expired")
        return number


def _checked_name(name: str) -> str:
    if not isinstance(name, str) or name == "":
        raise ValidationError(f"branch or tag: expected its name, got {name!r}")
    return name


def _checked_limit(name: str, value: int | None) -> int | None:
    return None if value is None else checked_integer(name, value, 1)


def _head_id(metadata: TableMetadata, name: str) -> int | None:
    ref = metadata.refs.get(name)
    return ref.snapshot_id if ref is not None else None
