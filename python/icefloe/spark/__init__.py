"""Iceberg tables in PySpark, no jar: read, write, merge, update and delete with DataFrames.

The driver or the Spark Connect client plans and commits. Executors run icefloe's Rust code on the tasks that it sends, so the wheel
must be installed there as well. Importing this package starts nothing. Names load their module at first use, because executors
need few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefloe.spark import functions as functions
    from icefloe.spark.data_source import IcefloeDataSource as IcefloeDataSource
    from icefloe.spark.data_source import register as register
    from icefloe.spark.dml.delete import delete_from as delete_from
    from icefloe.spark.dml.merge import MergeBuilder as MergeBuilder
    from icefloe.spark.dml.merge import merge_into as merge_into
    from icefloe.spark.dml.update import update as update
    from icefloe.spark.reader.changes import changes as changes
    from icefloe.spark.reader.read import explain_read as explain_read
    from icefloe.spark.reader.read import read as read
    from icefloe.spark.reader.scan_choice import ScanChoice as ScanChoice
    from icefloe.spark.types.from_spark import schema_from_spark as schema_from_spark
    from icefloe.spark.types.to_spark import to_spark_schema as to_spark_schema
    from icefloe.spark.writer.write import write as write
    from icefloe.table.row_level.merge import MergeResult as MergeResult

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
    "IcefloeDataSource": "icefloe.spark.data_source",
    "MergeBuilder": "icefloe.spark.dml.merge",
    "MergeResult": "icefloe.table.row_level.merge",
    "ScanChoice": "icefloe.spark.reader.scan_choice",
    "changes": "icefloe.spark.reader.changes",
    "delete_from": "icefloe.spark.dml.delete",
    "explain_read": "icefloe.spark.reader.read",
    "merge_into": "icefloe.spark.dml.merge",
    "read": "icefloe.spark.reader.read",
    "register": "icefloe.spark.data_source",
    "schema_from_spark": "icefloe.spark.types.from_spark",
    "to_spark_schema": "icefloe.spark.types.to_spark",
    "update": "icefloe.spark.dml.update",
    "write": "icefloe.spark.writer.write",
}


def __getattr__(name: str) -> Any:
    if name == "functions":
        return import_module("icefloe.spark.functions")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'icefloe.spark' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
