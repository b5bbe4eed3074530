"""Rows of a scan: residual filters and deletes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import (
    CorruptFileError,
    ValidationError,
)

from tests.unit.core_scan.avro_tables import avro_field, optional, write_avro
from tests.unit.core_write.write_cases import write as core_write
from tests.unit.scan_tables import (
    ID,
    NAME,
    POS,
    arrow_field,
    delete_file,
    field,
    leaf,
    position_deletes,
    read,
    schema,
    stream,
    task,
    write,
)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (leaf("lt", "id", 3), [0, 1, 2]),
        (leaf("eq", "name", "n500"), [500]),
        ({"type": "in", "term": "id", "values": [5, 950, 5000]}, [5, 950]),
        ({"type": "and", "left": leaf("gt", "id", 990), "right": {"type": "is-null", "term": "name"}}, [994]),
        ({"type": "not", "child": leaf("lt", "id", 998)}, [998, 999]),
        (leaf("starts-with", "name", "n99"), [99, 990, 991, 992, 993, 995, 996, 997, 998, 999]),
        (leaf("gt", "id", 5000), []),
    ],
    ids=lambda value: None if isinstance(value, list) else value["type"],
)
def test_residual_filters_rows(numbers, predicate, expected):
    table = read([task(numbers, residual=json.dumps(predicate))], schema(ID, NAME), projection=schema(ID))
    assert table["id"].to_pylist() == expected


def test_filter_on_a_struct_field_sees_null_parents_as_null(nested):
    current = schema(field(1, "s", {"type": "struct", "fields": [field(11, "x", "long"), field(12, "y", "string")]}))
    tasks = [task(nested, residual=json.dumps({"type": "is-null", "term": "s.x"}))]
    assert read(tasks, current).to_pylist() == [{"s": None}, {"s": {"x": None, "y": "c"}}]


def test_negations_drop_rows_whose_value_is_null(numbers):
    """The name of row 994 is null."""
    equal = leaf("eq", "name", "n995")
    among = {"type": "in", "term": "name", "values": ["n995", "n996"]}
    for child, expected in [
        (equal, [992, 993]),
        (among, [992, 993]),
        (leaf("starts-with", "name", "n995"), [992, 993]),
    ]:
        negation = {"type": f"not-{child['type']}", **{key: value for key, value in child.items() if key != "type"}}
        for negated in ({"type": "not", "child": child}, negation):
            rows = {"type": "in", "term": "id", "values": [992, 993, 994, 995]}
            residual = json.dumps({"type": "and", "left": negated, "right": rows})
            assert read([task(numbers, residual=residual)], schema(ID, NAME))["id"].to_pylist() == expected, negated


def test_pruning_reads_no_page_of_a_row_group_that_cannot_match(tmp_path):
    columns = {arrow_field(1, "id", pa.int64()): list(range(200)), arrow_field(2, "name", pa.string()): ["x"] * 200}
    path = write(tmp_path / "a.parquet", columns, row_group_size=100, compression="snappy")
    first = pq.ParquetFile(path).metadata.row_group(0)
    start = min(first.column(i).dictionary_page_offset or first.column(i).data_page_offset for i in range(2))
    with Path(path).open("r+b") as damaged:
        damaged.seek(start)
        damaged.write(
            b"\xff" * first.total_compressed_size if hasattr(first, "total_compressed_size") else b"\xff" * 64
        )
    residual = json.dumps(leaf("gt-eq", "id", 100))
    assert read([task(path, residual=residual)], schema(ID))["id"].to_pylist() == list(range(100, 200))
    with pytest.raises(CorruptFileError):
        list(stream([task(path)], schema(ID)))


def test_deleted_positions_are_physical_rows_under_a_filter(numbers, tmp_path):
    deletes = [
        position_deletes(tmp_path / "d1.parquet", [("/another/file", 1), (numbers, 0), (numbers, 150), (numbers, 999)]),
        position_deletes(tmp_path / "d2.parquet", [(numbers, 151), (numbers, 150)]),
    ]
    residual = json.dumps(leaf("gt-eq", "id", 100))
    table = read([task(numbers, residual=residual, deletes=[0, 1])], schema(ID), deletes=deletes)
    assert table["id"].to_pylist() == [i for i in range(100, 999) if i not in (150, 151)]


@pytest.mark.parametrize("share", [0.01, 0.3, 0.95])
def test_any_density_of_deleted_positions_leaves_the_others(numbers, tmp_path, share):
    gone = sorted(random.Random(7).sample(range(1000), int(1000 * share)))
    deletes = [position_deletes(tmp_path / "d.parquet", [(numbers, position) for position in gone])]
    table = read([task(numbers, deletes=[0])], schema(ID), deletes=deletes, projection=schema(POS, ID))
    assert table["id"].to_pylist() == table["_pos"].to_pylist() == sorted(set(range(1000)) - set(gone))


def test_equality_deletes_use_keys_that_are_not_projected_and_null_equals_null(numbers, tmp_path):
    keys = write(tmp_path / "e.parquet", {arrow_field(2, "name", pa.string()): ["n1", None, "nothing"]})
    table = read(
        [task(numbers, deletes=[0])], schema(ID, NAME), deletes=[delete_file(keys, 2, 3, [2])], projection=schema(ID)
    )
    assert table["id"].to_pylist() == [i for i in range(1000) if i != 1 and i % 7 != 0]


def test_equality_deletes_of_different_fields_and_files_all_apply(numbers, tmp_path):
    first = write(tmp_path / "e1.parquet", {arrow_field(1, "id", pa.int32()): [2, 3]})
    second = write(tmp_path / "e2.parquet", {arrow_field(1, "id", pa.int64()): [4]})
    third = write(
        tmp_path / "e3.parquet",
        {arrow_field(2, "name", pa.string()): ["n5", "n6"], arrow_field(1, "id", pa.int64()): [5, 60]},
    )
    deletes = [
        delete_file(first, 2, 2, [1]),
        delete_file(second, 2, 1, [1]),
        delete_file(third, 2, 2, [2, 1]),
        position_deletes(tmp_path / "d.parquet", [(numbers, 8)]),
    ]
    residual = json.dumps(leaf("lt", "id", 10))
    table = read([task(numbers, deletes=[0, 1, 2, 3], residual=residual)], schema(ID, NAME), deletes=deletes)
    assert table["id"].to_pylist() == [0, 1, 6, 7, 9]


def test_equality_delete_of_a_dropped_column_still_applies(numbers, tmp_path):
    keys = write(tmp_path / "e.parquet", {arrow_field(2, "name", pa.string()): ["n1"]})
    current = schema(ID, schema_id=1)
    scan_context = json.dumps(
        {"schema": current, "schemas": [schema(ID, NAME), current], "partition-specs": [{"spec-id": 0, "fields": []}]}
    )
    table = read(
        [task(numbers, deletes=[0])], current, deletes=[delete_file(keys, 2, 1, [2])], scan_context=scan_context
    )
    assert table.num_rows == 999


@pytest.mark.parametrize("file_format", ["parquet", "avro", pytest.param("orc", marks=pytest.mark.recent_pyarrow)])
def test_equality_delete_of_a_column_of_no_schema_still_applies(numbers, tmp_path, file_format):
    keys = key_file(tmp_path, file_format)
    without = write(tmp_path / "o.parquet", {arrow_field(1, "id", pa.int64()): [5, 6]})
    current = schema(ID, schema_id=1)
    deletes = [{**delete_file(keys, 2, 2, [2]), "file_format": file_format.upper()}]
    tasks = [task(numbers, deletes=[0]), task(without, deletes=[0])]
    table = read(tasks, current, deletes=deletes)
    # One of the keys is null, as is every seventh name and all names of the file without the column.
    assert table["id"].to_pylist() == [n for n in range(1_000) if n != 1 and n % 7 != 0]


def key_file(directory, file_format):
    """Write the keys "n1" and null of field 2 as an equality delete file."""
    if file_format == "avro":
        kind = avro_field(2, "name", optional("string"))
        return write_avro(directory / "e.avro", [kind], [{"name": "n1"}, {"name": None}])
    if file_format == "parquet":
        return write(directory / "e.parquet", {arrow_field(2, "name", pa.string()): ["n1", None]})
    (written,) = core_write(
        directory, pa.table({"name": ["n1", None]}), {"type": "struct", "fields": [NAME]}, write__format__default="orc"
    )
    return written["file_path"]


def test_equality_delete_of_a_column_of_neither_schema_nor_file_is_refused(numbers, tmp_path):
    keys = write(tmp_path / "e.parquet", {arrow_field(3, "other", pa.string()): ["n1"]})
    with pytest.raises(pa.ArrowInvalid, match="equality_ids: expected ids of primitive columns, got 2"):
        read([task(numbers, deletes=[0])], schema(ID), deletes=[delete_file(keys, 2, 1, [2])])


def test_delete_that_the_deletes_do_not_have_is_refused(numbers):
    with pytest.raises(ValidationError, match="row 3"):
        stream([task(numbers, deletes=[3])], schema(ID))
