"""The verbs `create-namespace` and `drop-namespace`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from icefloe.cli.carry_out import Change, Outcome, carry_out
from icefloe.cli.table_argument import TableName
from icefloe.cli.verb import key_values, verb

if TYPE_CHECKING:
    from icefloe.cli.session import Session


@verb("create-namespace", returns="document", changes=True)
@click.argument("namespace")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A property of the namespace.")
def create_namespace(session: Session, namespace: str, settings: tuple[str, ...], dry_run: bool, yes: bool) -> int:
    """Create a namespace."""
    wanted = key_values(settings, "--set")
    change = Change(
        "create-namespace", namespace, f"Create namespace {namespace}.", {"namespace": namespace, "properties": wanted}
    )

    def make() -> Outcome:
        session.catalog.create_namespace(namespace, wanted)
        return Outcome(f"Created namespace {namespace}.")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


@verb("drop-namespace", returns="document", changes=True)
@click.argument("namespace", type=TableName())
def drop_namespace(session: Session, namespace: str, dry_run: bool, yes: bool) -> int:
    """Drop an empty namespace."""
    name = namespace.rstrip(".")
    session.catalog.load_namespace_properties(name)
    change = Change("drop-namespace", name, f"Drop namespace {name}, which must be empty.", {"namespace": name})

    def make() -> Outcome:
        session.catalog.drop_namespace(name)
        return Outcome(f"Dropped namespace {name}.")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)
