"""The procedures that make tables of existing files: over a directory or a table of Spark's own catalog, or in place of such a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.catalog.import_directory import migrate_directory, snapshot_directory
from icefloe.exceptions import CommitStateUnknownException, ValidationError
from icefloe.spark.maintenance.file_tables import FileTable
from icefloe.spark.maintenance.procedure import Procedure
from icefloe.spark.maintenance.source_directory import SourceDirectory, is_directory
from icefloe.table.commit.transaction import INDEFINITE_ERRORS

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.spark.maintenance.procedure import Arguments, Caller, Rows

_BACKUP = "_BACKUP_"


def _snapshot(caller: Caller, given: Arguments) -> Rows:
    source, others, catalog = given["source_table"], dict[str, Any](), caller.named_catalog()
    if is_directory(source) or caller.spark is None:
        found = SourceDirectory.of(source)
        directory, file_format = found.location, found.file_format
    else:
        table = FileTable.of(caller.spark, source, "snapshot")
        directory, file_format = table.location, table.file_format
        others = _parts(table, catalog.file_io(directory))
    result = snapshot_directory(
        catalog,
        directory,
        caller.identifier(given["table"]),
        location=given.get("location"),
        properties=given.get("properties", {}),
        file_format=file_format,
        **others,
    ).execute()
    return [(result.imported_files_count,)]


def _parts(table: FileTable, io: FileIO) -> dict[str, Any]:
    """Return the columns and the partitions of a table of files."""
    return {
        "schema": table.schema,
        "partition_types": table.partition_types,
        "directories": table.directories(),
        "partitions": table.partitions_elsewhere(io),
    }


def _migrate(caller: Caller, given: Arguments) -> Rows:
    source = _external_table(caller.spark, given["table"])
    catalog = caller.named_catalog()
    builder = migrate_directory(
        catalog,
        source.location,
        (source.database, source.name),
        properties=given.get("properties", {}),
        file_format=source.file_format,
        **_parts(source, catalog.file_io(source.location)),
    )
    plan = builder.plan()
    # Without its name no writer finds the table while its files are imported.
    backup = source.rename(caller.spark, given.get("backup_table_name", f"{source.name}{_BACKUP}"))
    is_staged = False
    try:
        transaction = builder.stage(plan)
        is_staged = True
        result = builder.create(plan, transaction)
    except BaseException as error:
        # No request before the commit creates the table, so only a failed commit may have created it.
        if is_staged and isinstance(error, INDEFINITE_ERRORS):
            raise _unknown_migration(source, backup, error) from error
        backup.rename(caller.spark, source.name)
        raise
    if given.get("drop_backup", False):
        backup.drop(caller.spark)
    return [(result.imported_files_count,)]


def _external_table(spark: Any, name: object) -> FileTable:
    """Return the table that `migrate` replaces."""
    if spark is None or not isinstance(name, str) or is_directory(name):
        raise ValidationError(
            "CALL migrate: expected the name of a Parquet, ORC or Avro table of Spark's own catalog, and a session (spark=...); make a table in place "
            "of a directory by icefloe.catalog.import_directory.migrate_directory() or the command `icefloe migrate`"
        )
    table = FileTable.of(spark, name, "migrate")
    if not table.is_external:
        raise ValidationError(
            f"CALL migrate: table {table.database}.{table.name}: expected an external table (with LOCATION), got a managed one, whose files "
            "Spark moves or deletes with the table; use CALL snapshot, or migrate_directory() after the files were copied"
        )
    return table


def _unknown_migration(source: FileTable, backup: FileTable, error: Exception) -> CommitStateUnknownException:
    old, new = f"spark_catalog.{source.database}.{backup.name}", f"{source.database}.{source.name}"
    return CommitStateUnknownException(
        f"CALL migrate: unknown whether table {new} was created, so the table of files keeps the name {old}, and nothing was cleaned up. If "
        f"the catalog has table {new}, the migration is complete; otherwise ALTER TABLE {old} RENAME TO {new} undoes it: {error}"
    )


DIRECTORIES = {
    "migrate": Procedure(
        parameters={
            "table": "string",
            "properties": "map<string,string>",
            "drop_backup": "boolean",
            "backup_table_name": "string",
            "parallelism": "int",
            "ignore_missing_files": "boolean",
        },
        required=("table",),
        returns="migrated_files_count bigint NOT NULL",
        run=_migrate,
    ),
    "snapshot": Procedure(
        parameters={
            "source_table": "string",
            "table": "string",
            "location": "string",
            "properties": "map<string,string>",
            "parallelism": "int",
            "ignore_missing_files": "boolean",
        },
        required=("source_table", "table"),
        returns="imported_files_count bigint NOT NULL",
        run=_snapshot,
    ),
}
"""Procedures by name."""
