"""The verbs `schema` and `spec`: columns and partition fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa

from icefloe.cli.table_argument import display_name, table_argument
from icefloe.cli.verb import verb
from icefloe.schema import index_name_by_id

if TYPE_CHECKING:
    from icefloe.cli.session import Session

_SCHEMA = pa.schema(
    [
        ("schema_id", pa.int32()),
        ("field_id", pa.int32()),
        ("name", pa.string()),
        ("type", pa.string()),
        ("required", pa.bool_()),
        ("identifier", pa.bool_()),
        ("initial_default", pa.string()),
        ("write_default", pa.string()),
        ("doc", pa.string()),
    ]
)
_SPEC = pa.schema(
    [
        ("spec_id", pa.int32()),
        ("field_id", pa.int32()),
        ("name", pa.string()),
        ("transform", pa.string()),
        ("source_id", pa.int32()),
        ("source", pa.string()),
    ]
)
_DETAILS = ("identifier", "initial_default", "write_default", "doc")
_all = click.option("--all", "every", is_flag=True, help="Every version, and not the current one only.")


@verb("schema", returns="rows")
@table_argument
@_all
def schema(session: Session, table: str, every: bool) -> None:
    """Show the columns of a table, nested fields below their parents."""
    loaded = session.table(table)
    rows: list[dict[str, Any]] = []
    for one in loaded.metadata.schemas if every else (loaded.schema(),):
        for field_id, name in index_name_by_id(one).items():
            field = one.find_field(field_id)
            rows.append(
                {
                    "schema_id": one.schema_id,
                    "field_id": field_id,
                    "name": name,
                    "type": "struct" if field.field_type.is_struct else str(field.field_type),
                    "required": field.required,
                    "identifier": field_id in one.identifier_field_ids,
                    "initial_default": _default(field.initial_default),
                    "write_default": _default(field.write_default),
                    "doc": field.doc,
                }
            )
    columns = pa.Table.from_pylist(rows, _SCHEMA)
    shown = columns if session.format != "text" else _without_empty(columns, every=every)
    session.output.rows({"table": display_name(loaded), "current_schema_id": str(loaded.schema().schema_id)}, shown)


@verb("spec", returns="rows")
@table_argument
@_all
def spec(session: Session, table: str, every: bool) -> None:
    """Show the partition fields of a table."""
    loaded = session.table(table)
    rows = [
        {
            "spec_id": one.spec_id,
            "field_id": field.field_id,
            "name": field.name,
            "transform": str(field.transform),
            "source_id": field.source_id,
            "source": loaded.schema().find_column_name(field.source_id),
        }
        for one in (loaded.metadata.partition_specs if every else (loaded.spec(),))
        for field in one.fields
    ]
    head = {"table": display_name(loaded), "default_spec_id": str(loaded.metadata.default_spec_id)}
    session.output.rows(head, pa.Table.from_pylist(rows, _SPEC))
    if not rows and session.format == "text":
        session.note("the table is not partitioned")


def _default(value: Any) -> str | None:
    return None if value is None else str(value)


def _without_empty(rows: pa.Table, *, every: bool) -> pa.Table:
    """Return the columns that say something: text shows no columns of nulls."""
    dropped = [name for name in _DETAILS if set(rows.column(name).to_pylist()) <= {None, False}]
    return rows.drop_columns(dropped if every else ["schema_id", *dropped])
