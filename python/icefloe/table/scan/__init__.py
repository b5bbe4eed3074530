"""Scans of a table: plans, tasks, rows."""

from icefloe.table.scan.explain import ScanExplanation
from icefloe.table.scan.plan import ScanPlan
from icefloe.table.scan.table_scan import DataScan, TableScan
from icefloe.table.scan.task import FileScanTask, TaskGroup

__all__ = ["DataScan", "FileScanTask", "ScanExplanation", "ScanPlan", "TableScan", "TaskGroup"]
