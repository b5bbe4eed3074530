"""The verbs `drop`, `rename` and `register`: names of tables in a catalog."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.carry_out import Change, Outcome, carry_out
from icefloe.cli.look.description import table_values
from icefloe.cli.table_argument import table_argument
from icefloe.cli.verb import verb
from icefloe.exceptions import LeftoverFilesWarning
from icefloe.table.maintenance.display import bytes_text, count_text

if TYPE_CHECKING:
    from icefloe.cli.session import Session
    from icefloe.table import Table


@verb("drop", returns="document", changes=True)
@table_argument
@click.option("--purge", is_flag=True, help="Also delete the table's files.")
def drop(session: Session, table: str, purge: bool, dry_run: bool, yes: bool) -> int:
    """Drop a table from the catalog, with --purge its files as well."""
    loaded = session.changeable_table(table)
    what = _size_text(loaded)
    summary = (
        f"Drop table {table} ({what}) and delete its files."
        if purge
        else f"Drop table {table} ({what}) from the catalog."
    )
    change = Change("drop", table, summary, {"purge": purge, "location": loaded.location()})

    def make() -> Outcome:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (session.catalog.purge_table if purge else session.catalog.drop_table)(table)
        left = [
            one
            for warning in caught
            if isinstance(warning.message, LeftoverFilesWarning)
            for one in warning.message.files
        ]
        text = f"Dropped table {table}" + (f"; {count_text(len(left), 'file')} could not be deleted." if left else ".")
        files = [{"location": location, "reason": reason} for location, reason in left]
        return Outcome(text, {"leftover_files": files}, is_partial=bool(left))

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


@verb("rename", returns="document", changes=True)
@table_argument
@click.argument("new_name")
def rename(session: Session, table: str, new_name: str, dry_run: bool, yes: bool) -> int:
    """Rename a table; its files stay where they are."""
    session.changeable_table(table)
    change = Change("rename", table, f"Rename table {table} to {new_name}.", {"new_name": new_name})

    def make() -> Outcome:
        session.catalog.rename_table(table, new_name)
        return Outcome(f"Renamed table {table} to {new_name}.")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


@verb("register", returns="document", changes=True)
@click.argument("table")
@click.argument("metadata_location")
@click.option("--overwrite", is_flag=True, help="Replace a table of this name.")
def register(session: Session, table: str, metadata_location: str, overwrite: bool, dry_run: bool, yes: bool) -> int:
    """Add an existing table to the catalog by its newest metadata file."""
    location = session.catalog.absolute(metadata_location)
    found = session.table(location)
    summary = f"Register the table at {found.location()} as {table}" + (
        ", in place of a table of this name." if overwrite else "."
    )
    change = Change("register", table, summary, {"metadata_location": location, "overwrite": overwrite})

    def make() -> Outcome:
        session.catalog.register_table(table, location, overwrite)
        return Outcome(f"Registered table {table}.")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


def _size_text(table: Table) -> str:
    values: dict[str, Any] = table_values(table)
    if values["row_count"] is None or values["total_bytes"] is None:
        return count_text(values["snapshot_count"], "snapshot")
    files = count_text(values["data_file_count"] or 0, "data file")
    return f"{count_text(values['row_count'], 'row')}, {files}, {bytes_text(values['total_bytes'])}"
