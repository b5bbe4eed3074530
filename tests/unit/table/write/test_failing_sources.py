"""Sources of rows that raise in the middle: their exception reaches the caller, and nothing of the operation stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table import Table

SCHEMA = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("value", pa.float64())])


class SourceError(Exception):
    """The error of a source."""


def failing(error: BaseException) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist([{"id": 1, "kind": "U", "value": 9.0}], schema=SCHEMA)
        raise error

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


def merge(table: Table, rows: Any) -> None:
    table.merge(rows, on=["id"]).when_matched_update().when_not_matched_insert().execute()


OPERATIONS = {
    "append": lambda table, rows: table.append(rows),
    "overwrite": lambda table, rows: table.overwrite(rows, "id = 1"),
    "overwrite partitions": lambda table, rows: table.dynamic_partition_overwrite(rows),
    "upsert": lambda table, rows: table.upsert(rows),
    "upsert with a full memory": lambda table, rows: table.upsert(rows, memory_limit=0),
    "upsert in any case": lambda table, rows: table.upsert(rows, case_sensitive=False),
    "merge": merge,
    "changes": lambda table, rows: table.apply_changes(rows, ["id"], "kind"),
}


@pytest.mark.parametrize(
    "error", [SourceError("no more rows"), ValueError("no more rows"), KeyboardInterrupt()], ids=repr
)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_exception_of_a_source_reaches_the_caller_as_it_is(new_table, operation, error):
    table = new_table()
    location, files = table.metadata_location, files_of(table)
    with pytest.raises(type(error)) as raised:
        OPERATIONS[operation](table, failing(error))
    assert raised.value is error
    assert table.refresh().metadata_location == location
    assert files_of(table) == files


class Stream:
    """A stream of another library."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self.reader = reader

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.reader.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_text_of_a_foreign_stream_error_is_in_the_message(new_table, operation):
    table = new_table()
    location, files = table.metadata_location, files_of(table)
    with pytest.raises(ValidationError, match=r"^data: (.|\n)*no more rows"):
        OPERATIONS[operation](table, Stream(failing(SourceError("no more rows"))))
    assert table.refresh().metadata_location == location
    assert files_of(table) == files


def files_of(table: Table) -> set[str]:
    return set(table.io.core.list(table.location()).column("location").to_pylist())
