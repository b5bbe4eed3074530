"""The verb `create`: a new table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from icefloe.cli.carry_out import Change, Outcome, carry_out
from icefloe.cli.change.column_texts import schema_from_text, sort_order_from_text, spec_from_text
from icefloe.cli.change.data_files import arrow_schema
from icefloe.cli.verb import key_values, verb
from icefloe.io.pyarrow import pyarrow_to_schema
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
from icefloe.schema import Schema, assign_fresh_schema_ids
from icefloe.table.sorting import UNSORTED_SORT_ORDER

if TYPE_CHECKING:
    from icefloe.cli.session import Session


@verb("create", returns="document", changes=True)
@click.argument("table")
@click.option("--schema", "columns", metavar="COLUMNS", help="Columns such as 'id long not null, at timestamptz'.")
@click.option(
    "--schema-file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A schema as the specification's JSON, or a data file with the columns.",
)
@click.option("--like", metavar="TABLE", help="A table with the schema.")
@click.option("--partition-by", metavar="FIELDS", help="Partition fields such as 'day(at), bucket(16, id)'.")
@click.option("--sort-by", metavar="FIELDS", help="Sort order such as 'day(at) desc, id nulls last'.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A table property.")
@click.option("--location", help="The table's location.  [default: below the warehouse]")
def create(
    session: Session,
    table: str,
    columns: str | None,
    schema_file: Path | None,
    like: str | None,
    partition_by: str | None,
    sort_by: str | None,
    settings: tuple[str, ...],
    location: str | None,
    dry_run: bool,
    yes: bool,
) -> int:
    """Create an empty table."""
    schema = _schema(session, columns, schema_file, like)
    spec = UNPARTITIONED_PARTITION_SPEC if partition_by is None else spec_from_text(partition_by, schema)
    order = UNSORTED_SORT_ORDER if sort_by is None else sort_order_from_text(sort_by, schema)
    wanted = key_values(settings, "--set")
    change = Change(
        "create",
        table,
        f"Create table {table} with {len(schema.fields)} columns.",
        {
            "schema": schema.model_dump(mode="json"),
            "partition_spec": [str(field) for field in spec.fields],
            "sort_order": [str(field) for field in order.fields],
            "properties": wanted,
            "location": location,
        },
    )

    def make() -> Outcome:
        created = session.catalog.create_table(table, schema, location, spec, order, wanted)
        return Outcome(f"Created table {table} at {created.location()}.", {"location": created.location()})

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


def _schema(session: Session, columns: str | None, schema_file: Path | None, like: str | None) -> Schema:
    if sum(one is not None for one in (columns, schema_file, like)) != 1:
        raise click.UsageError("expected one of --schema, --schema-file and --like")
    if columns is not None:
        return schema_from_text(columns)
    if like is not None:
        return session.table(like).schema()
    assert schema_file is not None
    if schema_file.suffix == ".json":
        return Schema.model_validate(json.loads(schema_file.read_text(encoding="utf-8")))
    return assign_fresh_schema_ids(pyarrow_to_schema(arrow_schema(str(schema_file))))
