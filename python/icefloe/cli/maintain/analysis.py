"""The verb `analyze`: statistics of columns or of partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.maintain.maintaining import maintenance_verb
from icefloe.cli.table_argument import at_option, snapshot_id_of, table_argument

if TYPE_CHECKING:
    from icefloe.table.maintenance import MaintenanceTable


def _analyze(maintenance: MaintenanceTable, values: dict[str, Any]) -> Any:
    table: Any = maintenance.tbl
    snapshot_id = None if values["at"] is None else snapshot_id_of(table, values["at"])
    if values["partitions"] and values["columns"] is not None:
        raise click.UsageError("--columns: expected no --partitions")
    builder: Any = (
        maintenance.compute_partition_statistics() if values["partitions"] else maintenance.compute_statistics()
    )
    if values["columns"] is not None:
        builder = builder.columns(*(one.strip() for one in values["columns"].split(",")))
    return builder if snapshot_id is None else builder.snapshot(snapshot_id)


analyze = maintenance_verb(
    "analyze",
    "Compute the distinct counts of columns, or the statistics of partitions, and store them in statistics files.",
    [
        table_argument,
        at_option,
        click.option("--columns", help="Columns to count, separated by commas.  [default: all primitive columns]"),
        click.option("--partitions", is_flag=True, help="Statistics of partitions instead of columns."),
    ],
    _analyze,
)
