"""Read a table as a DataFrame: by Spark's own Parquet reader where that is right, else by icefloe's Rust reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.reader.frame import scan_frame
from icefloe.spark.reader.scan_choice import ScanChoice, plan_scan
from icefloe.spark.session import active_session
from icefloe.table.scan import IncrementalAppendScan, TableScan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from icefloe.expressions import BooleanExpression
    from icefloe.table import Table

    AnyScan = TableScan | IncrementalAppendScan


def read(  # noqa: PLR0913  the ways of choosing rows are many
    source: Table | AnyScan,
    *,
    spark: Any = None,
    columns: Sequence[str] | None = None,
    filter: str | BooleanExpression | None = None,  # noqa: A002  what everyone calls it
    snapshot_id: int | None = None,
    as_of_timestamp: int | None = None,
    branch: str | None = None,
    tag: str | None = None,
    start_snapshot_id: int | None = None,
    end_snapshot_id: int | None = None,
) -> DataFrame:
    """Return a table's rows as a DataFrame of the snapshot that is current now, or of the one that is named.

    The scan is planned here: files are pruned by the filter, which is applied to the rows as well. Filters and selections that
    Spark finds later reach its Parquet reader, but prune no files. :func:`explain_read` says how the rows are read. Required
    columns come back nullable where Spark's own reader reads them: it makes no promises about files.

    Args:
        source: Table, or a scan of it.
        spark: Session; the active one if None.
        columns: Names of the columns to return, in this order; all if None. ``_file``, ``_pos``, ``_deleted``, ``_spec_id`` and
            ``_partition`` say where a row is; with ``_deleted`` deleted rows are returned, too.
        filter: Which rows, as text or expression.
        snapshot_id: Snapshot to read, with its own schema.
        as_of_timestamp: Time to read as of, in milliseconds since the epoch.
        branch: Branch to read, with the table's current schema.
        tag: Tag to read, with its snapshot's schema.
        start_snapshot_id: Read only what was appended after this snapshot; see ``Table.incremental_append_scan``.
        end_snapshot_id: With ``start_snapshot_id``: the last snapshot to read; None for the current one.

    Raises:
        ResolveError: A column does not exist.
        ValidationError: No session, no such snapshot, or more than one of snapshot, time, branch, tag and start.

    Example:
        >>> icefloe.spark.read(table, filter="l_shipdate < '1994-01-01'").count()     # doctest: +SKIP
    """
    session = active_session(spark)
    scan = resolve_scan(
        source,
        columns,
        filter,
        {
            "snapshot": snapshot_id,
            "time": as_of_timestamp,
            "branch": branch,
            "tag": tag,
            "start": start_snapshot_id,
            "end": end_snapshot_id,
        },
    )
    return scan_frame(session, plan_scan(session, scan))


def explain_read(  # noqa: PLR0913  those of read
    source: Table | AnyScan,
    *,
    spark: Any = None,
    columns: Sequence[str] | None = None,
    filter: str | BooleanExpression | None = None,  # noqa: A002  what everyone calls it
    snapshot_id: int | None = None,
    as_of_timestamp: int | None = None,
    branch: str | None = None,
    tag: str | None = None,
    start_snapshot_id: int | None = None,
    end_snapshot_id: int | None = None,
) -> ScanChoice:
    """Return by which reader :func:`read` would read with the same arguments, why, and how many files.

    Example:
        >>> print(icefloe.spark.explain_read(table))                                  # doctest: +SKIP
        8 data files and 0 delete files by Spark's Parquet reader: all is Parquet, its columns found rightly
    """
    session = active_session(spark)
    scan = resolve_scan(
        source,
        columns,
        filter,
        {
            "snapshot": snapshot_id,
            "time": as_of_timestamp,
            "branch": branch,
            "tag": tag,
            "start": start_snapshot_id,
            "end": end_snapshot_id,
        },
    )
    return plan_scan(session, scan).choice


def resolve_scan(
    source: Table | AnyScan, columns: Sequence[str] | None, row_filter: Any, version: dict[str, Any]
) -> AnyScan:
    """Return the scan that is asked for.

    Args:
        source: Table, or a scan of it.
        columns: Columns, None for all.
        row_filter: Filter, None for all rows.
        version: At most one of ``snapshot``, ``time``, ``branch``, ``tag``, ``start`` that is not None; ``end`` beside ``start``.

    Raises:
        ValidationError: More than one version is given.
    """
    chosen = {kind: value for kind, value in version.items() if value is not None and kind != "end"}
    if len(chosen) > 1:
        raise ValidationError(f"Give one of {', '.join(chosen)}, not all of them")
    in_range = "start" in chosen or version.get("end") is not None
    scan = _incremental(source, version) if in_range else _versioned(source, chosen)
    if columns is not None:
        scan = scan.select(*columns)
    return scan if row_filter is None else scan.filter(row_filter)


def _incremental(source: Table | AnyScan, version: dict[str, Any]) -> AnyScan:
    if isinstance(source, (TableScan, IncrementalAppendScan)):
        raise ValidationError("start_snapshot_id goes with a table; a scan has its snapshots already")
    if version.get("start") is None:
        raise ValidationError("end_snapshot_id ends what begins after start_snapshot_id: give both, or snapshot_id")
    return source.incremental_append_scan(
        from_snapshot_id_exclusive=int(version["start"]),
        to_snapshot_id_inclusive=None if version.get("end") is None else int(version["end"]),
    )


def _versioned(source: Table | AnyScan, chosen: dict[str, Any]) -> AnyScan:
    if isinstance(source, IncrementalAppendScan):
        if chosen:
            raise ValidationError(f"{next(iter(chosen))}: the scan is of a range of snapshots already")
        return source
    scan = source if isinstance(source, TableScan) else source.scan()
    for kind, value in chosen.items():
        if kind == "snapshot":
            scan = scan.update(snapshot_id=int(value))
        elif kind == "time":
            scan = scan.as_of(int(value))
        else:
            scan = scan.use_ref(str(value))
    return scan
