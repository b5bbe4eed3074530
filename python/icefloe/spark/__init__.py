"""Iceberg tables in PySpark, no jar: read, write, merge, update and delete with DataFrames.

The driver or the Spark Connect client plans and commits. Executors run icefloe's Rust code on the tasks that it sends, so the wheel
must be installed there as well. Importing this package starts nothing. Each public name loads its module at its first use: executors
need only the modules of their tasks, and a session that reads tables needs no parser of SQL.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefloe.spark.public import *  # noqa: F403 - `public.__all__` lists the names

# The module that defines each public name; None for a module of this package.
_HOMES = {
    "AttachedCatalog": "icefloe.spark.statements.attached",
    "IcefloeDataSource": "icefloe.spark.data_source",
    "MergeBuilder": "icefloe.spark.dml.merge",
    "MergeResult": "icefloe.table.row_level.merge",
    "ScanChoice": "icefloe.spark.reader.scan_choice",
    "WriteBuilder": "icefloe.spark.writer.write_builder",
    "attach": "icefloe.spark.statements.attached",
    "call": "icefloe.spark.maintenance.call",
    "changes": "icefloe.spark.reader.changes",
    "delete_from": "icefloe.spark.dml.delete",
    "detach": "icefloe.spark.statements.attached",
    "explain_read": "icefloe.spark.reader.read",
    "functions": None,
    "maintenance": None,
    "merge_into": "icefloe.spark.dml.merge",
    "read": "icefloe.spark.reader.read",
    "register": "icefloe.spark.data_source",
    "schema_from_spark": "icefloe.spark.types.from_spark",
    "sql": "icefloe.spark.statements.sql",
    "stream": None,
    "to_spark_schema": "icefloe.spark.types.to_spark",
    "update": "icefloe.spark.dml.update",
    "write": "icefloe.spark.writer.write",
    "write_to": "icefloe.spark.writer.write_builder",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_HOMES)
    if name not in _HOMES:
        raise AttributeError(f"module 'icefloe.spark' has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f"icefloe.spark.{name}") if home is None else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
