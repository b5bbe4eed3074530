"""The choice between Spark's Parquet reader and icefloe's Rust reader for a scan, and its reason."""

from __future__ import annotations

import itertools
import json
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from icefloe import _core
from icefloe.schema import Schema
from icefloe.spark.reader.native import FIELD_ID_READ, NativeScan, obstacle, unread_columns
from icefloe.spark.reader.passing_share import passing_share
from icefloe.spark.reader.row_group_parts import SORTABLE, divided_files, has_large_row_group, session_cores
from icefloe.spark.reader.storage import storage_obstacle
from icefloe.spark.types.to_spark import schema_value
from icefloe.table.properties.definitions import NAME_MAPPING
from icefloe.table.scan.metadata_columns import METADATA_COLUMNS
from icefloe.table.scan.plan import has_deletes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from icefloe.spark.reader.row_group_parts import DividedFile
    from icefloe.table.scan import DataScan, IncrementalAppendScan
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.types import NestedField

_LOG = logging.getLogger("icefloe.spark")
_WHOLE_FILES = {"split-size": str(2**62)}
# Files are most often sorted by one of the first columns.
_MOST_UNREAD = 4
# With deletes, the Rust reader needs 0.6 times as long for a filter that 1 % of six million rows pass.
_LEAST_DELETED_ROWS = 1_000_000
_LARGEST_SHARE = 0.1
_FILTER_PUSHDOWN = "spark.sql.parquet.filterPushdown"


@dataclass(frozen=True, kw_only=True)
class ScanChoice:
    """The reader of a scan in Spark, and the reason.

    Args:
        native: Spark's own Parquet reader reads the files; otherwise icefloe's Rust reader does, in Python workers.
        reason: Reason of the choice.
        files: Number of data files.
        delete_files: Number of delete files.
        counters: Numbers of manifests and files that planning read and skipped.
    """

    native: bool
    reason: str
    files: int
    delete_files: int
    counters: dict[str, int]

    def __str__(self) -> str:
        reader = "Spark's Parquet reader" if self.native else "icefloe's Rust reader"
        return f"{self.files} data files and {self.delete_files} delete files by {reader}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class PlannedScan:
    """A scan, its plan of whole files, and the reader of its rows.

    Args:
        scan: The scan.
        plan: Its plan.
        predicate: The row filter, decoded predicate JSON.
        native: Input of Spark's own reader; None for the Rust reader.
        choice: The reader and the reason.
        only: Paths of the files to read; None for all files of the scan.
    """

    scan: DataScan | IncrementalAppendScan
    plan: ScanPlan
    predicate: Any
    native: NativeScan | None
    choice: ScanChoice
    only: pa.Array | None = None


def plan_scan(
    spark: Any,
    scan: DataScan | IncrementalAppendScan,
    *,
    located: bool = False,
    only: pa.Array | None = None,
    filters_again: bool = False,
) -> PlannedScan:
    """Plan a scan, and choose and log its reader.

    Args:
        spark: Session.
        scan: The scan.
        located: Return the file and position of each row as well.
        only: Paths of the files to read; None for all files of the plan.
        filters_again: The caller evaluates the whole filter on the rows, so Spark's reader may leave conditions on transforms out.
    """
    plan = scan.update(options={**scan.options, **_WHOLE_FILES}).plan()
    if only is not None:
        plan = replace(plan, files=plan.files.filter(pc.is_in(plan.files.column("file_path"), value_set=only)))
    predicate = json.loads(_bound_filter(scan))
    if filters_again:
        predicate = _without_transforms(predicate)
    native = _native_scan(spark, scan, plan, predicate)
    problem = (
        _selection_obstacle(scan)
        or _filter_obstacle(predicate)
        or storage_obstacle(spark, plan.files, scan.io.core.properties)
        or obstacle(native, located=located)
    )
    # A caller that selects no columns may select some of the frame's, which reaches Spark's reader alone.
    if problem is None and not located and (filters_again or "*" not in scan.selected_fields):
        problem = _few_rows(plan)
    if problem is None and not located:
        native = replace(native, divided=_divided(spark, scan, plan, native))
    choice = ScanChoice(
        native=problem is None,
        reason=_native_reason(native) if problem is None else problem,
        files=plan.files.num_rows,
        delete_files=plan.deletes.num_rows,
        counters=plan.counters,
    )
    _LOG.info("%s: %s", scan.table_name, choice)
    if problem is not None:
        return PlannedScan(scan=scan, plan=plan, predicate=predicate, native=None, choice=choice, only=only)
    return PlannedScan(scan=scan, plan=plan, predicate=predicate, native=native, choice=choice, only=only)


