"""The verbs `scan` and `explain`: rows of a table, and how they would be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from icefloe.cli.table_argument import at_option, display_name, snapshot_id_of, table_argument
from icefloe.cli.text_table import SHOWN_ROWS
from icefloe.cli.verb import verb
from icefloe.expressions import AlwaysTrue

if TYPE_CHECKING:
    from icefloe.cli.session import Session
    from icefloe.table import DataScan, Table

_where = click.option("--where", metavar="FILTER", help="Rows to select, such as \"id > 5 and country = 'fr'\".")
_columns = click.option("--columns", help="Columns, separated by commas.")


@verb("scan", returns="rows")
@table_argument
@at_option
@_where
@_columns
@click.option(
    "--limit", type=click.IntRange(min=0), help="Most rows; 0 for all.  [default: 100 on a terminal, else all]"
)
def scan(
    session: Session, table: str, at: str | None, where: str | None, columns: str | None, limit: int | None
) -> None:
    """Print rows of a table."""
    loaded = session.table(table)
    most = _most(limit, is_shown=session.format == "text" and session.output.console.is_terminal)
    selected = _scan(loaded, at, where, columns, most)
    head = {"table": display_name(loaded)}
    if session.format in ("text", "json"):
        session.output.rows(head, selected.to_arrow(), ids_as_text=False, all_rows=True)
        if limit is None and most is not None:
            session.note(f"at most {most} rows are shown; --limit 0 shows all")
        return
    reader = selected.to_arrow_batch_reader()
    session.output.batches(reader.schema, reader, ids_as_text=False)


@verb("explain", returns="document")
@table_argument
@at_option
@_where
@_columns
def explain(session: Session, table: str, at: str | None, where: str | None, columns: str | None) -> None:
    """Explain a scan: manifests, files, deletes and row groups to read and to skip."""
    loaded = session.table(table)
    explanation = _scan(loaded, at, where, columns, None).explain()
    values = {
        "table": display_name(loaded),
        "snapshot_id": None if explanation.snapshot_id is None else str(explanation.snapshot_id),
        "filter": explanation.row_filter,
        "columns": list(explanation.columns),
        "counters": explanation.counters,
        "tasks": explanation.splits,
        "findings": [
            {"subject": one.subject, "text": one.text, "details": list(one.details)} for one in explanation.findings()
        ],
    }
    session.output.document(values, explanation)


def _most(limit: int | None, *, is_shown: bool) -> int | None:
    if limit is None:
        return SHOWN_ROWS if is_shown else None
    return None if limit == 0 else limit


def _scan(table: Table, at: str | None, where: str | None, columns: str | None, limit: int | None) -> DataScan:
    names = ("*",) if columns is None else tuple(one.strip() for one in columns.split(","))
    return table.scan(
        row_filter=AlwaysTrue() if where is None else where,
        selected_fields=names,
        snapshot_id=None if at is None else snapshot_id_of(table, at),
        limit=limit,
    )
