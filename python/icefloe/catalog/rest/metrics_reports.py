"""Reports of commits and scans to the server's metrics endpoint: best effort, no commit and no scan fails because of them."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from icefloe.catalog.identifiers import dotted
from icefloe.catalog.rest import endpoints
from icefloe.catalog.rest.property_names import METRICS_REPORTING, flag
from icefloe.catalog.rest.replies import Call
from icefloe.catalog.rest.scan_report import scan_report
from icefloe.exceptions import IcebergError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.catalog.rest.requests import Requests
    from icefloe.catalog.rest.rest_scan import RestScan
    from icefloe.table.scan import ScanPlan
    from icefloe.table.snapshots import Snapshot
    from icefloe.typedef import Identifier

# Metrics of the reference's commit reports, by the summary keys that hold them.
_COUNTERS = {
    "added-data-files": "added-data-files",
    "deleted-data-files": "removed-data-files",
    "total-data-files": "total-data-files",
    "added-delete-files": "added-delete-files",
    "added-equality-delete-files": "added-equality-delete-files",
    "added-position-delete-files": "added-positional-delete-files",
    "removed-delete-files": "removed-delete-files",
    "removed-equality-delete-files": "removed-equality-delete-files",
    "removed-position-delete-files": "removed-positional-delete-files",
    "total-delete-files": "total-delete-files",
    "added-records": "added-records",
    "deleted-records": "removed-records",
    "total-records": "total-records",
    "added-files-size": "added-files-size-bytes",
    "removed-files-size": "removed-files-size-bytes",
    "total-files-size": "total-files-size-bytes",
    "added-position-deletes": "added-positional-deletes",
    "removed-position-deletes": "removed-positional-deletes",
    "total-position-deletes": "total-positional-deletes",
    "added-equality-deletes": "added-equality-deletes",
    "removed-equality-deletes": "removed-equality-deletes",
    "total-equality-deletes": "total-equality-deletes",
    "manifests-created": "manifests-created",
    "manifests-replaced": "manifests-replaced",
    "manifests-kept": "manifests-kept",
}
_BYTES = "-size"


class MetricsReports:
    """Sends reports unless `rest-metrics-reporting-enabled` is false or the server has no endpoint for them.

    Args:
        requests: Sends the reports.
    """

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        wanted = flag(requests.connection.properties, METRICS_REPORTING, default=True)
        self._is_enabled = wanted and requests.offers(endpoints.REPORT_METRICS)

    def commit(self, identifier: Identifier, snapshot: Snapshot, duration_ns: int) -> None:
        """Report a snapshot that this process committed.

        Args:
            identifier: The table.
            snapshot: The snapshot.
            duration_ns: Nanoseconds that the commit took.
        """
        if self._is_enabled:
            self._send(identifier, commit_report(identifier, snapshot, duration_ns))

    def scan(self, identifier: Identifier, scan: RestScan, plan: ScanPlan, duration_ns: int) -> None:
        """Report a scan that this process planned.

        Args:
            identifier: The table.
            scan: The scan.
            plan: Its plan.
            duration_ns: Nanoseconds that planning took.
        """
        if self._is_enabled:
            self._send(identifier, scan_report(dotted(identifier), scan, plan, duration_ns))

    def _send(self, identifier: Identifier, report: Mapping[str, Any]) -> None:
        call = Call(f"table {dotted(identifier)}: metrics report", is_best_effort=True)
        # The commit has already succeeded, and a scan needs no report.
        with suppress(IcebergError):
            self._requests.send(
                call, endpoints.REPORT_METRICS, identifier[:-1], identifier[-1], content=json.dumps(report)
            )


def commit_report(identifier: Identifier, snapshot: Snapshot, duration_ns: int) -> dict[str, Any]:
    """Return the JSON object of a commit report."""
    summary = dict(snapshot.summary.additional_properties) if snapshot.summary is not None else {}
    metrics: dict[str, Any] = {
        "total-duration": {"count": 1, "time-unit": "nanoseconds", "total-duration": duration_ns},
        "attempts": {"unit": "count", "value": 1},
    }
    for key, name in _COUNTERS.items():
        text = summary.get(key)
        if text is not None and text.isdecimal():
            metrics[name] = {"unit": "bytes" if key.endswith(_BYTES) else "count", "value": int(text)}
    return {
        "report-type": "commit-report",
        "table-name": dotted(identifier),
        "snapshot-id": snapshot.snapshot_id,
        "sequence-number": snapshot.sequence_number or 0,
        "operation": snapshot.summary.operation.value if snapshot.summary is not None else "",
        "metrics": metrics,
        "metadata": {"engine-name": "icefloe"},
    }
