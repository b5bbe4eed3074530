"""Partitions of existing files: from the bounds of their columns, or from the names of their directories."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.exceptions import SchemaMismatchError, ValidationError
from icefloe.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    TruncateTransform,
    VoidTransform,
    YearTransform,
)
from icefloe.types import LongType

from tests.unit.table.write.existing_files import ids, micros, partitioned, partitions, rows, write

TRANSFORMS = [
    (1, IdentityTransform(), [7, 7], 7),
    (1, BucketTransform(4), [7, 7], None),
    (1, TruncateTransform(10), [11, 19], 10),
    (1, VoidTransform(), [1, 100], "void"),
]


@pytest.mark.parametrize(("source", "transform", "values", "expected"), TRANSFORMS, ids=lambda value: str(value)[:20])
def test_add_files_derives_partitions_of_longs(catalog, tmp_path, source, transform, values, expected):
    table = partitioned(catalog, (source, transform))
    table.add_files([write(tmp_path / "a.parquet", rows(values))])
    expected = {None: transform.transform(LongType())(7), "void": None}.get(expected, expected)
    assert partitions(table) == [(expected,)]
    assert ids(table) == values
    assert ids(table, f"id = {values[0]}") == [value for value in values if value == values[0]]


def test_add_files_derives_partitions_of_times_and_texts(catalog, tmp_path):
    table = partitioned(
        catalog,
        (2, YearTransform()),
        (3, TruncateTransform(4)),
    )
    table.add_files(
        [write(tmp_path / "a.parquet", rows([1, 2], at=micros("2020-01-01", "2020-12-31T23:59:59.999999")))]
    )
    assert partitions(table) == [(50, "name")]
    assert ids(table, "at >= '2020-12-01T00:00:00'") == [2]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_add_files_derives_partitions_of_other_units(catalog, tmp_path, unit):
    table = partitioned(catalog, (2, HourTransform()))
    data = rows([1], at=micros("2020-05-06T07:08:09").cast(pa.timestamp(unit)))
    table.add_files([write(tmp_path / "a.parquet", data)])
    assert partitions(table) == [(441_319,)]


def test_add_files_of_null_columns_are_in_the_null_partition(catalog, tmp_path):
    table = partitioned(catalog, (3, IdentityTransform()))
    nulls = write(tmp_path / "nulls.parquet", rows([1, 2], name=pa.array([None, None], pa.string())))
    absent = write(tmp_path / "absent.parquet", rows([3]).drop_columns(["name"]))
    table.add_files([nulls, absent])
    assert partitions(table) == [(None,), (None,)]
    assert ids(table, "name is null") == [1, 2, 3]


@pytest.mark.parametrize(
    ("transform", "values", "message"),
    [
        (IdentityTransform(), [1, 2], "range from 1 to 2"),
        (BucketTransform(4), [1, 2], "range from 1 to 2"),
        (TruncateTransform(10), [9, 10], "range from 9 to 10"),
    ],
)
def test_add_files_refuses_rows_of_several_partitions(catalog, tmp_path, transform, values, message):
    table = partitioned(catalog, (1, transform))
    path = write(tmp_path / "a.parquet", rows(values))
    with pytest.raises(ValidationError, match=message) as caught:
        table.add_files([path])
    assert path in str(caught.value)
    assert "p0" in str(caught.value)


def test_add_files_refuses_nulls_beside_values_in_a_partition_column(catalog, tmp_path):
    table = partitioned(catalog, (3, IdentityTransform()))
    with pytest.raises(ValidationError, match="1 of 2 values are null"):
        table.add_files([write(tmp_path / "a.parquet", rows([1, 2], name=["a", None]))])


def test_add_files_refuses_float_partitions_without_a_directory(catalog, tmp_path):
    table = partitioned(catalog, (4, IdentityTransform()))
    data = rows([1, 2], value=[1.5, float("nan")])
    with pytest.raises(ValidationError, match="NaN"):
        table.add_files([write(tmp_path / "a.parquet", data)])
    table.add_files([write(tmp_path / "p0=1.5" / "a.parquet", rows([1], value=[1.5]))])
    assert partitions(table) == [(1.5,)]


def test_add_files_of_null_type_are_in_the_null_partition(catalog, tmp_path):
    table = partitioned(catalog, (3, IdentityTransform()), (1, BucketTransform(4)))
    table.add_files([write(tmp_path / "a.parquet", rows([7], name=pa.nulls(1)), write_statistics=["id"])])
    assert partitions(table) == [(None, BucketTransform(4).transform(LongType())(7))]
    assert ids(table, "name is null") == [7]


@pytest.mark.parametrize("statistics", [True, False])
def test_add_files_without_rows_are_in_the_partition_of_their_location(catalog, tmp_path, statistics):
    table = partitioned(catalog, (3, IdentityTransform()), (4, IdentityTransform()))
    nothing = rows([1]).slice(0, 0)
    first = write(tmp_path / "name=a" / "f.parquet", nothing, write_statistics=statistics)
    second = write(tmp_path / "f.parquet", nothing, write_statistics=statistics)
    table.add_files([first, second])
    files = table.inspect.files()
    assert [tuple(one.values()) for one in files["partition"].to_pylist()] == [("a", None), (None, None)]
    assert files["record_count"].to_pylist() == [0, 0]
    assert table.scan().to_arrow().num_rows == 0


def test_add_files_reads_hive_directories_of_absent_columns(catalog, tmp_path):
    table = partitioned(catalog, (3, IdentityTransform()), (2, MonthTransform()), (2, DayTransform()))
    root = tmp_path / "lake"
    plain = rows([1]).drop_columns(["name", "at"])
    first = write(root / "name=a%2Fb c" / "p1=2020-05" / "p2=2020-05-06" / "f.parquet", plain)
    second = write(root / "name=__HIVE_DEFAULT_PARTITION__" / "p1=2020-05" / "p2=2020-05-07" / "f.parquet", plain)
    table.add_files([first, second])
    assert partitions(table) == [("a/b c", 604, 18388), (None, 604, 18389)]
    assert table.scan("name = 'a/b c'").to_arrow().select(["id", "name"]).to_pylist() == [{"id": 1, "name": "a/b c"}]


def test_add_files_reads_numbers_of_directories_with_leading_zeros(catalog, tmp_path):
    table = partitioned(catalog, (1, IdentityTransform()))
    path = write(tmp_path / "id=007" / "f.parquet", rows([1]).drop_columns(["id"]))
    table.add_files([path])
    assert partitions(table) == [(7,)]
    assert table.scan("id = 7").to_arrow()["id"].to_pylist() == [7]


def test_add_files_reads_directories_of_another_case(catalog, tmp_path):
    table = partitioned(catalog, (3, IdentityTransform()))
    plain = rows([1]).drop_columns(["name"])
    first = write(tmp_path / "NAME=a" / "f.parquet", plain)
    second = write(tmp_path / "name=b" / "Name=c" / "f.parquet", plain)
    table.add_files([first, second])
    assert partitions(table) == [("a",), ("b",)]


@pytest.mark.parametrize("fields", [[], [(3, TruncateTransform(1))], [(3, VoidTransform())]], ids=str)
@pytest.mark.parametrize("directory", ["name=a", "Name=a", "name="])
def test_add_files_refuses_values_of_directories_that_a_scan_does_not_read(catalog, tmp_path, fields, directory):
    table = partitioned(catalog, *fields)
    path = write(tmp_path / directory / "f.parquet", rows([1]).drop_columns(["name"]))
    with pytest.raises(SchemaMismatchError, match=f"column name: .*its value in directory {directory} alone") as caught:
        table.add_files([path])
    assert path in str(caught.value)
    assert table.refresh().snapshots() == []


def test_add_files_accepts_directories_of_nulls_and_of_columns_in_the_file(catalog, tmp_path):
    table = partitioned(catalog)
    absent = write(tmp_path / "name=__HIVE_DEFAULT_PARTITION__" / "f.parquet", rows([1]).drop_columns(["name"]))
    present = write(tmp_path / "name=a" / "f.parquet", rows([2], name=["b"]))
    table.add_files([absent, present])
    assert table.scan().to_arrow().sort_by("id")["name"].to_pylist() == [None, "b"]


def test_add_files_refuses_directories_of_another_type(catalog, tmp_path):
    table = partitioned(catalog, (1, BucketTransform(4)), (2, YearTransform()))
    path = write(tmp_path / "p1=soon" / "f.parquet", rows([1]).drop_columns(["at"]))
    with pytest.raises(ValidationError, match="p1=soon"):
        table.add_files([path])
