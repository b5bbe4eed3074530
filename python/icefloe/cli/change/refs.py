"""The verbs `branch` and `tag`: create, drop and fast-forward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.carry_out import Change, Outcome, carry_out
from icefloe.cli.failure import NotFoundError
from icefloe.cli.table_argument import at_option, snapshot_id_of, table_argument
from icefloe.cli.verb import verb
from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.age import age_ms

if TYPE_CHECKING:
    from icefloe.cli.session import Session
    from icefloe.table import Table

_max_age = click.option("--max-age", metavar="AGE", help="The age, such as 90d, at which expiry removes the name.")


@click.group("branch")
def branch() -> None:
    """Create, drop and fast-forward branches."""


@click.group("tag")
def tag() -> None:
    """Create and drop tags."""


@verb("create", returns="document", changes=True)
@table_argument
@click.argument("name")
@at_option
@_max_age
@click.option("--max-snapshot-age", metavar="AGE", help="The age at which snapshots of the branch expire.")
@click.option("--min-snapshots", type=click.IntRange(min=1), help="Snapshots of the branch that expiry keeps.")
def create_branch(
    session: Session,
    table: str,
    name: str,
    at: str | None,
    max_age: str | None,
    max_snapshot_age: str | None,
    min_snapshots: int | None,
    dry_run: bool,
    yes: bool,
) -> int:
    """Create the branch NAME at a version of a table."""
    loaded = session.changeable_table(table)
    snapshot_id = _snapshot(loaded, at)
    settings = {
        "max_ref_age_ms": _age(max_age, "--max-age"),
        "max_snapshot_age_ms": _age(max_snapshot_age, "--max-snapshot-age"),
        "min_snapshots_to_keep": min_snapshots,
    }
    change = _change(
        table,
        "branch create",
        f"Create branch {name} of {table} at snapshot {snapshot_id}.",
        name,
        snapshot_id,
        settings,
    )

    def make() -> Outcome:
        loaded.manage_snapshots().create_branch(snapshot_id, name, **settings).commit()
        return Outcome(f"Created branch {name}.")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


@verb("create", returns="document", changes=True)
@table_argument
@click.argument("name")
@at_option
@_max_age
def create_tag(
    session: Session, table: str, name: str, at: str | None, max_age: str | None, dry_run: bool, yes: bool
) -> int:
    """Create the tag NAME of a version of a table."""
    loaded = session.changeable_table(table)
    snapshot_id = _snapshot(loaded, at)
    age = _age(max_age, "--max-age")
    summary = f"Create tag {name} of {table} at snapshot {snapshot_id}."
    change = _change(table, "tag create", summary, name, snapshot_id, {"max_ref_age_ms": age})

    def make() -> Outcome:
        loaded.manage_snapshots().create_tag(snapshot_id, name, age).commit()
        return Outcome(f"Created tag {name}.")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


def _drop(kind: str) -> click.Command:
    @verb("drop", returns="document", changes=True)
    @table_argument
    @click.argument("name")
    def drop(session: Session, table: str, name: str, dry_run: bool, yes: bool) -> int:
        loaded = session.changeable_table(table)
        ref = loaded.metadata.refs.get(name)
        if ref is None or str(ref.snapshot_ref_type) != kind:
            raise NotFoundError(f"table {table} has no {kind} {name}")
        change = _change(table, f"{kind} drop", f"Drop {kind} {name} of {table}.", name, ref.snapshot_id, {})

        def make() -> Outcome:
            manage = loaded.manage_snapshots()
            (manage.remove_branch(name) if kind == "branch" else manage.remove_tag(name)).commit()
            return Outcome(f"Dropped {kind} {name}.")

        return carry_out(session, change, make, dry_run=dry_run, yes=yes)

    drop.help = f"Drop the {kind} NAME."
    return drop


@verb("fast-forward", returns="document", changes=True)
@table_argument
@click.argument("name")
@click.argument("to")
def fast_forward(session: Session, table: str, name: str, to: str, dry_run: bool, yes: bool) -> int:
    """Move the branch NAME to the snapshot of the branch or tag TO, a descendant of its own."""
    loaded = session.changeable_table(table)
    refs = loaded.metadata.refs
    missing = [one for one in (name, to) if one not in refs]
    if missing:
        raise NotFoundError(f"table {table} has no branch or tag {missing[0]}")
    is_there = refs[name].snapshot_id == refs[to].snapshot_id
    summary = f"Move branch {name} of {table} from snapshot {refs[name].snapshot_id} to {refs[to].snapshot_id} of {to}."
    values = {"name": name, "to": to, "snapshot_id": str(refs[to].snapshot_id)}
    change = Change("branch fast-forward", table, summary, values, is_empty=is_there)

    def make() -> Outcome:
        loaded.manage_snapshots().fast_forward(name, to).commit()
        return Outcome(f"Moved branch {name} to snapshot {refs[to].snapshot_id}.")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


def _snapshot(table: Table, at: str | None) -> int:
    snapshot_id = snapshot_id_of(table, at)
    if snapshot_id is None:
        raise ValidationError(f"table {'.'.join(table.name())} has no snapshot yet, so that no name can refer to one")
    return snapshot_id


def _age(text: str | None, option: str) -> int | None:
    try:
        return None if text is None else age_ms(text, option)
    except ValidationError as error:
        raise click.UsageError(str(error)) from error


def _change(table: str, verb_name: str, summary: str, name: str, snapshot_id: int, settings: dict[str, Any]) -> Change:
    return Change(verb_name, table, summary, {"name": name, "snapshot_id": str(snapshot_id), **settings})


for _verb in (create_branch, _drop("branch"), fast_forward):
    branch.add_command(_verb)
for _verb in (create_tag, _drop("tag")):
    tag.add_command(_verb)
