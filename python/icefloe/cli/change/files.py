"""The verbs `append` and `add-files`: rows of files, or the files themselves, into a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa

from icefloe.cli.carry_out import Change, Outcome, carry_out
from icefloe.cli.change.data_files import rows_of, sizes_of
from icefloe.cli.table_argument import table_argument
from icefloe.cli.verb import key_values, verb
from icefloe.table.maintenance.display import bytes_text, count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.cli.session import Session
    from icefloe.table import Table

_branch = click.option("--branch", default="main", show_default=True, help="The branch to change.")
_summary = click.option("--summary", multiple=True, metavar="KEY=VALUE", help="A key of the snapshot's summary.")


@verb("append", returns="document", changes=True)
@table_argument
@click.argument("files", nargs=-1, required=True, type=click.Path())
@_branch
@_summary
def append(
    session: Session,
    table: str,
    files: tuple[str, ...],
    branch: str,
    summary: tuple[str, ...],
    dry_run: bool,
    yes: bool,
) -> int:
    """Append the rows of FILES in one snapshot: Parquet, Arrow, CSV or JSON lines; - is an Arrow stream on standard input."""
    sizes = sizes_of(files)
    keys = key_values(summary, "--summary")
    loaded = session.changeable_table(table)
    size = bytes_text(sum(one or 0 for one in sizes))
    change = Change(
        "append",
        table,
        f"Append the rows of {count_text(len(files), 'file')} ({size}) to branch {branch} of {table}.",
        {"files": list(files), "bytes": sum(one or 0 for one in sizes), "branch": branch},
        _listing(files, sizes),
    )

    def make() -> Outcome:
        loaded.append(rows_of(files, loaded.schema().as_arrow()), keys, branch)
        return _appended(loaded, branch, "Appended")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


@verb("add-files", returns="document", changes=True)
@table_argument
@click.argument("files", nargs=-1, required=True)
@_branch
@_summary
@click.option("--allow-duplicates", is_flag=True, help="Do not check whether the table has a file already.")
def add_files(
    session: Session,
    table: str,
    files: tuple[str, ...],
    branch: str,
    summary: tuple[str, ...],
    allow_duplicates: bool,
    dry_run: bool,
    yes: bool,
) -> int:
    """Add existing Parquet, ORC and Avro FILES to a table where they are; only footers, headers and columns in doubt are read."""
    keys = key_values(summary, "--summary")
    loaded = session.changeable_table(table)
    locations = [loaded.io.core.absolute(one) for one in files]
    sizes = loaded.io.core.sizes(locations).to_pylist()
    change = Change(
        "add-files",
        table,
        f"Add {count_text(len(files), 'file')} ({bytes_text(sum(sizes))}) to branch {branch} of {table}; the files stay where they are.",
        {"files": locations, "bytes": sum(sizes), "branch": branch},
        _listing(locations, sizes),
    )

    def make() -> Outcome:
        loaded.add_files(locations, keys, not allow_duplicates, branch)
        return _appended(loaded, branch, "Added")

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


def _listing(files: Sequence[str], sizes: list[int | None]) -> pa.Table:
    return pa.table({"file": pa.array(list(files), pa.string()), "bytes": pa.array(sizes, pa.int64())})


def _appended(table: Table, branch: str, done: str) -> Outcome:
    snapshot = table.snapshot_by_name(branch)
    if snapshot is None:
        return Outcome(f"{done} no rows.")
    counts: dict[str, Any] = {} if snapshot.summary is None else snapshot.summary.additional_properties
    rows, files = int(counts.get("added-records", 0)), int(counts.get("added-data-files", 0))
    return Outcome(
        f"{done} {count_text(rows, 'row')} in {count_text(files, 'data file')}: snapshot {snapshot.snapshot_id}.",
        {"snapshot_id": str(snapshot.snapshot_id), "added_rows": rows, "added_data_files": files},
    )
