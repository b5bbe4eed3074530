"""The verb `describe`: a table or a namespace on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.failure import NotFoundError
from icefloe.cli.key_values import KeyValues
from icefloe.cli.session import is_location
from icefloe.cli.table_argument import TableName, display_name
from icefloe.cli.verb import verb
from icefloe.exceptions import NoSuchNamespaceError, NoSuchTableError
from icefloe.table.maintenance.age import iso_time
from icefloe.table.maintenance.display import bytes_text

if TYPE_CHECKING:
    from icefloe.cli.session import Session
    from icefloe.table import Table

_TOTALS = {
    "total-records": "row_count",
    "total-data-files": "data_file_count",
    "total-files-size": "total_bytes",
    "total-delete-files": "delete_file_count",
}


@verb("describe", returns="document")
@click.argument("name", type=TableName())
def describe(session: Session, name: str) -> None:
    """Describe a table or a namespace: schema, partitioning, size, current snapshot and properties."""
    try:
        values = table_values(session.table(name))
    except NoSuchTableError:
        if is_location(name):
            raise
        values = _namespace_values(session, name)
    session.output.document(values, KeyValues(_texts(values)))


def table_values(table: Table) -> dict[str, Any]:
    """Return the description of a table as JSON values."""
    metadata, snapshot = table.metadata, table.current_snapshot()
    summary = {} if snapshot is None or snapshot.summary is None else snapshot.summary.additional_properties
    totals = {key: int(summary[name]) for name, key in _TOTALS.items() if summary.get(name, "").isdigit()}
    return {
        "type": "table",
        "table": display_name(table),
        "location": table.location(),
        "metadata_location": table.metadata_location,
        "uuid": None if metadata.table_uuid is None else str(metadata.table_uuid),
        "format_version": metadata.format_version,
        "last_updated_at": iso_time(metadata.last_updated_ms),
        "current_snapshot_id": None if snapshot is None else str(snapshot.snapshot_id),
        "snapshot_count": len(metadata.snapshots),
        "refs": sorted(metadata.refs),
        **{key: totals.get(key) for key in _TOTALS.values()},
        "schema": [str(field) for field in table.schema().fields],
        "partition_spec": [_field_text(table, field) for field in table.spec().fields],
        "sort_order": [str(field) for field in table.sort_order().fields],
        "properties": table.properties,
    }


def _field_text(table: Table, field: Any) -> str:
    source = table.schema().find_column_name(field.source_id) or f"field {field.source_id}"
    return f"{field.name}: {field.transform}({source})"


def _namespace_values(session: Session, name: str) -> dict[str, Any]:
    try:
        properties = session.catalog.load_namespace_properties(name)
    except NoSuchNamespaceError:
        raise NotFoundError(f"catalog {session.catalog.name!r} has no table or namespace {name}") from None
    return {"type": "namespace", "namespace": name, "properties": properties}


def _texts(values: dict[str, Any]) -> dict[str, Any]:
    texts = {key: value for key, value in values.items() if value is not None and key != "type"}
    if "total_bytes" in texts:
        texts["size"] = bytes_text(texts.pop("total_bytes"))
    return texts
