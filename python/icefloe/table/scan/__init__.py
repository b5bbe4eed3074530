"""Scans of a table: plans, tasks, rows."""

from icefloe.table.scan.append_scan import IncrementalAppendScan
from icefloe.table.scan.change_rows import ChangeGroup
from icefloe.table.scan.changelog_plan import ChangelogScanTask
from icefloe.table.scan.changelog_scan import IncrementalChangelogScan
from icefloe.table.scan.data_scan import DataScan, TableScan
from icefloe.table.scan.explain import ScanExplanation
from icefloe.table.scan.plan import Packing, ScanPlan
from icefloe.table.scan.task import FileScanTask
from icefloe.table.scan.task_group import TaskGroup

__all__ = [
    "ChangeGroup",
    "ChangelogScanTask",
    "DataScan",
    "FileScanTask",
    "IncrementalAppendScan",
    "IncrementalChangelogScan",
    "Packing",
    "ScanExplanation",
    "ScanPlan",
    "TableScan",
    "TaskGroup",
]
