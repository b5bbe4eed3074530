"""Data files that executors wrote, committed in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pyarrow.compute as pc

from icefloe.exceptions import CommitStateUnknownException, IcebergError, ValidationError
from icefloe.expressions import AlwaysTrue
from icefloe.spark.writer.wap import staging_arguments
from icefloe.table.commit.snapshot_producer import MAIN, check_branch, head_of
from icefloe.table.write.isolation import Isolation, is_serializable
from icefloe.table.write.overwrite import OPERATION, replace_partitions

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from icefloe.table import Table
    from icefloe.table.row_level.target import Target

WriteMode = Literal["append", "overwrite", "overwrite-partitions"]
SNAPSHOT_PROPERTY = "snapshot-property."


def commit_files(  # noqa: PLR0913  what is written, where to, and what others may do meanwhile
    table: Table,
    files: pa.RecordBatch | None,
    mode: WriteMode,
    options: Mapping[str, str],
    *,
    isolation: Isolation,
    spark: Any = None,
) -> None:
    """Commit data files in one snapshot; where the commit has definitely failed the files are deleted.

    Args:
        table: Target.
        files: DataFile columns, None for none: then an append or a replacement of partitions makes no snapshot.
        mode: What happens to rows that are there.
        options: ``overwrite-filter``, ``case-sensitive``, ``branch``, ``snapshot-property.<key>``.
        isolation: What a replacement tolerates of others, as `overwrite_isolation` found it when the write began.
        spark: Session that may ask to stage the snapshot; None where there is none.

    Raises:
        ValidationError: A file holds both rows that match the overwrite filter and rows that do not.
        CommitFailedException, ValidationException: Others were first.
    """
    if files is None and mode != "overwrite":
        return
    with undone_if_not_committed(table, [] if files is None else [files]):
        arguments = snapshot_arguments(options)
        if spark is not None:
            arguments = staging_arguments(spark, table, arguments)
        transaction = table.transaction()
        if mode == "append":
            transaction.new_append(**arguments).append(files).commit()
        else:
            with transaction.target(**arguments) as target:
                if mode == "overwrite-partitions" and files is not None:
                    replace_partitions(target, files, isolation)
                else:
                    _overwrite(target, files, options, isolation)
        transaction.commit_transaction()


def overwrite_isolation(table: Table, options: Mapping[str, str]) -> Isolation:
    """Return what an overwrite that begins now tolerates of others.

    Args:
        table: The table as the rows to write were computed from it.
        options: ``isolation-level`` in place of the table's ``write.delete.isolation-level``; ``validate-from-snapshot-id``, the
            snapshot after which others' commits count, in place of the branch's head; ``branch``.

    Raises:
        ValidationError: The level is unknown, the id is no number, or the branch is a tag.
    """
    branch = options.get("branch", MAIN)
    check_branch(table.metadata, branch)
    level = options.get("isolation-level")
    properties = table.properties if level is None else {f"write.{OPERATION}.isolation-level": level}
    start = options.get("validate-from-snapshot-id")
    if start is not None:
        if not start.removeprefix("-").isdecimal():
            raise ValidationError(f"validate-from-snapshot-id: expected a snapshot id, got {start!r}")
        return Isolation(int(start), is_serializable(properties, OPERATION))
    head = head_of(table.metadata, branch)
    return Isolation(None if head is None else head.snapshot_id, is_serializable(properties, OPERATION))


class undone_if_not_committed:  # noqa: N801  used like contextlib's lower-case managers
    """Deletes new files when the commit that was to make them part of the table has definitely failed.

    After an unknown outcome nothing is deleted: the files may be in use.
    """

    def __init__(self, table: Table, files: list[pa.RecordBatch]) -> None:
        self._table = table
        self._files = files

    def __enter__(self) -> None:
        """Enter."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Delete the files after a definite failure."""
        if isinstance(error, IcebergError) and not isinstance(error, CommitStateUnknownException):
            for batch in self._files:
                self._table.io.core.delete_many(batch.column("file_path").to_pylist())


def snapshot_arguments(options: Mapping[str, str]) -> dict[str, Any]:
    """Return branch and summary properties of a change from write options."""
    arguments: dict[str, Any] = {}
    if "branch" in options:
        arguments["branch"] = options["branch"]
    properties = {
        key.removeprefix(SNAPSHOT_PROPERTY): value
        for key, value in options.items()
        if key.startswith(SNAPSHOT_PROPERTY)
    }
    if properties:
        arguments["snapshot_properties"] = properties
    return arguments


def _overwrite(target: Target, files: pa.RecordBatch | None, options: Mapping[str, str], isolation: Isolation) -> None:
    """Replace whole data files: all of them, or those whose rows match the overwrite filter."""
    text = options.get("overwrite-filter")
    case_sensitive = options.get("case-sensitive", "true").lower() == "true"
    row_filter = target.filter(AlwaysTrue() if text is None else text, case_sensitive=case_sensitive)
    there = target.plan(row_filter).files
    if text is not None and not pc.all(pc.fill_null(there.column("must_match"), False)).as_py():
        raise ValidationError(
            f"Some files hold rows that match {text!r} beside rows that do not: delete or merge those rows instead"
        )
    change = target.transaction.new_overwrite(target.branch, target.snapshot_properties)
    change.delete(there.column("file_path"))
    if files is not None:
        change.append(files)
    change.validate_from_snapshot(isolation.snapshot_id).conflict_detection_filter(row_filter)
    change.validate_no_conflicting_deletes()
    if isolation.serializable:
        change.validate_no_conflicting_data()
    change.commit()
