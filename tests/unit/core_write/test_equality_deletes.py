"""Equality delete files, as the core writes and describes them."""

import json
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe import _core
from icefloe.exceptions import SchemaMismatchError, ValidationError

from tests.unit.core_write.write_cases import (
    EVERY_TYPE,
    IO,
    SOURCE,
    UNPARTITIONED,
    every_type_table,
    field_ids,
    leaves,
    read,
    source_table,
    spec_of,
)

ALLOWED = ["flag", "small", "big", "dec9", "dec18", "dec38", "day", "clock", "local", "instant", "text", "uid", "four"]


def write_keys(location, data, ids, *, schema=SOURCE, spec=UNPARTITIONED, **properties):
    batch = _core.write_equality_deletes(
        IO,
        data,
        equality_ids=ids,
        schema=json.dumps(schema),
        spec=json.dumps(spec),
        sort_order=None,
        table_location=str(location),
        properties={name.replace("__", ".").replace("_", "-"): value for name, value in properties.items()},
        operation_id="op",
        partition_id=0,
        task_id=1,
    )
    return batch.to_pylist()


def test_equality_deletes_hold_the_key_columns_alone(tmp_path):
    rows = source_table(100)
    (written,) = write_keys(tmp_path, rows, [2, 1])
    assert (written["content"], written["equality_ids"], written["sort_order_id"]) == (2, [2, 1], 0)
    assert (written["record_count"], written["partition"], written["referenced_data_file"]) == (100, "[]", None)
    assert written["file_path"].endswith("-deletes.parquet")
    parquet = pq.ParquetFile(written["file_path"])
    assert parquet.read().to_pydict() == rows.select(["id", "name"]).to_pydict()
    assert field_ids(parquet) == {"id": 1, "name": 2}
    metadata = parquet.metadata.metadata
    assert (metadata[b"delete-type"], metadata[b"delete-field-ids"]) == (b"equality", b"2, 1")
    stored = json.loads(metadata[b"iceberg.schema"])
    assert [(one["id"], one["required"]) for one in stored["fields"]] == [(1, True), (2, False)]
    assert dict(written["lower_bounds"])[1] == struct.pack("<q", 0)
    assert dict(written["upper_bounds"])[1] == struct.pack("<q", 99)
    assert dict(written["null_value_counts"]) == {1: 0, 2: 10}


def test_nested_keys_keep_the_structs_around_them(tmp_path):
    schema = {
        **SOURCE,
        "fields": [
            {
                "id": 1,
                "name": "outer",
                "required": False,
                "type": {
                    "type": "struct",
                    "fields": [
                        {"id": 2, "name": "key", "required": False, "type": "string"},
                        {"id": 3, "name": "other", "required": False, "type": "long"},
                    ],
                },
            }
        ],
    }
    rows = pa.table({"outer": [{"key": "a", "other": 1}, None, {"key": None, "other": 2}]})
    spec = spec_of(("other", "identity", 3))
    files = write_keys(tmp_path, rows, [2], schema=schema, spec=spec)
    found = {one["partition"]: read([one]).to_pylist() for one in files}
    assert found == {
        "[1]": [{"outer": {"key": "a"}}],
        "[null]": [{"outer": None}],
        "[2]": [{"outer": {"key": None}}],
    }
    assert all(field_ids(pq.ParquetFile(one["file_path"])) == {"outer": 1, "outer.key": 2} for one in files)


@pytest.mark.parametrize("name", ALLOWED)
def test_a_column_of_each_exact_type_is_a_key(tmp_path, name):
    (column,) = [one for one in EVERY_TYPE["fields"] if one["name"] == name]
    rows = every_type_table()
    (written,) = write_keys(tmp_path, rows, [column["id"]], schema=EVERY_TYPE)
    assert read([written]).column(name).cast(rows.column(name).type).equals(rows.column(name))


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        ([], "expected at least one field id, got none"),
        ([99], "expected ids of the table's columns, got 99"),
        ([3, 3], r"expected each id once, got 3 \(big\) twice"),
        ([4], "got single, a floating-point column"),
        ([5], "got double, a floating-point column"),
        ([23], "got point.x, a floating-point column"),
        ([17], "expected primitive columns outside of lists and maps, got list"),
        ([18], "expected primitive columns outside of lists and maps, got list.element"),
        ([20], "expected primitive columns outside of lists and maps, got map.key"),
        ([22], "expected primitive columns outside of lists and maps, got point"),
    ],
)
def test_ids_that_are_no_key_are_refused(tmp_path, ids, reason):
    with pytest.raises(ValidationError, match=reason):
        write_keys(tmp_path, every_type_table(), ids, schema=EVERY_TYPE)
    assert leaves(tmp_path) == []


def test_missing_key_and_partition_columns_are_refused(tmp_path):
    rows = source_table(3)
    with pytest.raises(SchemaMismatchError, match=r"name: .*all columns of the key"):
        write_keys(tmp_path, rows.select(["id"]), [1, 2])
    with pytest.raises(SchemaMismatchError, match=r"inner\.code: .*all columns of the key"):
        write_keys(tmp_path, rows.select(["id"]), [7])
    with pytest.raises(SchemaMismatchError, match=r"at: .*source column of partition field day"):
        write_keys(tmp_path, rows.select(["id"]), [1], spec=spec_of(("day", "day", 3)))
    with pytest.raises(SchemaMismatchError, match=r"nothing: .*a column that the table does not have"):
        write_keys(tmp_path, rows.append_column("nothing", pa.array([1, 2, 3])), [1])
    assert leaves(tmp_path) == []


def test_nulls_in_a_required_key_are_refused(tmp_path):
    with pytest.raises(SchemaMismatchError, match="id: "):
        write_keys(tmp_path, pa.table({"id": pa.array([1, None], pa.int64())}), [1])
    assert leaves(tmp_path) == []


def test_equality_deletes_roll_at_their_own_target_size(tmp_path):
    rows = pa.table({"id": pa.array(range(40_000), pa.int64())})
    sizes = {"write__delete__target_file_size_bytes": "20000", "write__target_file_size_bytes": "1000000000"}
    files = write_keys(tmp_path, rows, [1], **sizes)
    assert len(files) > 2
    assert read(files).column("id").to_pylist() == list(range(40_000))


@pytest.mark.recent_pyarrow
def test_equality_deletes_have_no_bloom_filters(tmp_path):
    (written,) = write_keys(
        tmp_path,
        source_table(10),
        [1],
        write__parquet__bloom_filter_enabled__column__id="true",
    )
    assert pq.ParquetFile(written["file_path"]).metadata.row_group(0).column(0).bloom_filter_offset is None


def test_metrics_modes_apply_to_key_columns(tmp_path):
    mode = {"write__metadata__metrics__default": "counts", "write__metadata__metrics__column__id": "full"}
    (written,) = write_keys(tmp_path, source_table(10), [1, 2], **mode)
    assert dict(written["lower_bounds"]).keys() == {1}
    assert dict(written["value_counts"]) == {1: 10, 2: 10}


def test_no_keys_make_no_file(tmp_path):
    assert write_keys(tmp_path, source_table(0), [1]) == []
    assert leaves(tmp_path) == []
