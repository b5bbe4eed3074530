"""Tables: the handle, and what is done through it."""

from icefloe.table.commit.transaction import Transaction
from icefloe.table.properties import TableProperties
from icefloe.table.scan import DataScan, FileScanTask, TableScan
from icefloe.table.static import StaticTable
from icefloe.table.table import Table
from icefloe.table.write import UpsertResult

__all__ = [
    "DataScan",
    "FileScanTask",
    "StaticTable",
    "Table",
    "TableProperties",
    "TableScan",
    "Transaction",
    "UpsertResult",
]
