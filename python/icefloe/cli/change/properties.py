"""The verbs `properties get`, `properties set` and `properties unset`, of a table or a namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pyarrow as pa

from icefloe.cli.carry_out import Change, Outcome, carry_out
from icefloe.cli.failure import NotFoundError
from icefloe.cli.table_argument import TableName, display_name
from icefloe.cli.verb import key_values, verb
from icefloe.table.maintenance.display import count_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.cli.session import Session

_namespace = click.option("--namespace", "of_namespace", is_flag=True, help="NAME is a namespace.")
_name = click.argument("name", type=TableName())


@click.group("properties")
def properties() -> None:
    """Get, set and unset properties of a table or a namespace."""


@verb("get", returns="rows")
@_name
@click.argument("key", required=False)
@_namespace
def get(session: Session, name: str, key: str | None, of_namespace: bool) -> None:
    """Show the properties, or the property KEY."""
    if of_namespace:
        shown, found = name, session.catalog.load_namespace_properties(name)
    else:
        loaded = session.table(name)
        shown, found = display_name(loaded), loaded.properties
    if key is not None and key not in found:
        raise NotFoundError(f"{shown}: property {key} is not set")
    wanted = sorted(found.items()) if key is None else [(key, found[key])]
    columns = {
        "key": pa.array([one for one, _ in wanted], pa.string()),
        "value": pa.array([one for _, one in wanted], pa.string()),
    }
    session.output.rows({"name": shown}, pa.table(columns))


@verb("set", returns="document", changes=True)
@_name
@click.argument("pairs", nargs=-1, required=True, metavar="KEY=VALUE...")
@_namespace
def set_(session: Session, name: str, pairs: tuple[str, ...], of_namespace: bool, dry_run: bool, yes: bool) -> int:
    """Set properties."""
    return _change(session, name, key_values(pairs, "properties set"), (), of_namespace, dry_run, yes)


@verb("unset", returns="document", changes=True)
@_name
@click.argument("keys", nargs=-1, required=True)
@_namespace
def unset(session: Session, name: str, keys: tuple[str, ...], of_namespace: bool, dry_run: bool, yes: bool) -> int:
    """Remove properties."""
    return _change(session, name, {}, keys, of_namespace, dry_run, yes)


def _change(
    session: Session,
    name: str,
    updates: dict[str, str],
    removals: tuple[str, ...],
    of_namespace: bool,
    dry_run: bool,
    yes: bool,
) -> int:
    table = None if of_namespace else session.changeable_table(name)
    found = session.catalog.load_namespace_properties(name) if table is None else table.properties
    rows = _rows(found, updates, removals)
    verb_name = "properties set" if updates else "properties unset"
    change = Change(
        verb_name,
        name,
        f"Change {count_text(rows.num_rows, 'property', 'properties')} of {name}.",
        {"set": updates, "unset": [key for key in removals if key in found]},
        rows,
        is_empty=rows.num_rows == 0,
    )

    def make() -> Outcome:
        if table is None:
            session.catalog.update_namespace_properties(name, set(removals) & set(found), updates)
        else:
            with table.transaction() as transaction:
                transaction.remove_properties(*removals) if removals else transaction.set_properties(updates)
        return Outcome(f"Changed {count_text(rows.num_rows, 'property', 'properties')} of {name}.")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


def _rows(found: Mapping[str, str], updates: Mapping[str, str], removals: tuple[str, ...]) -> pa.Table:
    """Return key, value now and new value of each property that changes."""
    changes: list[tuple[str, str | None, str | None]]
    changes = [(key, found.get(key), value) for key, value in updates.items() if found.get(key) != value]
    changes += [(key, found[key], None) for key in removals if key in found]
    names = ("key", "value", "new_value")
    return pa.table({name: pa.array([one[place] for one in changes], pa.string()) for place, name in enumerate(names)})


for _verb in (get, set_, unset):
    properties.add_command(_verb)
