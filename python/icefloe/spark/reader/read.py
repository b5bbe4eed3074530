"""Reading a table as a DataFrame: by Spark's own Parquet reader where its rows are right, else by icefloe's Rust reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_names, checked_snapshot_id, checked_text, checked_time_ms
from icefloe.exceptions import ValidationError
from icefloe.spark.reader.audit_branch import audit_branch
from icefloe.spark.reader.frame import scan_frame
from icefloe.spark.reader.scan_choice import ScanChoice, plan_scan
from icefloe.spark.session import active_session
from icefloe.table import Table
from icefloe.table.scan import DataScan, IncrementalAppendScan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from icefloe.expressions import BooleanExpression

    AnyScan = DataScan | IncrementalAppendScan


def read(  # noqa: PLR0913  all but the first have defaults
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
    """Return the rows of a table's current snapshot, or of a given one, as a DataFrame.

    The scan is planned here: the filter prunes files and applies to rows. Filters and selections on the DataFrame reach Spark's
    Parquet reader, but prune no files. :func:`explain_read` returns which reader reads the rows. All columns of the DataFrame are
    nullable, also required ones.

    Args:
        source: Table, or a scan of it.
        spark: Session; the active one if None.
        columns: Names of the columns to return, in this order; all if None. Metadata columns are ``_file``, ``_pos``,
            ``_deleted``, ``_spec_id`` and ``_partition``; with ``_deleted`` the frame has deleted rows as well.
        filter: Filter of the rows, as text or expression. Rows for which it is null are left out.
        snapshot_id: Snapshot to read, with its own schema.
        as_of_timestamp: Time to read as of, in milliseconds since the epoch.
        branch: Branch to read, with the table's current schema; the session's ``spark.wap.branch`` if None, where the table has
            ``write.wap.enabled``.
        tag: Tag to read, with its snapshot's schema.
        start_snapshot_id: Read only rows that were appended after this snapshot; see ``Table.incremental_append_scan``.
        end_snapshot_id: With ``start_snapshot_id``: last snapshot to read; None for the current one.

    Raises:
        ResolveError: A column does not exist.
        ValidationError: There is no session, the snapshot, branch or tag does not exist, or more than one of snapshot, time,
            branch, tag and start is given.
        FeatureUnsupportedError: Spark has no type for a column.

    Examples:
        >>> icefloe.spark.read(table, columns=["id"], filter="name > 'a'").orderBy("id").collect()
        [Row(id=2), Row(id=3)]
    """
    _check_source("read", source)
    session = active_session(spark)
    scan = resolve_scan(
        source,
        columns,
        filter,
        {
            "snapshot_id": snapshot_id,
            "as_of_timestamp": as_of_timestamp,
            "branch": _branch(
                session, source, branch, (snapshot_id, as_of_timestamp, tag, start_snapshot_id, end_snapshot_id)
            ),
            "tag": tag,
            "start_snapshot_id": start_snapshot_id,
            "end_snapshot_id": end_snapshot_id,
        },
    )
    return scan_frame(session, plan_scan(session, scan))


def pruned_rows(
    spark: Any,
    table: Table,
    columns: Sequence[str] | None,
    row_filter: BooleanExpression | None,
    version: dict[str, Any],
) -> DataFrame:
    """Return the rows of a table that a query filters again: conditions on transforms prune files, and may keep other rows.

    Args:
        spark: Session.
        table: Table.
        columns: Names of the columns; all if None.
        row_filter: Filter of the rows; None for all rows.
        version: Arguments of :func:`read` that choose a version; empty for the current one.
    """
    scan = resolve_scan(table, columns, row_filter, version or default_version(spark, table))
    return scan_frame(spark, plan_scan(spark, scan, filters_again=True))


def explain_read(  # noqa: PLR0913  the parameters of read
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
    """Return the reader that :func:`read` uses for the same arguments, the reason, and the numbers of files.

    Examples:
        >>> print(icefloe.spark.explain_read(table))
        1 data files and 0 delete files by Spark's Parquet reader: all files are Parquet and Spark finds their columns
    """
    _check_source("explain_read", source)
    session = active_session(spark)
    scan = resolve_scan(
        source,
        columns,
        filter,
        {
            "snapshot_id": snapshot_id,
            "as_of_timestamp": as_of_timestamp,
            "branch": _branch(
                session, source, branch, (snapshot_id, as_of_timestamp, tag, start_snapshot_id, end_snapshot_id)
            ),
            "tag": tag,
            "start_snapshot_id": start_snapshot_id,
            "end_snapshot_id": end_snapshot_id,
        },
    )
    return plan_scan(session, scan).choice


def resolve_scan(
    source: Table | AnyScan, columns: Sequence[str] | None, row_filter: Any, version: dict[str, Any]
) -> AnyScan:
    """Return the scan for the arguments of :func:`read`.

    Args:
        source: Table, or a scan of it.
        columns: Columns; None for all.
        row_filter: Filter; None for all rows.
        version: Arguments that choose snapshots, by name; at most one of them is not None, except ``end_snapshot_id`` beside
            ``start_snapshot_id``.

    Raises:
        ValidationError: More than one version is given, or an argument has another type.
    """
    given = {name: _checked(name, value) for name, value in version.items() if value is not None}
    chosen = [name for name in given if name != "end_snapshot_id"]
    if len(chosen) > 1:
        raise ValidationError(
            f"read: expected at most one of {', '.join(name for name in version if name != 'end_snapshot_id')}, got "
            f"{' and '.join(chosen)}"
        )
    in_range = "start_snapshot_id" in given or "end_snapshot_id" in given
    scan = _incremental(source, given) if in_range else _versioned(source, given)
    if columns is not None:
        scan = scan.select(*checked_names("columns", columns))
    return scan if row_filter is None else scan.filter(row_filter)


def default_version(spark: Any, table: Table) -> dict[str, Any]:
    """Return the version that :func:`read` reads of a table without one: the branch of the session's setting, else the current one."""
    return {"branch": audit_branch(spark, table.metadata)}


