"""Iceberg tables in PySpark, no jar: read, write, merge, update and delete with DataFrames.

Planning and committing happen here, on the driver or the Spark Connect client; executors run icefloe's Rust code on tasks that
they are sent, so the wheel has to be installed there, too. Importing this package starts nothing.
"""

from icefloe.spark import functions
from icefloe.spark.data_source import IcefloeDataSource, register
from icefloe.spark.merge import MergeBuilder, MergeResult, delete_from, merge_into, update
from icefloe.spark.reader import explain_read, read
from icefloe.spark.scan_choice import ScanChoice
from icefloe.spark.spark_types import schema_from_spark, to_spark_schema
from icefloe.spark.writer import write

__all__ = [
    "IcefloeDataSource",
    "MergeBuilder",
    "MergeResult",
    "ScanChoice",
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
