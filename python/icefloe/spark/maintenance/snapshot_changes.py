"""Procedures on snapshots, branches and tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.maintenance.procedure import Procedure
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.age import moment_ms
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.spark.maintenance.procedure import Arguments, Caller, Rows
    from icefloe.table import Table


def ancestor_rows(table: Table, snapshot_id: int | None) -> list[tuple[int, int]]:
    """Return id and time, in milliseconds, of a snapshot and its ancestors, newest first.

    Raises:
        ValidationError: The table has no such snapshot.
    """
    snapshot = table.current_snapshot() if snapshot_id is None else table.snapshot_by_id(snapshot_id)
    if snapshot is None and snapshot_id is not None:
        raise ValidationError(f"ancestors_of: expected a snapshot of the table, got {snapshot_id}")
    return [(one.snapshot_id, one.timestamp_ms) for one in ancestors_of(snapshot, table.metadata)]


def _current(table: Table) -> int | None:
    snapshot = table.current_snapshot()
    return None if snapshot is None else snapshot.snapshot_id


def _moved(change: Callable[[Any, Arguments], Any]) -> Callable[[Caller, Arguments], Rows]:
    """Return the procedure that moves the current snapshot and returns the old and the new one."""

    def run(caller: Caller, given: Arguments) -> Rows:
        table = caller.table(given)
        before = _current(table)
        change(table.manage_snapshots(), given).commit()
        return [(before, _current(table))]

    return run


def _set_current(manage: Any, given: Arguments) -> Any:
    found = [key for key in ("snapshot_id", "ref") if key in given]
    if len(found) != 1:
        raise ValidationError(
            f"CALL set_current_snapshot: expected snapshot_id or ref, got {' and '.join(found) or 'neither'}"
        )
    return manage.set_current_snapshot(given.get("snapshot_id"), given.get("ref"))


def _to_timestamp(manage: Any, given: Arguments) -> Any:
    return manage.rollback_to_timestamp(moment_ms(given["timestamp"], SYSTEM.now_ms(), "timestamp"))


def _cherry_pick(caller: Caller, given: Arguments) -> Rows:
    table = caller.table(given)
    table.manage_snapshots().cherry_pick(given["snapshot_id"]).commit()
    return [(given["snapshot_id"], _current(table))]


def _publish(caller: Caller, given: Arguments) -> Rows:
    table = caller.table(given)
    staged = [
        one.snapshot_id
        for one in table.snapshots()
        if one.summary is not None and one.summary.get("wap.id") == given["wap_id"]
    ]
    table.manage_snapshots().publish_changes(given["wap_id"]).commit()
    return [(staged[0] if staged else None, _current(table))]


def _fast_forward(caller: Caller, given: Arguments) -> Rows:
    table, branch = caller.table(given), given["branch"]
    before = table.refs().get(branch)
    table.manage_snapshots().fast_forward(branch, given["to"]).commit()
    return [(branch, None if before is None else before.snapshot_id, table.refs()[branch].snapshot_id)]


def _ancestors(caller: Caller, given: Arguments) -> Rows:
    return list(ancestor_rows(caller.table(given), given.get("snapshot_id")))


_ROLLED_BACK = "previous_snapshot_id bigint NOT NULL, current_snapshot_id bigint NOT NULL"
_SET = "previous_snapshot_id bigint, current_snapshot_id bigint NOT NULL"
_SOURCE = "source_snapshot_id bigint NOT NULL, current_snapshot_id bigint NOT NULL"

SNAPSHOT_CHANGES = {
    "ancestors_of": Procedure(
        parameters={"table": "string", "snapshot_id": "bigint"},
        required=("table",),
        returns="snapshot_id bigint, timestamp bigint",
        run=_ancestors,
        many_rows=True,
    ),
    "cherrypick_snapshot": Procedure(
        parameters={"table": "string", "snapshot_id": "bigint"},
        required=("table", "snapshot_id"),
        returns=_SOURCE,
        run=_cherry_pick,
    ),
    "fast_forward": Procedure(
        parameters={"table": "string", "branch": "string", "to": "string"},
        required=("table", "branch", "to"),
        returns="branch_updated string NOT NULL, previous_ref bigint, updated_ref bigint NOT NULL",
        run=_fast_forward,
    ),
    "publish_changes": Procedure(
        parameters={"table": "string", "wap_id": "string"},
        required=("table", "wap_id"),
        returns=_SOURCE,
        run=_publish,
    ),
    "rollback_to_snapshot": Procedure(
        parameters={"table": "string", "snapshot_id": "bigint"},
        required=("table", "snapshot_id"),
        returns=_ROLLED_BACK,
        run=_moved(lambda manage, given: manage.rollback_to_snapshot(given["snapshot_id"])),
    ),
    "rollback_to_timestamp": Procedure(
        parameters={"table": "string", "timestamp": "timestamp"},
        required=("table", "timestamp"),
        returns=_ROLLED_BACK,
        run=_moved(_to_timestamp),
    ),
    "set_current_snapshot": Procedure(
        parameters={"table": "string", "snapshot_id": "bigint", "ref": "string"},
        required=("table",),
        returns=_SET,
        run=_moved(_set_current),
    ),
}
"""Procedures by name."""