def _check_source(call: str, source: object) -> None:
    """Raise ValidationError if an argument is no table and no scan whose rows can be read."""
    if not isinstance(source, (Table, DataScan, IncrementalAppendScan)):
        raise ValidationError(
            f"{call}, source: expected a Table, such as catalog.load_table() returns, or a scan of its rows, got {source!r}"
        )


def _checked(name: str, value: Any) -> Any:
    """Return an argument that chooses snapshots: a time, the id of a snapshot, or the name of a branch or tag."""
    if name == "as_of_timestamp":
        return int(checked_time_ms(name, value))
    return checked_snapshot_id(value, name) if name.endswith("snapshot_id") else checked_text(name, value)


def _branch(spark: Any, source: Table | AnyScan, branch: str | None, others: Sequence[object]) -> str | None:
    """Return the branch to read: the given one, or that of the session where nothing else is chosen."""
    if (
        branch is not None
        or isinstance(source, (DataScan, IncrementalAppendScan))
        or any(one is not None for one in others)
    ):
        return branch
    return audit_branch(spark, source.metadata)


def _incremental(source: Table | AnyScan, given: dict[str, Any]) -> AnyScan:
    if isinstance(source, (DataScan, IncrementalAppendScan)):
        raise ValidationError(
            f"read: {next(iter(given))} chooses snapshots; expected a Table, got a {type(source).__name__}, whose snapshots are "
            "fixed: pass the table"
        )
    if "start_snapshot_id" not in given:
        raise ValidationError(
            "read: end_snapshot_id needs start_snapshot_id; expected both, got end_snapshot_id alone: pass both, or snapshot_id"
        )
    return source.incremental_append_scan(
        from_snapshot_id_exclusive=given["start_snapshot_id"],
        to_snapshot_id_inclusive=given.get("end_snapshot_id"),
    )


def _versioned(source: Table | AnyScan, given: dict[str, Any]) -> AnyScan:
    if isinstance(source, IncrementalAppendScan):
        if given:
            raise ValidationError(
                f"read: {next(iter(given))} chooses snapshots; expected a Table or DataScan, got an IncrementalAppendScan, whose "
                "snapshots are fixed: pass the table"
            )
        return source
    scan = source if isinstance(source, DataScan) else source.scan()
    for name, value in given.items():
        if name == "snapshot_id":
            scan = scan.update(snapshot_id=value)
        elif name == "as_of_timestamp":
            scan = scan.as_of(value)
        else:
            scan = scan.use_ref(value)
    return scan
