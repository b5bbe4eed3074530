"""The figures of a report, as values that become JSON: what the page shows, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import IcebergError
from icefloe.table.doctor import TableFacts, examine
from icefloe.table.doctor.manifest_checks import manifest_overlap
from icefloe.table.maintenance.age import iso_time
from icefloe.table.properties.definitions import TARGET_FILE_SIZE
from icefloe.table.snapshots import ancestors_of
from icefloe.transforms import HourTransform, MonthTransform, YearTransform
from icefloe.types import DateType

if TYPE_CHECKING:
    from icefloe.table.doctor.storage_checks import FileCheck
    from icefloe.table.snapshots import Snapshot
    from icefloe.transforms import Transform

WORST_PARTITIONS = 25
"""Partitions that the page lists."""
LARGEST_ORPHANS = 25
"""Orphan files that the page lists."""
GROWTH_POINTS = 200
"""Most points of the growth picture; longer histories are thinned."""
_NUMBERED_TIMES = (YearTransform, MonthTransform, HourTransform)
_KIB = 1024
_DAY_MS = 86_400_000


def figures_of(
    table: Any, files: FileCheck | None = None, statistics: bool = False, *, orphans: bool = False
) -> dict[str, Any]:
    """Return the figures of a table as JSON values: ids as strings, times in ISO 8601, sizes in bytes.

    Args:
        table: The table's handle.
        files: Whether to look up files in storage, and how.
        statistics: Whether to compare manifests with footers.
        orphans: Whether to list the table's directories and look for files that nothing refers to.

    Raises:
        ValidationError: With `orphans`, other tables share the directory, or `gc.enabled` is false.
    """
    facts = TableFacts.of(table)
    metadata, snapshot = facts.metadata, facts.snapshot
    return {
        "table": facts.name,
        "created_at": iso_time(facts.now_ms),
        "location": metadata.location,
        "metadata_location": facts.metadata_location,
        "format_version": metadata.format_version,
        "last_updated_at": iso_time(metadata.last_updated_ms),
        "days_since_update": max(0.0, round((facts.now_ms - metadata.last_updated_ms) / _DAY_MS, 2)),
        "diagnosis": examine(facts, files, statistics).as_dict(),
        "size": _size(facts),
        "file_sizes": _file_sizes(facts),
        "growth": _growth(facts),
        "partitions": _partitions(facts),
        "deletes": _deletes(facts),
        "orphans": _orphans(facts, table) if orphans else None,
        "manifests": _manifests(facts),
        "refs": _refs(facts),
        "snapshots": {
            "count": len(metadata.snapshots),
            "current_snapshot_id": None if snapshot is None else str(snapshot.snapshot_id),
            "expiry": _expiry(facts, table),
        },
        "statistics": [_statistics(facts, one) for one in metadata.statistics],
        "schema": [
            {
                "field_id": str(field.field_id),
                "name": field.name,
                "type": str(field.field_type),
                "required": field.required,
                "doc": field.doc,
            }
            for field in metadata.schema().fields
        ],
        "schema_versions": len(metadata.schemas),
        "specs": [
            {
                "spec_id": str(spec.spec_id),
                "fields": [str(field) for field in spec.fields],
                "is_default": spec.spec_id == metadata.default_spec_id,
            }
            for spec in metadata.partition_specs
        ],
        "properties": dict(sorted(metadata.properties.items())),
    }


def _size(facts: TableFacts) -> dict[str, int]:
    return {
        "rows_in_data_files": _sum(facts.files, "record_count"),
        "data_files": facts.files.num_rows,
        "data_bytes": _sum(facts.files, "file_size_in_bytes"),
        "delete_files": facts.deletes.num_rows,
        "delete_bytes": _sum(facts.deletes, "file_size_in_bytes"),
    }


def _file_sizes(facts: TableFacts) -> dict[str, Any]:
    """Return the histogram of data file sizes by powers of four, beside the target."""
    sizes = facts.files.column("file_size_in_bytes")
    bins = []
    lower, upper = 0, 4 * _KIB
    largest: int = pc.max(sizes).as_py() or 0
    while lower <= largest:
        inside = sizes.filter(pc.and_(pc.greater_equal(sizes, lower), pc.less(sizes, upper)))
        bins.append({"from": lower, "to": upper, "files": len(inside), "bytes": pc.sum(inside).as_py() or 0})
        lower, upper = upper, upper * 4
    while bins and bins[0]["files"] == 0:
        bins.pop(0)
    small: int = pc.sum(pc.less(sizes, facts.small_file_size)).as_py() or 0
    return {
        "target_bytes": facts.threshold(TARGET_FILE_SIZE),
        "small_below_bytes": facts.small_file_size,
        "small_files": small,
        "median_bytes": int(pc.quantile(sizes, 0.5)[0].as_py()) if len(sizes) > 0 else 0,
        "bins": bins,
    }


def _orphans(facts: TableFacts, table: Any) -> dict[str, Any]:
    """Return the orphan files that are older than three days, the largest ones by location."""
    plan = table.maintenance.remove_orphan_files().plan()
    largest = plan.orphans.sort_by([("size", "descending"), ("location", "ascending")]).slice(0, LARGEST_ORPHANS)
    return {
        "files": plan.file_count,
        "bytes": plan.total_bytes,
        "listed_files": plan.listed_count,
        "older_than": iso_time(plan.older_than_ms),
        "command": facts.command("orphans") if plan.file_count > 0 else None,
        "largest": [
            {"location": one["location"], "bytes": one["size"], "modified_at": iso_time(one["last_modified_ms"])}
            for one in largest.to_pylist()
        ],
    }


def _growth(facts: TableFacts) -> list[dict[str, Any]]:
    """Return time, rows, bytes and files of the snapshots that lead to the current one, oldest first."""
    history = [one for one in ancestors_of(facts.snapshot, facts.metadata) if one.summary is not None][::-1]
    step = max(1, -(-len(history) // GROWTH_POINTS))
    # The newest snapshot is always a point.
    return [_point(one) for one in history[len(history) - 1 :: -step][::-1]] if history else []


def _point(snapshot: Snapshot) -> dict[str, Any]:
    summary = {} if snapshot.summary is None else snapshot.summary.additional_properties
    return {
        "at": iso_time(snapshot.timestamp_ms),
        "at_ms": snapshot.timestamp_ms,
        "rows": _count(summary.get("total-records")),
        "bytes": _count(summary.get("total-files-size")),
        "files": _count(summary.get("total-data-files")),
    }


def _partitions(facts: TableFacts) -> dict[str, Any]:
    """Return the partitions with the most small files and delete files, worst first."""
    files = facts.files
    counted = pa.table(
        {
            "spec_id": files.column("spec_id"),
            "partition": files.column("partition"),
            "rows": files.column("record_count"),
            "bytes": files.column("file_size_in_bytes"),
            "small": pc.less(files.column("file_size_in_bytes"), facts.small_file_size).cast(pa.int64()),
            "deletes": facts.fan_in.cast(pa.int64()),
        }
    )
    sums = [("rows", "sum"), ("bytes", "sum"), ("small", "sum"), ("deletes", "sum"), ("rows", "count")]
    grouped = counted.group_by(["spec_id", "partition"]).aggregate(sums)
    # One partition with one small file is as good as it gets.
    badness = pc.add(pc.max_element_wise(pc.subtract(grouped.column("small_sum"), 1), 0), grouped.column("deletes_sum"))
    worst = grouped.append_column("badness", badness).sort_by([("badness", "descending"), ("bytes_sum", "descending")])
    rows = [
        {
            "partition": _partition_text(facts, row["spec_id"], row["partition"]),
            "files": row["rows_count"],
            "small_files": row["small_sum"],
            "applied_deletes": row["deletes_sum"],
            "rows": row["rows_sum"],
            "bytes": row["bytes_sum"],
        }
        for row in worst.slice(0, WORST_PARTITIONS).to_pylist()
    ]
    return {"count": grouped.num_rows, "worst": rows}


def _partition_text(facts: TableFacts, spec_id: int, values: str) -> str:
    import json

    fields = facts.metadata.specs()[spec_id].fields
    parts = [
        f"{field.name}={_value_text(field.transform, value)}"
        for field, value in zip(fields, json.loads(values), strict=False)
    ]
    return ", ".join(parts) or "unpartitioned"


def _value_text(transform: Transform, value: Any) -> str:
    """Return a value of a partition as text; years, months and hours are stored as numbers since 1970."""
    if value is None:
        return "null"
    return transform.to_human_string(DateType(), value) if isinstance(transform, _NUMBERED_TIMES) else str(value)


def _deletes(facts: TableFacts) -> dict[str, Any]:
    """Return how many data files have how many delete files, and the kinds of delete files."""
    counts = pc.value_counts(facts.fan_in) if len(facts.fan_in) > 0 else []
    by_count = sorted((one["values"].as_py(), one["counts"].as_py()) for one in counts)
    content = facts.deletes.column("content")
    positions = facts.deletes.filter(pc.equal(content, 1))
    return {
        "position_delete_files": positions.num_rows,
        "equality_delete_files": facts.deletes.num_rows - positions.num_rows,
        "position_deletes": _sum(positions, "record_count"),
        "dangling_delete_files": facts.plan.counters.get("delete_files_total", 0)
        - facts.plan.counters.get("delete_files_planned", 0),
        "fan_in": [{"delete_files": number, "data_files": files} for number, files in by_count],
    }


def _manifests(facts: TableFacts) -> dict[str, Any]:
    lengths = facts.manifests.column("manifest_length")
    is_data = pc.equal(facts.manifests.column("content"), 0)
    data: int = pc.sum(is_data).as_py() or 0
    overlap = manifest_overlap(facts)
    return {
        "data_manifests": data,
        "delete_manifests": facts.manifests.num_rows - data,
        "bytes": pc.sum(lengths).as_py() or 0,
        "average_overlap": None if overlap is None else round(overlap, 1),
    }


def _refs(facts: TableFacts) -> list[dict[str, Any]]:
    metadata, rows = facts.metadata, []
    for name, ref in sorted(metadata.refs.items()):
        snapshot = metadata.snapshot_by_id(ref.snapshot_id)
        if snapshot is not None:
            rows.append(
                {
                    "name": name,
                    "type": str(ref.snapshot_ref_type),
                    "snapshot_id": str(ref.snapshot_id),
                    "at": iso_time(snapshot.timestamp_ms),
                    "at_ms": snapshot.timestamp_ms,
                    "snapshots": sum(1 for _ in ancestors_of(snapshot, metadata)),
                    "max_age_ms": ref.max_ref_age_ms,
                }
            )
    return rows


def _expiry(facts: TableFacts, table: Any) -> dict[str, Any] | None:
    """Return what expiry by the retention of the table and its branches would remove; None if nothing, or if it is forbidden."""
    if not facts.expired_ids or not facts.may_delete_files:
        return None
    try:
        plan = table.maintenance.expire_snapshots().plan()
    except IcebergError:
        # A manifest of an older snapshot is missing or damaged: what could be deleted is unknown.
        return {"snapshots": len(facts.expired_ids), "files": None, "bytes": None, "command": None}
    return {
        "snapshots": len(plan.retention.expired_ids),
        "files": plan.file_count,
        "bytes": plan.total_bytes,
        "command": facts.command("expire"),
    }


def _statistics(facts: TableFacts, file: Any) -> dict[str, Any]:
    snapshot = facts.metadata.snapshot_by_id(file.snapshot_id)
    return {
        "snapshot_id": str(file.snapshot_id),
        "at": None if snapshot is None else iso_time(snapshot.timestamp_ms),
        "bytes": file.file_size_in_bytes,
        "columns": len({field for blob in file.blob_metadata for field in blob.fields}),
    }


def _sum(files: pa.RecordBatch, column: str) -> int:
    total: int = pc.sum(files.column(column)).as_py() or 0
    return total


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None
