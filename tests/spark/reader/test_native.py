"""What Spark's own reader must not be given."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.schema import Schema
from icefloe.spark.reader.native import NativeScan, file_keys, obstacle
from icefloe.types import LongType, NestedField, StringType

RUNS = pa.list_(pa.struct([("first", pa.int32()), ("count", pa.int32())]))
NOW = Schema(NestedField(1, "id", LongType()), NestedField(2, "name", StringType()))
RENAMED = Schema(NestedField(1, "id", LongType()), NestedField(2, "title", StringType()))
ADDED_AGAIN = Schema(NestedField(1, "id", LongType()), NestedField(3, "name", StringType()))
NARROWER = Schema(NestedField(1, "id", LongType()))


def files(**columns):
    made = {
        "file_path": ["/t/a.parquet", "/t/b.parquet"],
        "file_format": ["PARQUET"] * 2,
        "file_size_in_bytes": [10, 20],
    }
    made |= {"deletes": pa.array([[], []], RUNS)} | columns
    return pa.RecordBatch.from_pydict(made)


def scan(schemas=(NOW,), schema=NOW, field_ids=False, name_mapped=False, deletes=None, **columns):
    none = pa.RecordBatch.from_pydict({"content": pa.array([], pa.int32()), "file_path": pa.array([], pa.string())})
    return NativeScan(
        files=files(**columns),
        deletes=none if deletes is None else deletes,
        schema=schema,
        schemas=schemas,
        name_mapped=name_mapped,
        field_ids=field_ids,
        io=None,
    )


def test_plain_parquet_meets_no_obstacle():
    assert obstacle(scan()) is None
    assert obstacle(scan(schemas=(NOW, NARROWER))) is None


@pytest.mark.parametrize("earlier", [RENAMED, ADDED_AGAIN])
def test_names_that_meant_other_columns_need_field_ids(earlier):
    assert "renamed" in obstacle(scan(schemas=(earlier, NOW)))
    assert obstacle(scan(schemas=(earlier, NOW), field_ids=True)) is None


def test_names_that_parquet_does_not_keep_need_field_ids():
    odd = Schema(NestedField(1, "a b", LongType()))
    assert obstacle(scan(schemas=(odd,), schema=odd)) is not None


def test_a_dot_in_a_name_is_none_between_names():
    dotted = Schema(NestedField(1, "a.b", LongType()))
    assert "names that Parquet does not keep" in obstacle(scan(schemas=(dotted,)))
    assert "dot" in obstacle(scan(schemas=(dotted,), schema=dotted, field_ids=True))


def test_a_file_that_is_listed_twice_is_not_for_spark():
    assert "listed twice" in obstacle(scan(file_path=["/t/a.parquet"] * 2))


def test_other_formats_mapped_names_and_hidden_files_are_not_for_spark():
    assert "AVRO" in obstacle(scan(file_format=["PARQUET", "AVRO"]))
    assert "name mapping" in obstacle(scan(name_mapped=True))
    assert "hidden" in obstacle(scan(file_path=["/t/a.parquet", "/t/_b.parquet"]))


def test_equality_deletes_are_not_for_spark():
    deletes = pa.RecordBatch.from_pydict({"content": pa.array([2], pa.int32()), "file_path": ["/t/d.parquet"]})
    lists = pa.array([[{"first": 0, "count": 1}], []], RUNS)
    assert "equality" in obstacle(_with(lists, deletes))


def _with(lists, deletes):
    made = scan(deletes=deletes)
    index = made.files.schema.get_field_index("deletes")
    changed = made.files.set_column(index, "deletes", lists)
    return NativeScan(**{**vars(made), "files": changed})


def test_keys_of_files_of_equal_size_differ():
    keys = file_keys(files(file_size_in_bytes=[10, 10])).to_pylist()
    assert keys[0] == 10
    assert keys[1] != keys[0]
    assert keys[1] % (1 << 31) == 10


def test_keys_of_large_files_differ_from_those_of_small_ones():
    keys = file_keys(files(file_size_in_bytes=[10, 10 + (5 << 31)])).to_pylist()
    assert len(set(keys)) == 2
    assert max(keys) < 1 << 33


def test_sizes_other_than_those_of_the_manifest_are_named():
    class Storage:
        def sizes(self, locations):
            return pa.array([10 if location == "/t/a.parquet" else 21 for location in locations])

    made = scan(file_size_in_bytes=[10, 20])
    assert "/t/b.parquet" in obstacle(NativeScan(**{**vars(made), "io": Storage()}), located=True)


def test_a_column_called_like_sparks_own_is_not_for_spark():
    odd = Schema(NestedField(1, "_metadata", LongType()))
    assert obstacle(scan(schemas=(odd,), schema=odd, field_ids=True)) is not None
