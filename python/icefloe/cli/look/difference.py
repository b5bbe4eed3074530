"""The verb `diff`: what differs between two versions of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa
import pyarrow.compute as pc

from icefloe.cli.table_argument import display_name, snapshot_id_of, table_argument
from icefloe.cli.verb import verb
from icefloe.table.maintenance.display import bytes_text, count_text

if TYPE_CHECKING:
    from icefloe.cli.session import Session
    from icefloe.table import Table

_COLUMNS = ["content", "file_path", "record_count", "file_size_in_bytes"]


@verb("diff", returns="rows")
@table_argument
@click.argument("older")
@click.argument("newer", required=False)
@click.option(
    "--rows", "count_rows", is_flag=True, help="Also count inserted and deleted rows, by reading the changed files."
)
def diff(session: Session, table: str, older: str, newer: str | None, count_rows: bool) -> None:
    """List the files that differ between the versions OLDER and NEWER, by default the current one.

    A version is a snapshot id, a branch or tag, a time or an age.
    """
    loaded = session.table(table)
    ids = snapshot_id_of(loaded, older), snapshot_id_of(loaded, newer)
    before, after = (_files(loaded, one) for one in ids)
    removed, added = _without(before, after), _without(after, before)
    rows = pa.concat_tables([_with_change(removed, "removed"), _with_change(added, "added")])
    head: dict[str, Any] = {
        "table": display_name(loaded),
        "older_snapshot_id": None if ids[0] is None else str(ids[0]),
        "newer_snapshot_id": None if ids[1] is None else str(ids[1]),
        "removed": _totals(removed),
        "added": _totals(added),
        "schema_changed": _schema_id(loaded, ids[0]) != _schema_id(loaded, ids[1]),
    }
    if count_rows:
        head["rows_changed"] = _row_changes(loaded, *ids)
    for name in ("removed", "added"):
        session.note(f"{name}: {count_text(head[name]['files'], 'file')}, {bytes_text(head[name]['bytes'])}")
    if count_rows:
        session.note(
            ", ".join(f"{kind.lower()}: {count_text(count, 'row')}" for kind, count in head["rows_changed"].items())
        )
    session.output.rows(head, rows)


def _files(table: Table, snapshot_id: int | None) -> pa.Table:
    return table.inspect.files(snapshot_id).select(_COLUMNS)


def _without(files: pa.Table, others: pa.Table) -> pa.Table:
    return files.filter(pc.invert(pc.is_in(files.column("file_path"), value_set=others.column("file_path"))))


def _with_change(files: pa.Table, change: str) -> pa.Table:
    return files.add_column(0, "change", pa.array([change] * files.num_rows, pa.string()))


def _totals(files: pa.Table) -> dict[str, int]:
    return {
        "files": files.num_rows,
        "bytes": pc.sum(files.column("file_size_in_bytes")).as_py() or 0,
        "records": pc.sum(files.column("record_count")).as_py() or 0,
    }


def _schema_id(table: Table, snapshot_id: int | None) -> int | None:
    snapshot = None if snapshot_id is None else table.snapshot_by_id(snapshot_id)
    return None if snapshot is None else snapshot.schema_id


def _row_changes(table: Table, older: int | None, newer: int | None) -> dict[str, int]:
    scan = table.incremental_changelog_scan(
        from_snapshot_id_exclusive=older, to_snapshot_id_inclusive=newer, selected_fields=(), net_changes=True
    )
    counts = {"INSERT": 0, "DELETE": 0}
    for batch in scan.to_arrow_batch_reader():
        for one in pc.value_counts(batch.column("_change_type")).to_pylist():
            counts[one["values"]] = counts.get(one["values"], 0) + one["counts"]
    return counts
