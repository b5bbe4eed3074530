"""The verb `rewrite-path`: a copy of a table's metadata for another location."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.maintain.maintaining import maintenance_verb
from icefloe.cli.table_argument import table_argument

if TYPE_CHECKING:
    from icefloe.table.maintenance import MaintenanceTable


def _rewrite_path(maintenance: MaintenanceTable, values: dict[str, Any]) -> Any:
    source = values["source_prefix"]
    return maintenance.rewrite_table_path(
        maintenance.tbl.metadata.location if source is None else source,
        values["target_prefix"],
        staging_location=values["staging_location"],
        start_version=values["start_version"],
        end_version=values["end_version"],
    )


rewrite_path = maintenance_verb(
    "rewrite-path",
    "Stage the table's metadata for another location, and list the files to copy there.",
    [
        table_argument,
        click.argument("target_prefix", metavar="TARGET"),
        click.option(
            "--source-prefix", metavar="DIRECTORY", help="A directory of all files.  [default: the table's location]"
        ),
        click.option(
            "--staging-location",
            metavar="DIRECTORY",
            help="An empty directory for the list and the staged files.  [default: a new one beside the metadata]",
        ),
        click.option("--start-version", metavar="FILE", help="The metadata file that an earlier copy ended with."),
        click.option("--end-version", metavar="FILE", help="The last metadata file of the copy.  [default: current]"),
    ],
    _rewrite_path,
)
