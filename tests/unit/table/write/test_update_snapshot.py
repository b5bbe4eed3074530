"""Snapshots that add and remove DataFile objects."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.expressions import EqualTo
from icefloe.manifest import DataFile
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table import Table
from icefloe.typedef import Record
from icefloe.types import NestedField


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Table, Table]:
    """A table of two files in two partitions, and an empty one of the same columns."""
    catalog = InMemoryCatalog("memory", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    schema = Schema(NestedField(1, "id", "long"), NestedField(2, "day", "date"))
    spec = PartitionSpec(PartitionField(2, 1000, "identity", "day"))
    full, empty = (catalog.create_table(f"db.{name}", schema, partition_spec=spec) for name in ("full", "empty"))
    for number in (1, 2):
        full.append(pa.table({"id": pa.array([number], pa.int64()), "day": [date(2020, 1, number)]}))
    return full, empty


def files_of(table: Table) -> list[DataFile]:
    return sorted((task.file for task in table.scan().plan_files()), key=lambda file: file.partition[0])


@pytest.mark.parametrize("kind", ["fast_append", "merge_append", "overwrite"])
def test_update_snapshot_adds_data_files(tables: tuple[Table, Table], kind: str) -> None:
    full, empty = tables
    with empty.transaction() as transaction, getattr(transaction.update_snapshot({"by": "me"}), kind)() as change:
        for file in files_of(full):
            change.append_data_file(file)
    assert sorted(empty.scan().to_arrow()["id"].to_pylist()) == [1, 2]
    assert empty.scan("day = '2020-01-02'").to_arrow()["id"].to_pylist() == [2]
    assert empty.current_snapshot().summary["by"] == "me"
    assert empty.current_snapshot().summary["added-data-files"] == "2"


def test_update_snapshot_removes_data_files(tables: tuple[Table, Table]) -> None:
    full, _ = tables
    first, second = files_of(full)
    with full.transaction() as transaction, transaction.update_snapshot().delete() as change:
        change.delete_data_file(first)
    assert full.scan().to_arrow()["id"].to_pylist() == [2]
    with full.transaction() as transaction, transaction.update_snapshot().overwrite() as change:
        change.delete_data_file(second).append_data_file(first)
    assert full.scan().to_arrow()["id"].to_pylist() == [1]
    assert full.current_snapshot().summary.operation.value == "overwrite"


def test_update_snapshot_commits_nothing_when_the_block_raises(tables: tuple[Table, Table]) -> None:
    full, empty = tables

    def append_and_fail() -> None:
        with empty.transaction() as transaction, transaction.update_snapshot().fast_append() as change:
            change.append_data_file(files_of(full)[0])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        append_and_fail()
    assert empty.current_snapshot() is None


def test_update_snapshot_refuses_files_that_do_not_fit(tables: tuple[Table, Table]) -> None:
    full, empty = tables
    file = {"file_path": "a", "file_format": "parquet", "record_count": 1, "file_size_in_bytes": 1}
    for wrong, reason in (
        (Record(), "expected a partition tuple of 1 values, got 0 values"),
        (Record(1, 2), "got 2 values"),
    ):
        change = empty.transaction().update_snapshot().fast_append()
        with pytest.raises(ValidationError, match=reason):
            change.append_data_file(DataFile.from_args(partition=wrong, **file)).commit()
    change = empty.transaction().update_snapshot().fast_append()
    with pytest.raises(ValidationError, match="no partition spec 7"):
        change.append_data_file(DataFile.from_args(partition=Record(1), spec_id=7, **file)).commit()
    with pytest.raises(ValidationError, match="a delete adds no files"):
        empty.transaction().update_snapshot().delete().append_data_file(files_of(full)[0])


def test_update_snapshot_refuses_to_remove_a_file_twice(tables: tuple[Table, Table]) -> None:
    full, _ = tables
    first = files_of(full)[0]
    full.delete("id = 1")
    transaction = full.transaction()
    with pytest.raises(ValidationException, match="not part of the table any more"):
        transaction.update_snapshot().delete().delete_data_file(first).commit()


@pytest.mark.parametrize("kind", ["fast_append", "merge_append", "overwrite", "delete"])
@pytest.mark.parametrize("wrong", [None, "a.parquet", 7, {}], ids=str)
def test_update_snapshot_refuses_values_that_are_no_data_files(
    tables: tuple[Table, Table], kind: str, wrong: Any
) -> None:
    change = getattr(tables[0].transaction().update_snapshot(), kind)()
    with pytest.raises(ValidationError, match=r"append_data_file: expected an icefloe\.manifest\.DataFile, got"):
        change.append_data_file(wrong)
    if kind in ("overwrite", "delete"):
        with pytest.raises(ValidationError, match=r"delete_data_file: expected an icefloe\.manifest\.DataFile, got"):
            change.delete_data_file(wrong)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"record_count": -1}, "record_count: expected a whole number, 0 or above, got -1"),
        ({"record_count": "x"}, "record_count: expected a whole number, 0 or above, got 'x'"),
        ({"file_size_in_bytes": None}, "file_size_in_bytes: expected a whole number, 0 or above, got None"),
        ({"file_path": 7}, "file_path of a data file: expected text, got 7"),
        ({"partition": None}, "a.parquet: expected an icefloe.typedef.Record as partition tuple, got None"),
        ({"partition": Record("x")}, "a.parquet: partition field day: expected a date, got 'x'"),
        ({"split_offsets": "x"}, "a.parquet: an attribute has another type than in manifests"),
        ({"content": 1}, "expected a data file, got a.parquet of content DataFileContent.POSITION_DELETES"),
    ],
    ids=str,
)
def test_update_snapshot_refuses_attributes_of_wrong_types(
    tables: tuple[Table, Table], wrong: dict[str, Any], reason: str
) -> None:
    right = {
        "file_path": "a.parquet",
        "file_format": "parquet",
        "record_count": 1,
        "file_size_in_bytes": 1,
        "partition": Record(1),
    }
    change = tables[1].transaction().update_snapshot().fast_append()
    with pytest.raises(ValidationError, match=re.escape(reason)):
        change.append_data_file(DataFile.from_args(**{**right, **wrong})).commit()


@pytest.mark.parametrize("kind", ["delete", "overwrite"])
def test_delete_by_predicate_removes_files_whose_rows_all_match(tables: tuple[Table, Table], kind: str) -> None:
    full, _ = tables
    full.append(pa.table({"id": pa.array([3, 4], pa.int64()), "day": [date(2020, 1, 3)] * 2}))
    with full.transaction() as transaction, getattr(transaction.update_snapshot(), kind)() as change:
        change.delete_by_predicate(EqualTo("day", "2020-01-01"))
        change.delete_by_predicate("ID = 3", case_sensitive=False)
        assert change.files_affected
        assert change.rewrites_needed
    assert sorted(full.scan().to_arrow()["id"].to_pylist()) == [2, 3, 4]
    assert full.current_snapshot().summary.operation.value == "delete"
    assert full.current_snapshot().summary["deleted-data-files"] == "1"


def test_delete_by_predicate_that_removes_no_file_commits_nothing(tables: tuple[Table, Table]) -> None:
    full, _ = tables
    before = full.metadata_location
    with full.transaction() as transaction, transaction.update_snapshot().delete() as change:
        change.delete_by_predicate("id > 7")
        assert not change.files_affected
        assert not change.rewrites_needed
    assert full.catalog.load_table("db.full").metadata_location == before


def test_delete_of_no_file_commits_nothing(tables: tuple[Table, Table]) -> None:
    full, _ = tables
    before = full.metadata_location
    with full.transaction() as transaction, transaction.update_snapshot().delete():
        pass
    assert full.metadata_location == before


def test_delete_by_predicate_conflicts_with_rows_that_others_add(tables: tuple[Table, Table]) -> None:
    full, _ = tables
    transaction = full.transaction()
    transaction.update_snapshot().delete().delete_by_predicate("day = '2020-01-01'").commit()
    row = pa.table({"id": pa.array([5], pa.int64()), "day": [date(2020, 1, 1)]})
    full.catalog.load_table("db.full").append(row)
    with pytest.raises(ValidationException):
        transaction.commit_transaction()


def test_delete_by_predicate_refuses_unknown_columns(tables: tuple[Table, Table]) -> None:
    with pytest.raises(ValidationError, match="nope"):
        tables[0].transaction().update_snapshot().delete().delete_by_predicate("nope = 1")


def test_overwrite_accepts_the_commit_uuid_of_pyiceberg(tables: tuple[Table, Table]) -> None:
    full, empty = tables
    with empty.transaction() as transaction, transaction.update_snapshot().overwrite(commit_uuid=uuid4()) as change:
        change.append_data_file(files_of(full)[0])
    assert empty.scan().count() == 1
