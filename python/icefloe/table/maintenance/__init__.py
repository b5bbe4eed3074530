"""Maintenance of tables: snapshot expiry, removal of files and rewriting of files."""

from icefloe.table.maintenance.maintenance_table import MaintenanceTable
from icefloe.table.maintenance.plan import Plan, Result

__all__ = ["MaintenanceTable", "Plan", "Result"]
