"""The verbs `expire` and `orphans`: files that no retained snapshot needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.maintain.maintaining import maintenance_verb
from icefloe.cli.table_argument import table_argument

if TYPE_CHECKING:
    from icefloe.table.maintenance import MaintenanceTable

_older_than = click.option(
    "--older-than", metavar="AGE", help="An age such as 7d, or a time such as 2026-11-01T00:00Z."
)
_outside = click.option("--allow-outside", is_flag=True, help="Also delete files outside of the table's locations.")


def _expire(maintenance: MaintenanceTable, values: dict[str, Any]) -> Any:
    builder = maintenance.expire_snapshots()
    if values["older_than"] is not None:
        builder = builder.older_than(values["older_than"])
    if values["retain_last"] is not None:
        builder = builder.retain_last(values["retain_last"])
    if values["snapshot_ids"]:
        builder = builder.by_ids(values["snapshot_ids"])
    builder = builder.clean_expired_metadata(values["clean_metadata"]).delete_files(not values["keep_files"])
    return builder.allow_outside(values["allow_outside"])


expire = maintenance_verb(
    "expire",
    "Expire snapshots by age, and delete the files that only they need.",
    [
        table_argument,
        _older_than,
        click.option("--retain-last", type=click.IntRange(min=1), help="Snapshots of each branch to keep."),
        click.option("--snapshot-id", "snapshot_ids", type=int, multiple=True, help="A snapshot to expire."),
        click.option("--clean-metadata", is_flag=True, help="Also remove schemas and specs that nothing uses."),
        click.option("--keep-files", is_flag=True, help="Change the metadata only."),
        _outside,
    ],
    _expire,
)


def _orphans(maintenance: MaintenanceTable, values: dict[str, Any]) -> Any:
    builder = maintenance.remove_orphan_files()
    if values["older_than"] is not None:
        builder = builder.older_than(values["older_than"])
    if values["location"] is not None:
        builder = builder.location(values["location"], allow_outside=values["allow_outside"])
    return builder.force(values["force"])


orphans = maintenance_verb(
    "orphans",
    "Delete files at the table's location that no snapshot refers to.",
    [
        table_argument,
        _older_than,
        click.option("--location", help="A directory to look in instead of the table's locations."),
        click.option(
            "--force", is_flag=True, help="Accept an age below 24 hours: files of running writers may be lost."
        ),
        _outside,
    ],
    _orphans,
)
