"""Branches and tags in ALTER TABLE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.refs import SnapshotRefType

if TYPE_CHECKING:
    from icefloe.spark.lexer import Cursor
    from icefloe.table import Table
    from icefloe.table.write_transaction import WriteTransaction

_UNITS = {"DAYS": 86_400_000, "HOURS": 3_600_000, "MINUTES": 60_000}


def alter_ref(table: Table, cursor: Cursor) -> bool:
    """Run CREATE, REPLACE or DROP of a branch or tag, and return whether one follows."""
    for kind in (SnapshotRefType.BRANCH, SnapshotRefType.TAG):
        word = kind.value.upper()
        if cursor.accept("DROP", word):
            _drop(table, cursor, kind)
            return True
        for create, replace, start in (
            (True, True, ("CREATE", "OR", "REPLACE", word)),
            (True, False, ("CREATE", word)),
            (False, True, ("REPLACE", word)),
        ):
            if cursor.accept(*start):
                _put(table, cursor, kind, create=create, replace=replace)
                return True
    return False


def _drop(table: Table, cursor: Cursor, kind: SnapshotRefType) -> None:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.name()
    cursor.finish()
    if if_exists and name not in table.refs():
        return
    change = table.manage_snapshots()
    (change.remove_branch if kind is SnapshotRefType.BRANCH else change.remove_tag)(name).commit()


def _put(table: Table, cursor: Cursor, kind: SnapshotRefType, *, create: bool, replace: bool) -> None:
    if_not_exists = create and not replace and cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.name()
    snapshot_id = cursor.number() if cursor.accept("AS", "OF", "VERSION") else None
    ages = _retention(cursor, kind)
    cursor.finish()
    exists, current = name in table.refs(), table.current_snapshot()
    if exists and if_not_exists:
        return
    if not exists and not create:
        raise ValidationError(f"REPLACE {kind.value.upper()} {name}: expected an existing {kind.value}, got none")
    branch = kind is SnapshotRefType.BRANCH
    with table.transaction() as transaction:
        if snapshot_id is None and current is None and branch and not exists:
            transaction.new_fast_append(branch=name).commit()  # an empty snapshot, as the Java runtime makes one
        else:
            snapshot_id = current.snapshot_id if snapshot_id is None and current is not None else snapshot_id
            _point(transaction, kind, name, snapshot_id, replace=exists and replace)
        _set_retention(transaction, name, ages)


def _point(
    transaction: WriteTransaction, kind: SnapshotRefType, name: str, snapshot_id: int | None, *, replace: bool
) -> None:
    """Make or replace a branch or tag of a snapshot."""
    if snapshot_id is None:
        raise ValidationError(
            f"{kind.value} {name}: the table has no snapshot; expected AS OF VERSION or a table with rows"
        )
    change = transaction.manage_snapshots()
    branch = kind is SnapshotRefType.BRANCH
    if replace:
        (change.replace_branch if branch else change.replace_tag)(name, snapshot_id)
    else:
        (change.create_branch if branch else change.create_tag)(snapshot_id, name)
    change.commit()


def _set_retention(transaction: WriteTransaction, name: str, ages: dict[str, int]) -> None:
    if not ages:
        return
    change = transaction.manage_snapshots()
    if "ref" in ages:
        change.set_max_ref_age_ms(name, ages["ref"])
    if "snapshots" in ages:
        change.set_min_snapshots_to_keep(name, ages["snapshots"])
    if "age" in ages:
        change.set_max_snapshot_age_ms(name, ages["age"])
    change.commit()


def _retention(cursor: Cursor, kind: SnapshotRefType) -> dict[str, int]:
    found: dict[str, int] = {}
    if cursor.accept("RETAIN"):
        found["ref"] = cursor.number() * _unit(cursor)
    if kind is SnapshotRefType.BRANCH and cursor.accept("WITH", "SNAPSHOT", "RETENTION"):
        number = cursor.number()
        if cursor.accept("SNAPSHOTS"):
            found["snapshots"] = number
            following = cursor.peek()
            if following is None:
                return found
            number = cursor.number()
        found["age"] = number * _unit(cursor)
    return found


def _unit(cursor: Cursor) -> int:
    for word, milliseconds in _UNITS.items():
        if cursor.accept(word):
            return milliseconds
    raise cursor.error("DAYS, HOURS or MINUTES")
