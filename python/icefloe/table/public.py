"""The public names of `icefloe.table`, which the package loads at their first use."""

from icefloe.table.commit.committing_table import CommitTableResponse
from icefloe.table.create_transaction import CreateTableTransaction, StagedTable
from icefloe.table.properties import TableProperties
from icefloe.table.replace_transaction import ReplaceTableTransaction
from icefloe.table.row_changes import ALWAYS_TRUE
from icefloe.table.row_level.upsert import UpsertResult
from icefloe.table.scan import DataScan, FileScanTask, IncrementalAppendScan, IncrementalChangelogScan, TableScan
from icefloe.table.static import StaticTable
from icefloe.table.table import Table
from icefloe.table.write_transaction import WriteTransaction as Transaction

__all__ = [
    "ALWAYS_TRUE",
    "CommitTableResponse",
    "CreateTableTransaction",
    "DataScan",
    "FileScanTask",
    "IncrementalAppendScan",
    "IncrementalChangelogScan",
    "ReplaceTableTransaction",
    "StagedTable",
    "StaticTable",
    "Table",
    "TableProperties",
    "TableScan",
    "Transaction",
    "UpsertResult",
]
