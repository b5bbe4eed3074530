"""Tables: the handle of a table, its scans and its transactions.

The public names are loaded at their first use, because importing a value such as `icefloe.table.snapshots` runs this file too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefloe.table.public import ALWAYS_TRUE as ALWAYS_TRUE
    from icefloe.table.public import CommitTableResponse as CommitTableResponse
    from icefloe.table.public import DataScan as DataScan
    from icefloe.table.public import FileScanTask as FileScanTask
    from icefloe.table.public import IncrementalAppendScan as IncrementalAppendScan
    from icefloe.table.public import IncrementalChangelogScan as IncrementalChangelogScan
    from icefloe.table.public import StaticTable as StaticTable
    from icefloe.table.public import Table as Table
    from icefloe.table.public import TableProperties as TableProperties
    from icefloe.table.public import TableScan as TableScan
    from icefloe.table.public import Transaction as Transaction
    from icefloe.table.public import UpsertResult as UpsertResult

__all__ = [
    "ALWAYS_TRUE",
    "CommitTableResponse",
    "DataScan",
    "FileScanTask",
    "IncrementalAppendScan",
    "IncrementalChangelogScan",
    "StaticTable",
    "Table",
    "TableProperties",
    "TableScan",
    "Transaction",
    "UpsertResult",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'icefloe.table' has no attribute {name!r}")
    from icefloe.table import public

    value = globals()[name] = getattr(public, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
