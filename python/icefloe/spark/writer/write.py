"""Writing a DataFrame to a table: executors write data files, the driver makes one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.spark.arguments import checked_frame, checked_table
from icefloe.spark.session import UNLIMITED_BATCH_BYTES, is_case_sensitive, settings
from icefloe.spark.types.conform import conform
from icefloe.spark.types.exact_names import check_exact_names
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.spark.writer.arrow_map import map_in_arrow, worker_errors
from icefloe.spark.writer.commit import FileChange, WriteMode, overwrite_isolation, summary_properties
from icefloe.spark.writer.distribution import distribute, shuffle_settings
from icefloe.spark.writer.failed_job import deleted_if_job_fails
from icefloe.spark.writer.layout import WriteLayout
from icefloe.spark.writer.options import checked_options, flag, number
from icefloe.spark.writer.schema_followers import call_schema_followers
from icefloe.spark.writer.schema_merge import merge_schema
from icefloe.spark.writer.wap import snapshot_destination
from icefloe.spark.writer.write_task import RESULT_SCHEMA, collected, files_task
from icefloe.table.commit.snapshot_producer import MAIN
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from icefloe.table import Table
    from icefloe.table.write_transaction import WriteTransaction


def write(frame: DataFrame, table: Table, mode: WriteMode = "append", options: Mapping[str, str] | None = None) -> None:
    """Write a DataFrame's rows to a table in one snapshot.

    The rows are checked against the table's schema before a job runs, clustered by partition and sorted as the table's properties
    say, written by executors as Parquet, and committed here. If a task fails nothing is committed. An empty frame appends
    nothing and makes no snapshot. Where the table has ``write.wap.enabled`` and the session ``spark.wap.id``, the snapshot is
    staged.

    Args:
        frame: Rows. Columns are matched by name, which ignores case unless the session has ``spark.sql.caseSensitive``; a missing
            optional column is null in every row.
        table: Table, at the version that an overwrite replaces rows of. It shows the new version after the commit.
        mode: ``append``; ``overwrite`` replaces all rows, or the rows that match the option ``overwrite-filter``;
            ``overwrite-partitions`` replaces the partitions that the rows belong to.
        options: Write options:

            - ``check-nullability``: ``true`` refuses a nullable column for a required one before a job runs. With ``false``, the
              default, rows are checked while they are written, and nothing is committed if a required value is null.
            - ``check-ordering``: ``true`` refuses columns in another order than the table's.
            - ``merge-schema`` (``mergeSchema``): ``true`` adds columns that the table lacks and widens types in the same commit.
            - ``distribution-mode``: ``none``, ``hash`` or ``range``, in place of ``write.distribution-mode``;
              ``use-table-distribution-and-ordering``: ``false`` writes Spark's partitions unchanged; ``fanout-enabled``: ``true``
              keeps a file open for each partition instead of sorting rows by partition; ``advisory-partition-size``: size of
              shuffle partitions in bytes.
            - ``write-format``, ``target-file-size-bytes``, ``compression-codec``, ``compression-level``, ``compression-strategy``:
              in place of the table properties of data files.
            - ``output-spec-id``: partition spec of the files.
            - ``overwrite-filter``: filter of the rows to replace, as text; ``case-sensitive``: ``false`` ignores case in its names.
            - ``isolation-level``: ``serializable`` fails if a concurrent commit added rows among the replaced ones, ``snapshot``
              does not; in place of ``write.delete.isolation-level``.
            - ``validate-from-snapshot-id``: check the commits after this snapshot instead of those after the version of ``table``.
            - ``branch``: branch to commit to.
            - ``snapshot-property.<key>``: additional key of the snapshot's summary.

    Raises:
        SchemaMismatchError: The rows do not fit the table.
        ValidationError: Unknown mode or option.
        CommitFailedException: Concurrent commits won every retry; the table is unchanged and the new files are deleted.
        ValidationException: A concurrent commit changed rows that an overwrite replaces; likewise.

    Examples:
        >>> frame = spark.createDataFrame([(4, "d"), (5, "e")], "id long, name string")
        >>> icefloe.spark.write(frame, table)
        >>> icefloe.spark.write(frame.where("id = 4"), table, "overwrite", {"overwrite-filter": "id > 3"})
        >>> icefloe.spark.read(table).count()
        4
    """
    checked_frame("write, frame", frame)
    checked_table("write", table)
    checked = checked_options(mode, options)
    change = file_change(frame.sparkSession, table, mode, checked)
    write_to_table(frame, table, change)


def file_change(spark: Any, table: Table, mode: WriteMode, options: Mapping[str, str]) -> FileChange:
    """Return the change that a write of this session makes.

    Args:
        spark: Session.
        table: Table, at the version that an overwrite replaces rows of.
        mode: Effect on the rows that the table has.
        options: Checked options.

    Raises:
        ValidationError: The branch is a tag, or contradicts the session's settings for staging.
    """
    destination = snapshot_destination(spark, table, options.get("branch"), summary_properties(options))
    branch = MAIN if destination.branch is None else destination.branch
    isolation = overwrite_isolation(table, {**options, "branch": branch})
    return FileChange(mode=mode, options=options, destination=destination, isolation=isolation)


def write_to_table(frame: DataFrame, table: Table, change: FileChange) -> None:
    """Write a frame's rows to a table in one commit, which attached catalogs follow if it changes the schema.

    Args:
        frame: Rows.
        table: Table. It shows the new version after the commit.
        change: Effect of the files, with the options of the write.
    """
    schema = table.schema()
    with table.transaction() as transaction:
        write_in_transaction(frame, transaction, change)
    if flag(change.options, "merge-schema") and table.schema() != schema:
        call_schema_followers(frame.sparkSession, table.catalog, table.name())


def write_in_transaction(frame: DataFrame, transaction: WriteTransaction, change: FileChange) -> None:
    """Write a frame's rows as data files and add them to a transaction, which its owner commits.

    Args:
        frame: Rows.
        transaction: The transaction, possibly with changes of the table's definition.
        change: Effect of the files, with the options of the write.
    """
    if flag(change.options, "merge-schema"):
        merge_schema(transaction, frame.schema, case_sensitive=is_case_sensitive(frame.sparkSession))
    change.stage(transaction, write_files(frame, transaction, change.options))


def write_files(
    frame: DataFrame, transaction: WriteTransaction, options: Mapping[str, str] = EMPTY_DICT
) -> pa.RecordBatch | None:
    """Write a frame's rows as data files without a commit; return their DataFile columns, None if there are no rows.

    If the job fails or is interrupted, the files of its finished tasks are deleted.

    Args:
        frame: Rows.
        transaction: The transaction, whose table the files are written for.
        options: Checked options.
    """
    metadata = transaction.table_metadata
    layout = WriteLayout.of(metadata, options)
    if is_case_sensitive(frame.sparkSession):
        check_exact_names(frame.schema, to_spark_schema(layout.schema))
    conformed = conform(
        frame,
        layout.schema,
        check_nullability=flag(options, "check-nullability"),
        check_ordering=flag(options, "check-ordering"),
    )
    rows = distribute(conformed, layout)
    task = files_task(transaction.io, layout, presorted=rows.presorted)
    shuffle = shuffle_settings(number(options, "advisory-partition-size"))
    with (
        settings(frame.sparkSession, {**UNLIMITED_BATCH_BYTES, **shuffle}),
        worker_errors(),
        deleted_if_job_fails(transaction.io, metadata, task.operation_id),
    ):
        results = map_in_arrow(rows.frame, task, RESULT_SCHEMA).collect()
    return collected([row["files"] for row in results])
