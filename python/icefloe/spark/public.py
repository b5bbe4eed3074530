"""The public names of `icefloe.spark`, which the package loads at their first use."""

from icefloe.spark import functions
from icefloe.spark.data_source import IcefloeDataSource, register
from icefloe.spark.dml.delete import delete_from
from icefloe.spark.dml.merge import MergeBuilder, merge_into
from icefloe.spark.dml.update import update
from icefloe.spark.reader.changes import changes
from icefloe.spark.reader.read import explain_read, read
from icefloe.spark.reader.scan_choice import ScanChoice
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.spark.writer.write import write
from icefloe.table.row_level.merge import MergeResult

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
