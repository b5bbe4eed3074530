"""The verb `analyze`: statistics of columns or of partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.maintain.maintaining import maintenance_verb
from icefloe.cli.table_argument import table_argument

if TYPE_CHECKING:
    from icefloe.table.maintenance import MaintenanceTable


def _analyze(maintenance: MaintenanceTable, values: dict[str, Any]) -> Any:
    if values["partitions"]:
        return maintenance.compute_partition_statistics()
    return maintenance.compute_statistics()


analyze = maintenance_verb(
    "analyze",
    "Compute the distinct counts of columns, or the statistics of partitions, and store them in statistics files.",
    [
        table_argument,
        click.option("--partitions", is_flag=True, help="Statistics of partitions instead of columns."),
    ],
    _analyze,
)
