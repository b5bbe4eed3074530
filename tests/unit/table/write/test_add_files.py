"""Existing Parquet files become data files of a table by their footers."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import (
    CommitFailedException,
    CorruptFileError,
    FeatureUnsupportedError,
    MissingFileError,
    SchemaMismatchError,
    ValidationError,
    ValidationException,
)
from icefloe.schema import Schema
from icefloe.table.sorting import SortField, SortOrder
from icefloe.transforms import BucketTransform, IdentityTransform
from icefloe.types import LongType, NestedField, StringType, StructType

from tests.unit.table.write.existing_files import MAPPING, SCHEMA, ids, rows, with_ids, write


@pytest.fixture
def empty(catalog):
    return catalog.create_table("db.t", SCHEMA)


def test_add_files_maps_names_of_files_without_ids(empty, tmp_path):
    paths = [write(tmp_path / f"{n}.parquet", rows([n, n + 10])) for n in range(20)]
    empty.add_files(paths, {"by": "me"})
    assert ids(empty) == sorted([*range(20), *range(10, 30)])
    assert ids(empty, "id = 3") == [3]
    assert [field.names for field in empty.name_mapping()] == [("id",), ("at",), ("name",), ("value",)]
    assert len(empty.snapshots()) == 1
    summary = empty.current_snapshot().summary
    assert (summary.operation, summary["added-data-files"], summary["added-records"], summary["by"]) == (
        "append",
        "20",
        "40",
        "me",
    )
    assert [task.file.file_path for task in empty.scan().plan_files()] == paths


def test_add_files_keeps_columns_of_renamed_fields(empty, tmp_path):
    empty.add_files([write(tmp_path / "a.parquet", rows([1]))])
    empty.update_schema().rename_column("name", "title").commit()
    assert empty.scan().to_arrow().column("title").to_pylist() == ["name 1"]


def test_add_files_uses_field_ids_and_sets_no_name_mapping(empty, tmp_path):
    path = write(tmp_path / "a.parquet", with_ids(rows([1, 2]).select(["name", "id"]), [3, 1]))
    empty.add_files([path])
    assert empty.scan().to_arrow().select(["id", "name", "value"]).to_pylist() == [
        {"id": 1, "name": "name 1", "value": None},
        {"id": 2, "name": "name 2", "value": None},
    ]
    assert MAPPING not in empty.properties


def test_add_files_accepts_field_ids_under_earlier_names(empty, tmp_path):
    empty.update_schema().rename_column("name", "title").commit()
    empty.add_files([write(tmp_path / "a.parquet", with_ids(rows([1]), [1, 2, 3, 4]))])
    assert empty.scan().to_arrow().column("title").to_pylist() == ["name 1"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (rows([1], extra=["x"]), "column extra"),
        (rows([1], name=pa.array([5], pa.int64())), "column name"),
        (rows([1]).drop_columns(["id"]), "required column id"),
        (rows([1], id=pa.array([None], pa.int64())), "1 nulls"),
        (with_ids(rows([1]), [1, 2, 4, 3]), 'field id 4, which is field "value"'),
        (with_ids(rows([1]), [1, 2, 3, 9]), "field id 9, which no field of the table has"),
        (rows([1], at=[dt.date(2020, 1, 1)]), "column at"),
    ],
)
def test_add_files_refuses_columns_that_do_not_fit(empty, tmp_path, data, message):
    good = write(tmp_path / "good.parquet", rows([1]))
    bad = write(tmp_path / "bad.parquet", data)
    with pytest.raises(SchemaMismatchError, match=message) as caught:
        empty.add_files([good, bad])
    assert bad in str(caught.value)
    assert empty.refresh().snapshots() == []
    assert Path(good).exists()


def test_add_files_checks_fields_of_structs(catalog, tmp_path):
    inner = StructType(NestedField(3, "x", LongType()), NestedField(4, "y", LongType()))
    table = catalog.create_table("db.s", Schema(NestedField(1, "id", LongType()), NestedField(2, "point", inner)))
    data = pa.table({"id": [1], "point": [{"x": 5, "y": 6}]})
    table.add_files([write(tmp_path / "good.parquet", data)])
    assert table.scan("point.x = 5").to_arrow().to_pylist() == [{"id": 1, "point": {"x": 5, "y": 6}}]
    bad = write(tmp_path / "bad.parquet", pa.table({"id": [1], "point": [{"x": 5, "z": 6}]}))
    with pytest.raises(SchemaMismatchError, match=r"point\.z"):
        table.add_files([bad])


def test_add_files_refuses_two_columns_of_one_name(empty, tmp_path):
    twice = pa.table([[1], ["a"], ["b"]], names=["id", "name", "name"])
    with pytest.raises(SchemaMismatchError, match=r"column name: .*expected one column of this name, got several"):
        empty.add_files([write(tmp_path / "a.parquet", twice)])
    empty.update_schema().rename_column("name", "title").commit()
    of_one_id = with_ids(twice.rename_columns(["id", "name", "title"]), [1, 3, 3])
    with pytest.raises(SchemaMismatchError, match=r"column title: .*a field id of its own.*column name"):
        empty.add_files([write(tmp_path / "b.parquet", of_one_id)])
    assert empty.refresh().snapshots() == []


def test_add_files_refuses_two_fields_of_one_name_in_a_struct(catalog, tmp_path):
    inner = StructType(NestedField(3, "x", LongType()))
    table = catalog.create_table("db.s", Schema(NestedField(2, "point", inner)))
    point = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pytest.raises(SchemaMismatchError, match=r"column point\.x: .*one column of this name"):
        table.add_files([write(tmp_path / "a.parquet", pa.table({"point": point}))])


def test_add_files_promotes_types(empty, tmp_path):
    data = rows([1], id=pa.array([1], pa.int32()), value=pa.array([0.5], pa.float32()))
    empty.add_files([write(tmp_path / "a.parquet", data)])
    assert ids(empty, "id = 1 and value = 0.5") == [1]
    assert ids(empty, "id = 2") == []


def test_add_files_takes_metrics_from_footers(empty, tmp_path):
    data = rows([1, 2, 3], name=["a", None, "c" * 40])
    empty.add_files([write(tmp_path / "a.parquet", data, row_group_size=1)])
    (file,) = empty.inspect.files().to_pylist()
    assert (file["record_count"], file["file_size_in_bytes"]) == (3, (tmp_path / "a.parquet").stat().st_size)
    assert dict(file["value_counts"]) == {1: 3, 2: 3, 3: 3, 4: 3}
    assert dict(file["null_value_counts"]) == {1: 0, 2: 0, 3: 1, 4: 0}
    lower, upper = dict(file["lower_bounds"]), dict(file["upper_bounds"])
    assert (lower[1], upper[1]) == ((1).to_bytes(8, "little"), (3).to_bytes(8, "little"))
    assert (lower[3], upper[3]) == (b"a", b"c" * 15 + b"d")
    assert len(file["split_offsets"]) == 3


def test_add_files_without_statistics_scans_all_rows(empty, tmp_path):
    empty.add_files([write(tmp_path / "a.parquet", rows([1, 2]).cast(SCHEMA.as_arrow()), write_statistics=False)])
    assert ids(empty, "id = 2") == [2]


def test_add_files_refuses_live_files(empty, tmp_path):
    path = write(tmp_path / "a.parquet", rows([1]))
    with pytest.raises(ValidationError, match="each file once"):
        empty.add_files([path, path])
    empty.add_files([path])
    with pytest.raises(ValidationError, match="part of the table already") as caught:
        empty.add_files([path])
    assert path in str(caught.value)
    empty.delete()
    empty.add_files([path])
    assert ids(empty) == [1]


def test_add_files_refuses_another_spelling_of_a_live_file(catalog, empty, tmp_path):
    path = write(tmp_path / "a.parquet", rows([1]))
    spellings = [path, f"file:{path}", f"file://{path}", path.replace("/a.parquet", "//a.parquet")]
    for spelling in spellings[1:]:
        with pytest.raises(ValidationError, match="each file once") as caught:
            empty.add_files([path, spelling])
        assert spelling in str(caught.value)
    late = catalog.load_table("db.t")
    late.metadata  # noqa: B018 - loaded before the commit
    empty.add_files(spellings[1:2])
    for spelling in spellings:
        with pytest.raises(ValidationError, match="part of the table already"):
            empty.add_files([spelling])
    with pytest.raises(ValidationException, match="a concurrent commit added the same file"):
        late.add_files([path])
    assert ids(catalog.load_table("db.t")) == [1]


def test_add_files_refuses_files_of_earlier_changes_of_the_transaction(empty, tmp_path):
    path = write(tmp_path / "a.parquet", rows([1]))
    transaction = empty.transaction()
    transaction.add_files([path])
    with pytest.raises(ValidationError, match="part of the table already"):
        transaction.add_files([path])
    transaction.commit_transaction()
    assert ids(empty) == [1]


def test_add_files_loses_to_a_concurrent_add_of_the_same_file(catalog, empty, tmp_path):
    path, other = (write(tmp_path / f"{name}.parquet", rows([1])) for name in "ab")
    handles = [catalog.load_table("db.t") for _ in range(3)]
    handles[0].add_files([path])
    handles[1].add_files([other])
    with pytest.raises(ValidationException, match="a concurrent commit added the same file"):
        handles[2].add_files([path])
    assert ids(catalog.load_table("db.t")) == [1, 1]
    assert Path(path).exists()


def test_add_files_without_the_check_accepts_concurrent_commits(catalog, empty, tmp_path):
    paths = [write(tmp_path / f"{name}.parquet", rows([1])) for name in "ab"]
    handles = [catalog.load_table("db.t") for _ in range(2)]
    for handle, path in zip(handles, paths, strict=True):
        handle.add_files([path], check_duplicate_files=False)
    assert ids(catalog.load_table("db.t")) == [1, 1]


def test_add_files_to_a_branch_leaves_main(empty, tmp_path):
    empty.append(rows([1]))
    empty.add_files([write(tmp_path / "a.parquet", rows([2]))], branch="audit")
    assert ids(empty) == [1]
    assert sorted(empty.scan().use_ref("audit").to_arrow().column("id").to_pylist()) == [1, 2]


def test_add_files_names_files_that_cannot_be_read(empty, tmp_path):
    text = tmp_path / "a.parquet"
    text.write_text("no Parquet at all")
    with pytest.raises(
        CorruptFileError, match=r"a\.parquet: .*expected a Parquet, ORC or Avro file, got one that starts with 'no P'"
    ):
        empty.add_files([str(text)])
    with pytest.raises(MissingFileError, match=r"b\.parquet"):
        empty.add_files([str(tmp_path / "b.parquet")])
    (tmp_path / "c.csv").write_text("id\n1\n")
    with pytest.raises(
        FeatureUnsupportedError, match=r"adding csv files .only Parquet, ORC and Avro files can be added"
    ):
        empty.add_files([str(tmp_path / "c.csv")])
    assert empty.refresh().snapshots() == []


def test_add_files_of_nothing_commits_nothing(empty):
    empty.add_files([])
    assert empty.refresh().snapshots() == []


def test_add_files_refuses_a_name_mapping_that_another_commit_set(catalog, empty, tmp_path):
    path = write(tmp_path / "a.parquet", rows([1]))
    handles = [catalog.load_table("db.t") for _ in range(2)]
    transaction = handles[1].transaction()
    transaction.add_files([path])
    with handles[0].transaction() as other:
        other.set_properties({MAPPING: '[{"field-id": 1, "names": ["key"]}]'})
        other.append(rows([2]))
    with pytest.raises(ValidationException, match="name-mapping"):
        transaction.commit_transaction()


def test_add_files_refuses_a_concurrent_schema_change_beside_a_new_name_mapping(catalog, empty, tmp_path):
    path = write(tmp_path / "a.parquet", rows([1]))
    handles = [catalog.load_table("db.t") for _ in range(2)]
    transaction = handles[1].transaction()
    transaction.add_files([path])
    handles[0].update_schema().rename_column("name", "title").commit()
    with pytest.raises(CommitFailedException, match="schema"):
        transaction.commit_transaction()


def test_add_files_finds_columns_under_new_names_after_a_schema_change(empty, tmp_path):
    empty.add_files([write(tmp_path / "a.parquet", rows([1]))])
    with empty.update_schema() as update:
        update.rename_column("name", "title")
        update.add_column("note", StringType())
    data = rows([2], note=["n"]).rename_columns(["id", "at", "title", "value", "note"])
    empty.add_files([write(tmp_path / "b.parquet", data)])
    found = empty.scan().to_arrow().select(["id", "title", "note"]).sort_by("id").to_pylist()
    assert found == [{"id": 1, "title": "name 1", "note": None}, {"id": 2, "title": "name 2", "note": "n"}]


def test_sorted_columns_of_added_files_have_bounds(catalog, tmp_path):
    order = SortOrder(SortField(3, IdentityTransform()), SortField(1, BucketTransform(4)))
    properties = {"write.metadata.metrics.default": "counts"}
    table = catalog.create_table("db.t", SCHEMA, sort_order=order, properties=properties)
    table.add_files([write(tmp_path / "a.parquet", rows([1, 2]))])
    [file] = table.inspect.files().to_pylist()
    assert dict(file["lower_bounds"]) == {3: b"name 1"}
    assert file["sort_order_id"] == 0
