"""The record in a checkpoint of the table that a query writes."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import IcebergError, MissingFileError, ValidationError

if TYPE_CHECKING:
    from icefloe.io.file_io import FileIO
    from icefloe.spark.stream.options import SinkOptions
    from icefloe.table import Table

FILE_NAME = "icefloe-sink.json"
VERSION = 1
_SPARKS_FILE = "metadata"


def check_sink_table(table: Table, options: SinkOptions) -> None:
    """Check that a table is the one of the query's first micro-batch, and record the table at the first micro-batch.

    Spark plans and commits each micro-batch in new processes, which find the table by its name. Without the record, a table that was dropped and
    created again would get the rows of later micro-batches alone.

    Args:
        table: Table with the name that the query writes to.
        options: Options of the sink. With ``table_uuid`` the query writes this table, whatever the checkpoint records.

    Raises:
        ValidationError: The table is another one.
    """
    found = table.metadata.table_uuid
    if found is None:
        return
    wanted = options.table_uuid
    if wanted is not None and wanted.lower() != str(found).lower():
        raise ValidationError(
            f"option table-uuid: table {options.table.table} is another table; expected uuid {wanted}, got {found}: pass this uuid "
            "to write the table from now on, or start the query with a new checkpoint location"
        )
    record = None if options.checkpoint is None else TableRecord(options.checkpoint.rstrip("/"), table.io)
    if record is None or not record.is_readable():
        return
    recorded = record.table_uuid()
    if recorded is not None and recorded != str(found) and wanted is None:
        raise ValidationError(
            f"checkpoint: table {options.table.table} was dropped and created again; expected the table with uuid {recorded}, got "
            f"{found}: start the query with a new checkpoint location to write all rows, or pass the option table-uuid={found} to write "
            "the rows after this checkpoint"
        )
    if recorded != str(found):
        record.write(options.table.table, str(found))


@dataclass(frozen=True)
class TableRecord:
    """The file in a checkpoint that names the table of its query.

    Args:
        checkpoint: Location of the checkpoint.
        file_io: Access to files, with the properties of the table's catalog.
    """

    checkpoint: str
    file_io: FileIO

    def is_readable(self) -> bool:
        """Return whether this process sees the file that Spark writes first.

        Spark may resolve the location in a file system, or with credentials, that the catalog's properties do not have.
        """
        with suppress(IcebergError, OSError, ValueError):
            return self.file_io.new_input(f"{self.checkpoint}/{_SPARKS_FILE}").exists()
        return False

    def table_uuid(self) -> str | None:
        """Return the recorded UUID; None if there is no record.

        Raises:
            ValidationError: The file is no record of this version.
        """
        file = self.file_io.new_input(f"{self.checkpoint}/{FILE_NAME}")
        try:
            text = file.open().read()
        except MissingFileError:
            return None
        value = None
        with suppress(ValueError):
            value = json.loads(text)
        if (
            not isinstance(value, dict)
            or value.get("version") != VERSION
            or not isinstance(value.get("table_uuid"), str)
        ):
            raise ValidationError(
                f"checkpoint: expected a record of version {VERSION} of the icefloe sink in {file.location}, got {text[:200]!r}: start the "
                "query with a new checkpoint location"
            )
        return str(value["table_uuid"])

    def write(self, name: str, table_uuid: str) -> None:
        """Write the record, or replace it; the query goes on without a record where the checkpoint is read-only to the catalog."""
        record = {"version": VERSION, "table": name, "table_uuid": table_uuid}
        output = self.file_io.new_output(f"{self.checkpoint}/{FILE_NAME}")
        with suppress(IcebergError, OSError), output.create(overwrite=True) as out:
            out.write(json.dumps(record).encode())
