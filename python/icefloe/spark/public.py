"""The public names of `icefloe.spark`, which the package loads at their first use."""

from icefloe.spark import functions, maintenance, stream
from icefloe.spark.data_source import IcefloeDataSource, register
from icefloe.spark.dml.delete import delete_from
from icefloe.spark.dml.merge import MergeBuilder, merge_into
from icefloe.spark.dml.update import update
from icefloe.spark.maintenance.call import call
from icefloe.spark.reader.changes import changes
from icefloe.spark.reader.read import explain_read, read
from icefloe.spark.reader.scan_choice import ScanChoice
from icefloe.spark.statements.attached import AttachedCatalog, attach, detach
from icefloe.spark.statements.sql import sql
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.spark.writer.write import write
from icefloe.spark.writer.write_builder import WriteBuilder, write_to
from icefloe.table.row_level.merge import MergeResult

__all__ = [
    "AttachedCatalog",
    "IcefloeDataSource",
    "MergeBuilder",
    "MergeResult",
    "ScanChoice",
    "WriteBuilder",
    "attach",
    "call",
    "changes",
    "delete_from",
    "detach",
    "explain_read",
    "functions",
    "maintenance",
    "merge_into",
    "read",
    "register",
    "schema_from_spark",
    "sql",
    "stream",
    "to_spark_schema",
    "update",
    "write",
    "write_to",
]
