"""Iceberg tables in PySpark, no jar: read, write, merge, update and delete with DataFrames.

Planning and committing happen here, on the driver or the Spark Connect client; executors run icefloe's Rust code on tasks that
they are sent, so the wheel has to be installed there, too. Importing this package starts nothing, and names load their module at
first use: executors need few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefloe.spark import functions as functions
    from icefloe.spark.changelog import changes as changes
    from icefloe.spark.data_source import IcefloeDataSource as IcefloeDataSource
    from icefloe.spark.data_source import register as register
    from icefloe.spark.from_spark import schema_from_spark as schema_from_spark
    from icefloe.spark.merge import MergeBuilder as MergeBuilder
    from icefloe.spark.merge import delete_from as delete_from
    from icefloe.spark.merge import merge_into as merge_into
    from icefloe.spark.merge import update as update
    from icefloe.spark.reader import explain_read as explain_read
    from icefloe.spark.reader import read as read
    from icefloe.spark.row_changes import MergeResult as MergeResult
    from icefloe.spark.scan_choice import ScanChoice as ScanChoice
    from icefloe.spark.spark_types import to_spark_schema as to_spark_schema
    from icefloe.spark.writer import write as write

__all__ = [
    "IcefloeDataSource",
    "MergeBuilder",
    "MergeResult",
    "ScanChoice",
    "changes",
    "delete_from",
    "explain_read",
    "functions",
    "merge_into",
    "read",
    "register",
    "schema_from_spark",
    "to_spark_schema",
    "update",
    "write",
]

_HOMES = {
    "IcefloeDataSource": "data_source",
    "MergeBuilder": "merge",
    "MergeResult": "row_changes",
    "ScanChoice": "scan_choice",
    "changes": "changelog",
    "delete_from": "merge",
    "explain_read": "reader",
    "merge_into": "merge",
    "read": "reader",
    "register": "data_source",
    "schema_from_spark": "from_spark",
    "to_spark_schema": "spark_types",
    "update": "merge",
    "write": "writer",
}


def __getattr__(name: str) -> Any:
    if name == "functions":
        return import_module("icefloe.spark.functions")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'icefloe.spark' has no attribute {name!r}")
    value = getattr(import_module(f"icefloe.spark.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
