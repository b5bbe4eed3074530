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
    from icefloe.table.inspect.metadata_scan import MetadataScan

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
@click.argument("name", type=click.Choice(METADATA_TABLES, case_sensitive=False))
@at_option
@click.option("--where", default="true", help="Filter on the columns of the metadata table.")
@click.option(
    "--row-filter", default="true", help="Filter on the columns of the table: only files that may have such rows."
)
@click.option("--columns", help="Columns, separated by commas; their fields with dots, such as partition.day.")
@_limit
def inspect(
    session: Session,
    table: str,
    name: str,
    at: str | None,
    where: str,
    row_filter: str,
    columns: str | None,
    limit: int | None,
) -> None:
    """Show the metadata table NAME of a table, with all its columns."""
    loaded = session.table(table)
    names = None if columns is None else tuple(one.strip() for one in columns.split(","))
    rows = metadata_table(loaded, name, at, where=where, row_filter=row_filter, columns=names)
    _write_rows(session, loaded, name, rows, limit)


def metadata_table(
    table: Table,
    name: str,
    at: str | None = None,
    *,
    where: str = "true",
    row_filter: str = "true",
    columns: tuple[str, ...] | None = None,
) -> pa.Table:
    """Return a metadata table, of a version if it depends on one.

    Args:
        table: The table.
        name: Name of the metadata table.
        at: A version of the table.
        where: Filter on the columns of the metadata table.
        row_filter: Filter on the columns of the table.
        columns: Names of the columns, in this order, with dots for fields of columns; all if None. No other column is decoded.

    Raises:
        UsageError: A version is given, and the metadata table has none; or a column or a filter is not valid.
    """
    if at is not None and name not in OF_ONE_SNAPSHOT:
        raise click.UsageError(f"metadata table {name} is of all versions; expected no --at")
    snapshot_id = None if at is None else snapshot_id_of(table, at)
    scan = table.inspect.scan(name, snapshot_id, where=where, row_filter=row_filter)
    if columns is not None:
        scan = _selected(scan, columns)
    try:
        rows = scan.to_arrow()
    except ValidationError as error:
        if where == row_filter == "true":
            raise
        raise click.UsageError(f"{'--row-filter' if where == 'true' else '--where'}: {error}") from error
    return rows if columns is None else rows.select(list(dict.fromkeys(one.split(".")[0] for one in columns)))


def _write(
    session: Session, table: Table, name: str, at: str | None, limit: int | None, text_columns: tuple[str, ...] | None
) -> None:
    columns = None
    if session.format == "text" and text_columns is not None:
        existing = table.inspect.scan(name).arrow_schema().names
        columns = tuple(one for one in text_columns if one in existing)
    rows = metadata_table(table, name, at, columns=columns)
    _write_rows(session, table, name, rows, limit)


def _write_rows(session: Session, table: Table, name: str, rows: pa.Table, limit: int | None) -> None:
    shown = rows if limit is None or limit == 0 else rows.slice(0, limit)
    head = {"table": display_name(table), "metadata_table": name, "total_rows": rows.num_rows}
    session.output.rows(head, shown, all_rows=limit is not None)


def _selected(scan: MetadataScan, columns: tuple[str, ...]) -> MetadataScan:
    """Return a scan with some columns and fields of columns.

    Raises:
        UsageError: There is no such column or field.
    """
    expected = [field.name for field in scan.schema().fields]
    unknown = [name for name in columns if name.split(".")[0] not in expected]
    if unknown:
        raise click.UsageError(f"unknown column {', '.join(unknown)}; expected some of {', '.join(expected)}")
    selected = scan.select(*columns)
    try:
        selected.arrow_schema()
    except ValidationError as error:
        raise click.UsageError(f"--columns: {error}") from error
    return selected
