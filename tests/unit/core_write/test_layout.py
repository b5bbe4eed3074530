"""The distribution of rows over files, their order, and the locations of files."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from icefloe import _core

from tests.unit.core_write.write_cases import (
    SOURCE,
    field,
    leaves,
    order_of,
    read,
    schema_of,
    source_table,
    spec_of,
    write,
)


@pytest.mark.parametrize(
    ("transform", "source_id", "source"),
    [
        ("identity", 2, "name"),
        ("identity", 5, "ratio"),
        ("bucket[4]", 1, "id"),
        ("bucket[3]", 2, "name"),
        ("truncate[100]", 1, "id"),
        ("truncate[1]", 2, "name"),
        ("truncate[3]", 4, "amount"),
        ("year", 3, "at"),
        ("month", 3, "at"),
        ("day", 3, "at"),
        ("hour", 3, "at"),
        ("void", 2, "name"),
        ("identity", 7, "inner.code"),
    ],
)
def test_each_transform_puts_each_row_in_its_partition(tmp_path, transform, source_id, source):
    table = source_table()
    types = {1: "long", 2: "string", 3: "timestamptz", 4: "decimal(9, 2)", 5: "double", 7: "int"}
    files = write(tmp_path, table, SOURCE, spec=spec_of(("p", transform, source_id)))
    total = 0
    for written in files:
        part = pq.ParquetFile(written["file_path"]).read()
        column = pc.struct_field(part["inner"], "code") if source == "inner.code" else part[source]
        keys = _core.transform(column.combine_chunks(), transform, types[source_id])
        assert len(keys.unique()) == 1
        assert written["spec_id"] == 1
        expected = json.loads(written["partition"])[0]
        assert (expected is None) == (keys[0].as_py() is None)
        assert written["file_path"].startswith(f"{tmp_path}/data/" + ("p=" if transform != "void" else ""))
        total += written["record_count"]
    assert total == table.num_rows
    assert len({written["partition"] for written in files}) == len(files)
    assert (
        read(files).sort_by("id").equals(pq.ParquetFile(write(tmp_path / "flat", table, SOURCE)[0]["file_path"]).read())
    )


def test_partition_directories_are_form_encoded(tmp_path):
    table = pa.table({"id": [1, 2, 3], "name": ["a b/c", None, "x=y"]})
    schema = schema_of(field(1, "id", "long"), field(2, "name", "string"))
    files = write(tmp_path, table, schema, spec=spec_of(("the name", "identity", 2)))
    directories = {json.loads(one["partition"])[0]: Path(one["file_path"]).parent.name for one in files}
    assert directories == {"a b/c": "the+name=a+b%2Fc", None: "the+name=null", "x=y": "the+name=x%3Dy"}


def test_object_storage_layout_without_partition_paths(tmp_path):
    table = pa.table({"id": [1]})
    properties = {
        "write__object_storage__enabled": "true",
        "write__object_storage__partitioned_paths": "false",
    }
    spec = spec_of(("id", "identity", 1))
    (written,) = write(tmp_path, table, schema_of(field(1, "id", "long")), spec=spec, **properties)
    relative = Path(written["file_path"]).relative_to(tmp_path / "data")
    *directories, name = relative.parts
    assert [len(one) for one in directories] == [4, 4, 4]
    assert name[8:] == "-00003-11-op-00001.parquet"
    assert set("".join(directories) + name[:8]) <= {"0", "1"}


def test_data_path_property_moves_files(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    table = pa.table({"id": [1]})
    schema = schema_of(field(1, "id", "long"))
    (written,) = write(tmp_path / "table", table, schema, write__data__path=str(elsewhere))
    assert Path(written["file_path"]).parent == elsewhere


def test_files_roll_at_the_target_size_on_disk(tmp_path):
    generator = range(400_000)
    table = pa.table({"x": pa.array([(n * 2654435761) % 2**32 for n in generator], pa.int64())})
    schema = schema_of(field(1, "x", "long"))
    files = write(tmp_path, table, schema, write__target_file_size_bytes="300000")
    assert len(files) > 3
    assert sum(one["record_count"] for one in files) == 400_000
    assert all(one["file_size_in_bytes"] < 400_000 for one in files)
    assert all(one["file_size_in_bytes"] > 200_000 for one in files[:-1])
    assert read(files)["x"].equals(table["x"])


def test_tight_memory_limit_loses_no_row(tmp_path):
    table = source_table(60_000)
    spec = spec_of(("b", "bucket[40]", 1), ("n", "identity", 2))
    files = write(tmp_path, table, SOURCE, spec=spec, write__icefloe__memory_bytes="1000000")
    assert read(files)["id"].combine_chunks().sort().equals(table["id"].combine_chunks())


def test_more_partitions_than_files_may_be_open(tmp_path):
    table = pa.table({"id": pa.array([n % 1500 for n in range(30_000)], pa.int64())})
    spec = spec_of(("id", "identity", 1))
    files = write(tmp_path, table, schema_of(field(1, "id", "long")), spec=spec)
    assert len(files) == 1500
    assert {one["record_count"] for one in files} == {20}


def test_rows_are_sorted_within_files_by_the_order(tmp_path):
    table = source_table(5000).take(pa.array([(n * 1237) % 5000 for n in range(5000)]))
    order = order_of((2, "truncate[1]", "desc", "nulls-last"), (1, "identity", "asc", "nulls-first"))
    files = write(tmp_path, table, SOURCE, spec=spec_of(("b", "bucket[3]", 1)), order=order)
    assert len(files) == 3
    for written in files:
        assert written["sort_order_id"] == 7
        rows = pq.ParquetFile(written["file_path"]).read(columns=["id", "name"]).to_pylist()
        keys = [(row["name"] is None, -ord(row["name"][0]) if row["name"] else 0, row["id"]) for row in rows]
        assert keys == sorted(keys)


def test_sorting_beyond_memory_makes_several_sorted_files(tmp_path):
    table = pa.table({"x": pa.array([(n * 7919) % 200_000 for n in range(200_000)], pa.int64())})
    order = order_of((1, "identity", "asc", "nulls-first"))
    schema = schema_of(field(1, "x", "long"))
    batches = table.to_reader(max_chunksize=10_000)
    files = write(tmp_path, batches, schema, order=order, write__icefloe__memory_bytes="500000")
    assert len(files) > 1
    for written in files:
        column = pq.ParquetFile(written["file_path"]).read()["x"].combine_chunks()
        assert column.equals(column.sort())
    assert sum(one["record_count"] for one in files) == 200_000


def test_presorted_rows_keep_their_order_and_record_it(tmp_path):
    table = pa.table({"p": [1, 1, 2, 2, 3], "x": [1, 2, 0, 5, 4]})
    schema = schema_of(field(1, "p", "long"), field(2, "x", "long"))
    order = order_of((2, "identity", "asc", "nulls-first"))
    files = write(tmp_path, table, schema, spec=spec_of(("p", "identity", 1)), order=order, presorted=True)
    assert [json.loads(one["partition"]) for one in files] == [[1], [2], [3]]
    assert [one["sort_order_id"] for one in files] == [7, 7, 7]
    assert read(files).equals(table)


def test_no_rows_make_no_file(tmp_path):
    schema = schema_of(field(1, "id", "long"))
    assert write(tmp_path, pa.table({"id": pa.array([], pa.int64())}), schema) == []
    assert leaves(tmp_path) == []
