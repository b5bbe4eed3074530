"""Numbers of rows by metadata and position deletes."""

from __future__ import annotations

import uuid

import pyarrow as pa
import pytest
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.spark.reader import row_count
from icefloe.spark.reader.row_count import counted_rows
from icefloe.table.write.file_writer import FileWriter
from icefloe.transforms import IdentityTransform
from icefloe.types import LongType, NestedField

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "part", LongType()))
BY_PART = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))


def filled(new_table, files=3, **properties):
    table = new_table(SCHEMA, BY_PART, **properties)
    for number in range(files):
        table.append(pa.table({"id": range(100 * number, 100 * number + 100), "part": [number] * 100}))
    return table


def test_empty_table_has_no_rows(new_table):
    assert counted_rows(new_table(SCHEMA).scan()) == 0


def test_rows_are_counted_by_metadata(new_table):
    assert counted_rows(filled(new_table).scan()) == 300


def test_rows_of_whole_partitions_are_counted_by_metadata(new_table):
    scan = filled(new_table).scan("part < 2")
    assert counted_rows(scan) == 200


def test_rows_of_a_filter_that_files_match_in_part_are_not_counted(new_table):
    assert counted_rows(filled(new_table).scan("id < 150")) is None


def test_a_limit_is_not_counted(new_table):
    assert counted_rows(filled(new_table).scan(limit=5)) is None


def test_position_deletes_are_counted_once(new_table):
    table = filled(new_table, write__delete__mode="merge-on-read")
    for row_filter in ("id < 10", "id >= 5 and id < 20", "id = 250"):
        table.delete(row_filter)
    assert counted_rows(table.scan()) == 279 == table.scan().to_arrow().num_rows
    assert counted_rows(table.scan("part = 0")) == 80


def test_more_position_deletes_than_the_driver_reads_are_not_counted(new_table, monkeypatch):
    table = filled(new_table, write__delete__mode="merge-on-read")
    table.delete("id < 10")
    monkeypatch.setattr(row_count, "MAX_DELETES", 9)
    assert counted_rows(table.scan()) is None


def test_equality_deletes_are_not_counted(new_table):
    table = filled(new_table)
    writer = FileWriter(table.io, table.metadata, str(uuid.uuid4()))
    table.new_row_delta().add_deletes(writer.equality_deletes(pa.table({"id": [1], "part": [0]}), [1])).commit()
    assert counted_rows(table.scan()) is None


@pytest.mark.parametrize("start", [0, 1])
def test_appends_between_snapshots_are_not_counted(new_table, start):
    table = filled(new_table)
    first = table.metadata.snapshots[start].snapshot_id
    assert counted_rows(table.incremental_append_scan(from_snapshot_id_exclusive=first)) is None
