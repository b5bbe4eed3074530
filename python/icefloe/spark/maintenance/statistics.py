"""Procedures that compute statistics of a table.

Executors count the distinct values of columns. The driver computes the statistics of partitions: they come from manifests, as in the
Java runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.spark.maintenance.cluster import execute
from icefloe.spark.maintenance.procedure import Procedure

if TYPE_CHECKING:
    from icefloe.spark.maintenance.procedure import Arguments, Caller, Rows


def _table_statistics(caller: Caller, given: Arguments) -> Rows:
    table = caller.table(given)
    builder = table.maintenance.compute_statistics()
    if "snapshot_id" in given:
        builder = builder.snapshot(given["snapshot_id"])
    if "columns" in given:
        builder = builder.columns(*given["columns"])
    plan = builder.plan()
    result: Any = execute(table, plan, caller.spark)
    file = result.statistics_file
    return [(plan.replaced if file is None else file.statistics_path,)]


def _partition_statistics(caller: Caller, given: Arguments) -> Rows:
    table = caller.table(given)
    builder = table.maintenance.compute_partition_statistics()
    current = table.current_snapshot()
    snapshot_id = given.get("snapshot_id", None if current is None else current.snapshot_id)
    if "snapshot_id" in given:
        builder = builder.snapshot(snapshot_id)
    file = builder.execute().statistics_file
    known = {one.snapshot_id: one.statistics_path for one in table.metadata.partition_statistics}
    return [(known.get(snapshot_id) if file is None else file.statistics_path,)]


STATISTICS = {
    "compute_partition_stats": Procedure(
        parameters={"table": "string", "snapshot_id": "bigint"},
        required=("table",),
        returns="partition_statistics_file string",
        run=_partition_statistics,
    ),
    "compute_table_stats": Procedure(
        parameters={"table": "string", "snapshot_id": "bigint", "columns": "array<string>"},
        required=("table",),
        returns="statistics_file string",
        run=_table_statistics,
    ),
}
"""Procedures by name."""
