"""The verbs `snapshots`, `refs` and `history`: versions of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa

from icefloe.cli.table_argument import display_name, table_argument
from icefloe.cli.verb import verb

if TYPE_CHECKING:
    from icefloe.cli.session import Session

_MOMENT = pa.timestamp("ms", "UTC")
_COUNTS = {
    "added-records": "added_rows",
    "deleted-records": "deleted_rows",
    "added-data-files": "added_files",
    "deleted-data-files": "deleted_files",
    "total-records": "total_rows",
    "total-data-files": "total_files",
    "total-files-size": "total_bytes",
    "total-delete-files": "total_delete_files",
}
_SNAPSHOTS = pa.schema(
    [
        ("committed_at", _MOMENT),
        ("snapshot_id", pa.int64()),
        ("parent_id", pa.int64()),
        ("operation", pa.string()),
        ("refs", pa.list_(pa.string())),
        *((name, pa.int64()) for name in _COUNTS.values()),
    ]
)


@verb("snapshots", returns="rows")
@table_argument
@click.option("--last", type=click.IntRange(min=1), help="The newest snapshots only.")
def snapshots(session: Session, table: str, last: int | None) -> None:
    """List the snapshots of a table, oldest first, with their branches and tags."""
    loaded = session.table(table)
    names: dict[int, list[str]] = {}
    for name, ref in sorted(loaded.metadata.refs.items()):
        names.setdefault(ref.snapshot_id, []).append(name)
    found = loaded.snapshots()
    rows: list[dict[str, Any]] = []
    for one in found if last is None else found[-last:]:
        summary = {} if one.summary is None else one.summary.additional_properties
        rows.append(
            {
                "committed_at": one.timestamp_ms,
                "snapshot_id": one.snapshot_id,
                "parent_id": one.parent_snapshot_id,
                "operation": one.operation.value,
                "refs": names.get(one.snapshot_id, []),
                **{column: _count(summary.get(key)) for key, column in _COUNTS.items()},
            }
        )
    session.output.rows(
        {"table": display_name(loaded), "current_snapshot_id": _text(loaded.metadata.current_snapshot_id)},
        pa.Table.from_pylist(rows, _SNAPSHOTS),
    )


@verb("refs", returns="rows")
@table_argument
@click.option("--type", "kind", type=click.Choice(["branch", "tag"]), help="Branches only, or tags only.")
def refs(session: Session, table: str, kind: str | None) -> None:
    """List the branches and tags of a table, with their retention."""
    loaded = session.table(table)
    rows = loaded.inspect.refs()
    wanted = [one in (kind, None) or kind is None for one in (name.lower() for name in rows.column("type").to_pylist())]
    session.output.rows({"table": display_name(loaded)}, rows.filter(pa.array(wanted, pa.bool_())))


@verb("history", returns="rows")
@table_argument
def history(session: Session, table: str) -> None:
    """List the snapshots that were current, and when they became so."""
    loaded = session.table(table)
    session.output.rows({"table": display_name(loaded)}, loaded.inspect.history())


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _text(snapshot_id: int | None) -> str | None:
    return None if snapshot_id is None else str(snapshot_id)
