"""Scans of a table: plans, tasks, rows."""

from icefloe.table.scan.append_scan import IncrementalAppendScan
from icefloe.table.scan.changelog_plan import ChangelogScanTask
from icefloe.table.scan.changelog_scan import IncrementalChangelogScan
from icefloe.table.scan.explain import ScanExplanation
from icefloe.table.scan.plan import ScanPlan
from icefloe.table.scan.table_scan import DataScan, TableScan
from icefloe.table.scan.task import FileScanTask, TaskGroup

__all__ = [
    "ChangelogScanTask",
    "DataScan",
    "FileScanTask",
    "IncrementalAppendScan",
    "IncrementalChangelogScan",
    "ScanExplanation",
    "ScanPlan",
    "TableScan",
    "TaskGroup",
]
