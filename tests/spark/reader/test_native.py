"""The reasons against Spark's own reader, and the keys of files."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.schema import Schema
from icefloe.spark.reader.native import NativeScan, obstacle
from icefloe.spark.reader.row_location import file_keys
from icefloe.types import ListType, LongType, NestedField, StringType, StructType

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


def test_obstacle_of_plain_parquet_is_none():
    assert obstacle(scan()) is None
    assert obstacle(scan(schemas=(NOW, NARROWER))) is None


@pytest.mark.parametrize("earlier", [RENAMED, ADDED_AGAIN])
def test_obstacle_of_reused_names_is_missing_field_ids(earlier):
    assert "renamed" in obstacle(scan(schemas=(earlier, NOW)))
    assert obstacle(scan(schemas=(earlier, NOW), field_ids=True)) is None


@pytest.mark.parametrize("field_ids", [False, True])
def test_obstacle_of_removed_schemas(field_ids):
    later = Schema(*NOW.fields, schema_id=2)
    assert "schemas were removed" in obstacle(scan(schemas=(NOW, later), schema=later, field_ids=field_ids))


@pytest.mark.parametrize("kind", ["string", ListType(4, LongType())])
def test_obstacle_of_a_name_that_columns_of_different_types_had(kind):
    earlier = Schema(NestedField(1, "id", LongType()), NestedField(3, "ID2", kind))
    now = Schema(NestedField(1, "id", LongType()), NestedField(2, "id2", LongType()))
    assert "another column was called id2" in obstacle(scan(schemas=(earlier, now), schema=now, field_ids=True))
    assert obstacle(scan(schemas=(earlier, now), schema=now.select("id"), field_ids=True)) is None


def test_obstacle_of_a_renamed_struct():
    earlier, now = (Schema(NestedField(1, name, StructType(NestedField(2, "x", "long")))) for name in "ab")
    assert "Spark finds b by its name" in obstacle(scan(schemas=(earlier, now), schema=now, field_ids=True))
    assert obstacle(scan(schemas=(now, now), schema=now, field_ids=True)) is None


def test_obstacle_of_unusual_names_is_missing_field_ids():
    odd = Schema(NestedField(1, "a b", LongType()))
    assert obstacle(scan(schemas=(odd,), schema=odd)) is not None


def test_obstacle_distinguishes_dots_in_names_from_struct_fields():
    dotted = Schema(NestedField(1, "a.b", LongType()))
    assert "names that Parquet changes" in obstacle(scan(schemas=(dotted,)))
    assert "dot" in obstacle(scan(schemas=(dotted,), schema=dotted, field_ids=True))


def test_obstacle_of_a_repeated_file():
    assert "has a file twice" in obstacle(scan(file_path=["/t/a.parquet"] * 2))


def test_obstacle_of_other_formats_name_mappings_and_hidden_files():
    assert "AVRO" in obstacle(scan(file_format=["PARQUET", "AVRO"]))
    assert "name mapping" in obstacle(scan(name_mapped=True))
    assert "starts with '.' or '_'" in obstacle(scan(file_path=["/t/a.parquet", "/t/_b.parquet"]))


def test_obstacle_of_equality_deletes():
    deletes = pa.RecordBatch.from_pydict({"content": pa.array([2], pa.int32()), "file_path": ["/t/d.parquet"]})
    lists = pa.array([[{"first": 0, "count": 1}], []], RUNS)
    assert "equality" in obstacle(_with(lists, deletes))


def _with(lists, deletes):
    made = scan(deletes=deletes)
    index = made.files.schema.get_field_index("deletes")
    changed = made.files.set_column(index, "deletes", lists)
    return NativeScan(**{**vars(made), "files": changed})


def test_file_keys_of_equal_sizes_differ():
    keys = file_keys(files(file_size_in_bytes=[10, 10])).to_pylist()
    assert keys[0] == 10
    assert keys[1] != keys[0]
    assert keys[1] % (1 << 31) == 10


def test_file_keys_of_large_and_small_files_differ():
    keys = file_keys(files(file_size_in_bytes=[10, 10 + (5 << 31)])).to_pylist()
    assert len(set(keys)) == 2
    assert max(keys) < 1 << 33


def test_obstacle_of_a_wrong_file_size_names_the_file():
    class Storage:
        def sizes(self, locations):
            return pa.array([10 if location == "/t/a.parquet" else 21 for location in locations])

    made = scan(file_size_in_bytes=[10, 20])
    assert "/t/b.parquet" in obstacle(NativeScan(**{**vars(made), "io": Storage()}), located=True)


def test_obstacle_of_a_column_called_metadata():
    odd = Schema(NestedField(1, "_metadata", LongType()))
    assert obstacle(scan(schemas=(odd,), schema=odd, field_ids=True)) is not None