def _few_rows(plan: ScanPlan) -> str | None:
    """Return a reason if the Rust reader is faster: Spark's numbers the rows of files with deletes, also of those the filter drops."""
    rows = plan.files.column("record_count")
    deleted, total = (pc.sum(one).as_py() or 0 for one in (rows.filter(has_deletes(plan.files)), rows))
    # The rows of other files are no faster in the Rust reader.
    if deleted < max(_LEAST_DELETED_ROWS, total / 2) or passing_share(plan) > _LARGEST_SHARE:
        return None
    return "few rows of files with deletes pass the filter"


def _divided(
    spark: Any, scan: DataScan | IncrementalAppendScan, plan: ScanPlan, native: NativeScan
) -> tuple[DividedFile, ...]:
    """Return the files that Spark's reader reads in parts; none if the session does not skip pages by their statistics."""
    if not has_large_row_group(plan.files):
        return ()
    cores = session_cores(spark)
    if cores is None or spark.conf.get(_FILTER_PUSHDOWN, "true") != "true":
        return ()
    misread = native.misread
    schema = Schema(*[one for one in native.schema.fields if one.field_id not in misread])
    return divided_files(plan, schema, cores, others=_unread(scan, native))


def _unread(scan: DataScan | IncrementalAppendScan, native: NativeScan) -> list[NestedField]:
    """Return columns that a scan does not read and may divide files by: first those of the sort order, then those of the schema."""
    sorted_by = [field.source_id for field in scan.table_metadata.sort_order().fields]
    ranks = {field_id: rank for rank, field_id in enumerate(sorted_by)}
    sortable = [field for field in scan.schema().fields if isinstance(field.field_type, SORTABLE)]
    fields = sorted(sortable, key=lambda field: ranks.get(field.field_id, len(ranks)))
    return list(itertools.islice(unread_columns(native, fields), _MOST_UNREAD))


def _native_reason(native: NativeScan) -> str:
    reason = "all files are Parquet and Spark finds their columns"
    if not native.divided:
        return reason
    columns = ", ".join(dict.fromkeys(file.column.name for file in native.divided))
    count = len(native.divided)
    return f"{reason}; {count} with a row group larger than the share of a core in parts, by ranges of {columns}"


def _bound_filter(scan: DataScan | IncrementalAppendScan) -> str:
    """Return the row filter as JSON with the names of columns in the schema's case and literals of their types."""
    context = {"schema": schema_value(scan.schema()), "case-sensitive": scan.case_sensitive}
    return _core.validate_filter(json.dumps(context), scan.resolved_filter().json)


def _selection_obstacle(scan: DataScan | IncrementalAppendScan) -> str | None:
    names = {field.name for field in scan.schema().fields}
    other = next((name for name in scan.selected_fields if name != "*" and name not in names), None)
    if other in METADATA_COLUMNS:
        return f"{other} is a metadata column"
    return None if other is None else f"{other} is not a top-level column"


def _filter_obstacle(predicate: Any) -> str | None:
    """Return a reason if a filter has a transform: Spark has no transforms of the table format."""
    if not isinstance(predicate, dict):
        return None
    term = predicate.get("term")
    if isinstance(term, dict):
        return f"the filter has the transform {term.get('transform')} of {term.get('term')}"
    parts = (_filter_obstacle(predicate.get(part)) for part in ("left", "right", "child"))
    return next((reason for reason in parts if reason is not None), None)


def _without_transforms(predicate: Any) -> Any:
    """Return a filter that is true for the same rows and others, without conditions on transforms."""
    if _filter_obstacle(predicate) is None:
        return predicate
    if predicate["type"] not in ("and", "or"):
        return True
    sides = [_without_transforms(predicate[side]) for side in ("left", "right")]
    if predicate["type"] == "or":
        return True if any(side is True for side in sides) else {**predicate, "left": sides[0], "right": sides[1]}
    known = [side for side in sides if side is not True]
    return {**predicate, "left": known[0], "right": known[1]} if len(known) == 2 else (known or [True])[0]


def _native_scan(spark: Any, scan: DataScan | IncrementalAppendScan, plan: ScanPlan, predicate: Any) -> NativeScan:
    metadata = scan.table_metadata
    schema = scan.schema()
    if _selection_obstacle(scan) is None and "*" not in scan.selected_fields:
        paths = (*scan.selected_fields, *terms(predicate))
        names = [field.name for name in paths for field in schema.fields if f"{name}.".startswith(f"{field.name}.")]
        schema = schema.select(*dict.fromkeys(names))
    return NativeScan(
        files=plan.files,
        deletes=plan.deletes,
        schema=schema,
        schemas=metadata.schemas,
        name_mapped=NAME_MAPPING.name in metadata.properties,
        field_ids=spark.conf.get(FIELD_ID_READ, "false") == "true",
        io=scan.io.core,
    )


def terms(predicate: Any) -> Iterator[str]:
    """Yield the column names of a decoded predicate."""
    if isinstance(predicate, dict):
        if isinstance(predicate.get("term"), str):
            yield predicate["term"]
        for part in ("left", "right", "child"):
            yield from terms(predicate.get(part))
