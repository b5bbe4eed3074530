"""The verbs `rollback` and `upgrade`: the version that a table has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from icefloe.cli.carry_out import Change, Outcome, carry_out
from icefloe.cli.table_argument import snapshot_id_of, table_argument
from icefloe.cli.verb import verb
from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.age import iso_time
from icefloe.table.maintenance.display import count_text
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from icefloe.cli.session import Session


@verb("rollback", returns="document", changes=True)
@table_argument
@click.argument("version")
def rollback(session: Session, table: str, version: str, dry_run: bool, yes: bool) -> int:
    """Make VERSION, an ancestor of the current snapshot, the current one: a snapshot id, a tag, a time or an age."""
    loaded = session.changeable_table(table)
    snapshot_id = snapshot_id_of(loaded, version)
    lost = []
    for one in ancestors_of(loaded.current_snapshot(), loaded.metadata):
        if one.snapshot_id == snapshot_id:
            break
        lost.append(one)
    else:
        raise ValidationError(f"table {table}: snapshot {snapshot_id} is not an ancestor of the current snapshot")
    target = loaded.snapshot_by_id(snapshot_id) if snapshot_id is not None else None
    assert target is not None
    change = Change(
        "rollback",
        table,
        f"Roll {table} back to snapshot {snapshot_id} of {iso_time(target.timestamp_ms)}; {count_text(len(lost), 'newer snapshot')} "
        "will not be current any more.",
        {"snapshot_id": str(snapshot_id), "undone_snapshot_ids": [str(one.snapshot_id) for one in lost]},
        is_empty=not lost,
    )

    def make() -> Outcome:
        loaded.manage_snapshots().rollback_to_snapshot(target.snapshot_id).commit()
        return Outcome(f"Rolled {table} back to snapshot {snapshot_id}.")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


@verb("upgrade", returns="document", changes=True)
@table_argument
@click.option("--format-version", type=click.IntRange(2, 3), default=2, show_default=True, help="The new version.")
def upgrade(session: Session, table: str, format_version: int, dry_run: bool, yes: bool) -> int:
    """Raise the format version of a table; it cannot be lowered again."""
    loaded = session.changeable_table(table)
    own = loaded.format_version
    change = Change(
        "upgrade",
        table,
        f"Raise the format version of {table} from {own} to {format_version}."
        if own < format_version
        else f"{table} has format version {own} already.",
        {"format_version": own, "new_format_version": format_version},
        is_empty=own >= format_version,
    )

    def make() -> Outcome:
        with loaded.transaction() as transaction:
            transaction.upgrade_table_version(format_version)
        return Outcome(f"{table} has format version {format_version}.")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)
