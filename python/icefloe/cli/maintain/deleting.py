"""The verbs `expire` and `orphans`: files that no retained snapshot needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.maintain.maintaining import maintenance_verb
from icefloe.cli.table_argument import snapshot_id_of, table_argument
from icefloe.cli.verb import key_values
from icefloe.exceptions import ValidationError
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.age import moment_ms
from icefloe.table.maintenance.orphans.orphans import PREFIX_MISMATCH_MODES

if TYPE_CHECKING:
    from icefloe.table.maintenance import MaintenanceTable


def _check_moment(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """Refuse a text that is neither a time nor an age before any work."""
    if text is not None:
        try:
            moment_ms(text, SYSTEM.now_ms(), "--older-than")
        except ValidationError as error:
            raise click.UsageError(str(error)) from error
    return text


_older_than = click.option(
    "--older-than",
    metavar="AGE",
    callback=_check_moment,
    help="An age such as 7d, or a time such as 2026-11-01T00:00Z.",
)
_outside = click.option("--allow-outside", is_flag=True, help="Also delete files outside of the table's locations.")


def _expire(maintenance: MaintenanceTable, values: dict[str, Any]) -> Any:
    builder = maintenance.expire_snapshots()
    if values["older_than"] is not None:
        builder = builder.older_than(values["older_than"])
    if values["retain_last"] is not None:
        builder = builder.retain_last(values["retain_last"])
    table: Any = maintenance.tbl
    for snapshot_id in values["snapshot_ids"]:
        # Refuses an id that the table does not have.
        snapshot_id_of(table, str(snapshot_id))
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
    elif values["allow_outside"]:
        raise click.UsageError("--allow-outside: expected --location as well")
    builder = builder.check_neighbours(not values["ignore_neighbours"])
    if values["inventory"] is not None:
        builder = builder.inventory(_report(values["inventory"]))
    for option in ("equal_schemes", "equal_authorities"):
        builder = getattr(builder, option)(key_values(values[option], f"--{option.replace('_', '-')}"))
    return builder.prefix_mismatch_mode(values["prefix_mismatch_mode"]).force(values["force"])


def _report(path: Path) -> Any:
    """Return the rows of an inventory report in Parquet, or in CSV with a line of names."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    try:
        return csv.read_csv(path) if path.suffix.lower() == ".csv" else parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise click.UsageError(f"--inventory: cannot read {path}: {error}") from error


orphans = maintenance_verb(
    "orphans",
    "Delete files at the table's location that no snapshot refers to.",
    [
        table_argument,
        _older_than,
        click.option(
            "--location", metavar="DIRECTORY", help="A directory to look in instead of the table's locations."
        ),
        click.option(
            "--inventory",
            metavar="FILE",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            help="A report in Parquet or CSV, with file_path, last_modified and size, instead of a listing.",
        ),
        click.option(
            "--prefix-mismatch-mode",
            type=click.Choice(PREFIX_MISMATCH_MODES),
            default="error",
            show_default=True,
            help="What to do with a file whose path the table has under another scheme or authority.",
        ),
        click.option("--equal-schemes", metavar="NAMES=NAME", multiple=True, help="Equal schemes, such as s3a,s3n=s3."),
        click.option(
            "--equal-authorities", metavar="NAMES=NAME", multiple=True, help="Equal authorities, such as a,b=c."
        ),
        click.option(
            "--force", is_flag=True, help="Accept an age below 24 hours: files of running writers may be lost."
        ),
        click.option("--allow-outside", is_flag=True, help="Accept a --location outside of the table's locations."),
        click.option(
            "--ignore-neighbours",
            is_flag=True,
            help="Do not look for other tables in the same directories: their files would be deleted.",
        ),
    ],
    _orphans,
)
