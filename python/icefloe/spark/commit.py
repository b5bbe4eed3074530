"""Data files that executors wrote, committed in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import CommitFailedException, ValidationError, ValidationException
from icefloe.spark.staging import staging_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table import Table

WriteMode = Literal["append", "overwrite", "overwrite-partitions"]
SNAPSHOT_PROPERTY = "snapshot-property."


def commit_files(
    table: Table, files: pa.RecordBatch | None, mode: WriteMode, options: Mapping[str, str], *, spark: Any = None
) -> None:
    """Commit data files in one snapshot; where the commit has definitely failed the files are deleted.

    Args:
        table: Target.
        files: DataFile columns, None for none: then an append or a replacement of partitions makes no snapshot.
        mode: What happens to rows that are there.
        options: ``overwrite-filter``, ``branch``, ``snapshot-property.<key>``.
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
        replaced = None if mode == "append" else _replaced(table, files, mode, options)
        transaction = table.transaction()
        if replaced is None:
            transaction.new_append(**arguments).append(files).commit()
        else:
            overwrite = transaction.new_overwrite(**arguments).delete(replaced)
            (overwrite if files is None else overwrite.append(files)).commit()
        transaction.commit_transaction()


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
        if isinstance(error, CommitFailedException | ValidationException | ValidationError):
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


def _replaced(table: Table, files: pa.RecordBatch | None, mode: WriteMode, options: Mapping[str, str]) -> pa.Array:
    """Return the paths of the data files that a write replaces."""
    table.refresh()
    scan = table.scan()
    if "branch" in options and options["branch"] in table.metadata.refs:
        scan = scan.use_ref(options["branch"])
    row_filter = options.get("overwrite-filter")
    if row_filter is not None:
        scan = scan.filter(row_filter)
    there = scan.update(options={"split-size": str(2**62)}).plan().files
    if row_filter is not None and not pc.all(pc.fill_null(there.column("must_match"), False)).as_py():
        raise ValidationError(
            f"Some files hold rows that match {row_filter!r} beside rows that do not: delete or merge those rows instead"
        )
    if mode == "overwrite" or files is None:
        return there.column("file_path")
    replaced = pc.is_in(_partitions(there), value_set=pc.unique(_partitions(files)))
    return there.column("file_path").filter(replaced)


def _partitions(files: pa.RecordBatch) -> pa.Array:
    return pc.binary_join_element_wise(files.column("spec_id").cast(pa.string()), files.column("partition"), " ")
