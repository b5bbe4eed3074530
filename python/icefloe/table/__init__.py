"""Tables: the handle, and what is done through it.

Names load their module at first use: the values below this package must not load all of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefloe.table.commit.committing_table import CommitTableResponse as CommitTableResponse
    from icefloe.table.properties import TableProperties as TableProperties
    from icefloe.table.row_level.results import UpsertResult as UpsertResult
    from icefloe.table.scan import DataScan as DataScan
    from icefloe.table.scan import FileScanTask as FileScanTask
    from icefloe.table.scan import IncrementalAppendScan as IncrementalAppendScan
    from icefloe.table.scan import IncrementalChangelogScan as IncrementalChangelogScan
    from icefloe.table.scan import TableScan as TableScan
    from icefloe.table.static import StaticTable as StaticTable
    from icefloe.table.table import Table as Table
    from icefloe.table.write_transaction import ALWAYS_TRUE as ALWAYS_TRUE
    from icefloe.table.write_transaction import WriteTransaction as Transaction

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

_HOMES = {
    "ALWAYS_TRUE": "icefloe.table.write_transaction",
    "CommitTableResponse": "icefloe.table.commit.committing_table",
    "DataScan": "icefloe.table.scan",
    "FileScanTask": "icefloe.table.scan",
    "IncrementalAppendScan": "icefloe.table.scan",
    "IncrementalChangelogScan": "icefloe.table.scan",
    "StaticTable": "icefloe.table.static",
    "Table": "icefloe.table.table",
    "TableProperties": "icefloe.table.properties",
    "TableScan": "icefloe.table.scan",
    "Transaction": "icefloe.table.write_transaction:WriteTransaction",
    "UpsertResult": "icefloe.table.row_level.results",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'icefloe.table' has no attribute {name!r}")
    module, _, other_name = home.partition(":")
    value = getattr(import_module(module), other_name or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
