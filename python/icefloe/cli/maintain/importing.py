"""The verbs `snapshot-directory` and `migrate`: directories of Parquet, ORC or Avro files as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from icefloe.catalog.import_directory import migrate_directory, snapshot_directory
from icefloe.cli.carry_out import Change, Outcome, carry_out
from icefloe.cli.verb import verb

if TYPE_CHECKING:
    from icefloe.catalog.import_directory import ImportDirectory
    from icefloe.cli.session import Session

_source = click.argument("source", metavar="DIRECTORY")
_table = click.argument("table")
_properties = click.option("--property", "properties", metavar="NAME=VALUE", multiple=True, help="A table property.")


@verb("snapshot-directory", returns="document", changes=True)
@_source
@_table
@click.option("--location", metavar="DIRECTORY", help="The table's location.  [default: the catalog's]")
@_properties
def snapshot(
    session: Session, source: str, table: str, location: str | None, properties: tuple[str, ...], **flags: Any
) -> int:
    """Create a table over a directory of Parquet, ORC or Avro files, which stay where they are and are never deleted."""
    found = _pairs(properties)
    builder = snapshot_directory(session.catalog, source, table, location=location, properties=found)
    return _run(session, "snapshot-directory", table, builder, **flags)


@verb("migrate", returns="document", changes=True)
@_source
@_table
@_properties
def migrate(session: Session, source: str, table: str, properties: tuple[str, ...], **flags: Any) -> int:
    """Turn a directory of Parquet, ORC or Avro files into a table, which owns the files from then on."""
    builder = migrate_directory(session.catalog, source, table, properties=_pairs(properties))
    return _run(session, "migrate", table, builder, **flags)


def _run(session: Session, name: str, table: str, builder: ImportDirectory, *, dry_run: bool, yes: bool) -> int:
    plan = builder.plan()
    change = Change(name, table, plan.summary(), plan.as_dict(), plan.rows())

    def make() -> Outcome:
        result = builder.execute(plan)
        return Outcome(result.summary(), result.as_dict())

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    """Return properties of texts such as `name=value`."""
    pairs = [text.partition("=") for text in texts]
    wrong = [text for text, (_, equals, _) in zip(texts, pairs, strict=True) if not equals]
    if wrong:
        raise click.UsageError(f"--property: expected NAME=VALUE, got {wrong[0]!r}")
    return {name: value for name, _, value in pairs}
