"""The verbs `files`, `manifests`, `partitions` and `inspect`: metadata tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from icefloe.cli.table_argument import at_option, display_name, snapshot_id_of, table_argument
from icefloe.cli.verb import verb
from icefloe.exceptions import ValidationError
from icefloe.table.inspect import METADATA_TABLES, OF_ONE_SNAPSHOT

if TYPE_CHECKING:
    import pyarrow as pa

    from icefloe.cli.session import Session
    from icefloe.table import Table

_FILE_COLUMNS = ("content", "file_path", "file_format", "partition", "record_count", "file_size_in_bytes")
_MANIFEST_COLUMNS = ("content", "path", "length", "partition_spec_id", "added_snapshot_id")
_limit = click.option("--limit", type=click.IntRange(min=0), help="Most rows; 0 for all.")


@verb("files", returns="rows")
@table_argument
@at_option
@_limit
def files(session: Session, table: str, at: str | None, limit: int | None) -> None:
    """List the data and delete files of a version of a table."""
    _write(session, session.table(table), "files", at, limit, _FILE_COLUMNS)


@verb("manifests", returns="rows")
@table_argument
@at_option
@_limit
def manifests(session: Session, table: str, at: str | None, limit: int | None) -> None:
    """List the manifests of a version of a table."""
    _write(session, session.table(table), "manifests", at, limit, _MANIFEST_COLUMNS)


@verb("partitions", returns="rows")
@table_argument
@at_option
@_limit
def partitions(session: Session, table: str, at: str | None, limit: int | None) -> None:
    """List the partitions of a version of a table: files, rows, bytes and deletes of each."""
    _write(session, session.table(table), "partitions", at, limit, None)


@verb("inspect", returns="rows")
@table_argument
@click.argument("name", type=click.Choice(METADATA_TABLES))
@at_option
@click.option("--where", default="true", help="Filter on the columns of the metadata table.")
@click.option("--columns", help="Columns, separated by commas.")
@_limit
def inspect(
    session: Session, table: str, name: str, at: str | None, where: str, columns: str | None, limit: int | None
) -> None:
    """Show the metadata table NAME of a table, with all its columns."""
    loaded = session.table(table)
    rows = metadata_table(loaded, name, at, where)
    if columns is not None:
        rows = rows.select(_known(rows, [one.strip() for one in columns.split(",")]))
    _write_rows(session, loaded, name, rows, limit)


def metadata_table(table: Table, name: str, at: str | None = None, where: str = "true") -> pa.Table:
    """Return a metadata table, of a version if it depends on one.

    Raises:
        UsageError: A version is given, and the metadata table has none.
    """
    if at is not None and name not in OF_ONE_SNAPSHOT:
        raise click.UsageError(f"metadata table {name} is of all versions; expected no --at")
    scan = table.inspect.scan(name, None if at is None else snapshot_id_of(table, at), where=where)
    try:
        return scan.to_arrow()
    except ValidationError as error:
        if where == "true":
            raise
        raise click.UsageError(f"--where: {error}") from error


def _write(
    session: Session, table: Table, name: str, at: str | None, limit: int | None, text_columns: tuple[str, ...] | None
) -> None:
    rows = metadata_table(table, name, at)
    if session.format == "text" and text_columns is not None:
        rows = rows.select([one for one in text_columns if one in rows.column_names])
    _write_rows(session, table, name, rows, limit)


def _write_rows(session: Session, table: Table, name: str, rows: pa.Table, limit: int | None) -> None:
    shown = rows if limit is None or limit == 0 else rows.slice(0, limit)
    head = {"table": display_name(table), "metadata_table": name, "total_rows": rows.num_rows}
    session.output.rows(head, shown, all_rows=limit is not None)


def _known(rows: pa.Table, names: list[str]) -> list[str]:
    unknown = [name for name in names if name not in rows.column_names]
    if unknown:
        raise click.UsageError(f"unknown column {', '.join(unknown)}; expected some of {', '.join(rows.column_names)}")
    return names
