"""The report of a planned scan, without the values in its filter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from icefloe.catalog.rest.rest_scan import projected_columns, rest_expression

if TYPE_CHECKING:
    from icefloe.catalog.rest.rest_scan import RestScan
    from icefloe.table.scan import ScanPlan

# Metrics of the reference's scan reports, by the counters of a plan.
_COUNTERS = {
    "result-data-files": "files_planned",
    "result-delete-files": "delete_files_planned",
    "total-data-manifests": "data_manifests_total",
    "total-delete-manifests": "delete_manifests_total",
    "skipped-data-manifests": "data_manifests_skipped",
    "skipped-delete-manifests": "delete_manifests_skipped",
    "indexed-delete-files": "delete_files_total",
}
_POSITION_DELETES, _EQUALITY_DELETES = 1, 2
_TIMES = re.compile(r"\d{4}-\d{2}-\d{2}(T.*)?|\d{2}:\d{2}(:.*)?")


def scan_report(table: str, scan: RestScan, plan: ScanPlan, duration_ns: int) -> dict[str, Any]:
    """Return the JSON object of a scan report.

    Args:
        table: The table's name.
        scan: The scan.
        plan: Its plan.
        duration_ns: Nanoseconds that planning took.
    """
    snapshot = scan.snapshot()
    columns = dict(projected_columns(scan.projection()))
    return {
        "report-type": "scan-report",
        "table-name": table,
        "snapshot-id": snapshot.snapshot_id if snapshot is not None else -1,
        "filter": without_values(rest_expression(scan.resolved_filter().json)),
        "schema-id": scan.schema().schema_id,
        "projected-field-ids": list(columns),
        "projected-field-names": list(columns.values()),
        "metrics": _metrics(plan, duration_ns),
        "metadata": {"engine-name": "icefloe"},
    }


def without_values(expression: Any) -> Any:
    """Return the JSON of an expression with the kind of each value instead of the value, as the reference reports it.

    Examples:
        >>> without_values({"type": "eq", "term": "id", "value": 4711})
        {'type': 'eq', 'term': 'id', 'value': '(4-digit-int)'}
    """
    if not isinstance(expression, dict):
        return expression
    found = dict(expression)
    for side in ("left", "right", "child"):
        if side in found:
            found[side] = without_values(found[side])
    if "value" in found:
        found["value"] = _kind(found["value"])
    if "values" in found:
        found["values"] = sorted({_kind(value) for value in found["values"]})
    return found


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "(boolean)"
    if isinstance(value, int):
        return f"({len(str(abs(value)))}-digit-int)"
    if isinstance(value, float):
        return f"({len(str(abs(int(value)))) if abs(value) < 1e300 else 300}-digit-float)"
    if isinstance(value, str) and _TIMES.fullmatch(value):
        return "(time)" if value[2] == ":" else "(timestamp)" if "T" in value else "(date)"
    return "(value)"


def _metrics(plan: ScanPlan, duration_ns: int) -> dict[str, Any]:
    counters = plan.counters
    metrics: dict[str, Any] = {
        "total-planning-duration": {"count": 1, "time-unit": "nanoseconds", "total-duration": duration_ns}
    }
    counts = {name: counters.get(key, 0) for name, key in _COUNTERS.items()}
    for kind in ("data", "delete"):
        total, skipped = (counters.get(f"{kind}_manifests_{part}", 0) for part in ("total", "skipped"))
        counts[f"scanned-{kind}-manifests"] = total - skipped
    skipped_files = (counters.get(f"files_skipped_by_{reason}", 0) for reason in ("partition", "metrics"))
    counts["skipped-data-files"] = sum(skipped_files)
    counts["skipped-delete-files"] = 0
    contents = plan.deletes.column("content")
    counts["positional-delete-files"] = pc.sum(pc.equal(contents, _POSITION_DELETES)).as_py() or 0
    counts["equality-delete-files"] = pc.sum(pc.equal(contents, _EQUALITY_DELETES)).as_py() or 0
    metrics |= {name: {"unit": "count", "value": count} for name, count in counts.items()}
    sizes = {
        "total-file-size-in-bytes": counters.get("bytes_planned", 0),
        "total-delete-file-size-in-bytes": pc.sum(plan.deletes.column("file_size_in_bytes")).as_py() or 0,
    }
    return metrics | {name: {"unit": "bytes", "value": size} for name, size in sizes.items()}
