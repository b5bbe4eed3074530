"""Maintenance of tables: snapshot expiry, removal of files and rewriting of files.

`MaintenanceTable` is loaded at its first use: it has all verbs, and catalogs need only the deletion of files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.table.maintenance.plan import Plan, Result

if TYPE_CHECKING:
    from icefloe.table.maintenance.maintenance_table import MaintenanceTable

__all__ = ["MaintenanceTable", "Plan", "Result"]


def __getattr__(name: str) -> Any:
    if name != "MaintenanceTable":
        raise AttributeError(f"module 'icefloe.table.maintenance' has no attribute {name!r}")
    from icefloe.table.maintenance.maintenance_table import MaintenanceTable

    globals()[name] = MaintenanceTable
    return MaintenanceTable
