"""Maintenance from Spark: plans of `Table.maintenance` executed by a cluster, and the procedures of the Java runtime.

Examples:
    >>> plan = table.maintenance.rewrite_data_files().plan()
    >>> icefloe.spark.maintenance.execute(table, plan, spark).rewritten_data_files_count
    0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefloe.spark.maintenance.cluster import execute

__all__ = ["execute"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'icefloe.spark.maintenance' has no attribute {name!r}")
    from icefloe.spark.maintenance import cluster

    value = globals()[name] = getattr(cluster, name)
    return value
