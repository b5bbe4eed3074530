"""Manifests whose statistics have an unknown shape: all rows are read, and other statistics still prune."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import CorruptFileError

COUNTS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts")
BOUNDS = ("lower_bounds", "upper_bounds")
MAPS = (*COUNTS, *BOUNDS)
NUMBERS = itertools.count()


def by_text(value: str) -> dict[str, Any]:
    """An Avro map, whose keys are text."""
    return {"type": "map", "values": value}


def swapped(value: str) -> dict[str, Any]:
    fields = [{"name": "value", "type": value}, {"name": "key", "type": "int"}, {"name": "note", "type": "string"}]
    return {"type": "array", "items": {"type": "record", "name": f"entry_{next(NUMBERS)}", "fields": fields}}


def nullable_keys(value: str) -> dict[str, Any]:
    fields = [{"name": "key", "type": ["null", "int"]}, {"name": "value", "type": value}]
    return {"type": "array", "items": {"type": "record", "name": f"entry_{next(NUMBERS)}", "fields": fields}}


def as_text_keys(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {str(entry["key"]): entry["value"] for entry in entries}


def with_notes(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**entry, "note": "n"} for entry in entries]


SHAPES = {
    "an Avro map": (by_text, as_text_keys),
    "records of three fields": (swapped, with_notes),
    "nullable keys": (nullable_keys, list),
    "an array of texts": (lambda _: {"type": "array", "items": "string"}, lambda entries: ["x"] * len(entries)),
    "text": (lambda _: "string", str),
    "a union of three": (lambda _: ["null", "string", "long"], lambda _: 5),
}


@pytest.fixture
def table():
    """Two data files of one row group each, in two manifests: ids 0 to 9 and 100 to 109."""
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        made = catalog.create_table("db.t", pa.schema([("id", pa.int64()), ("s", pa.string())]))
        for start in (0, 100):
            made.append(pa.table({"id": range(start, start + 10), "s": [f"s{i}" for i in range(10)]}))
        yield made


def manifest_paths(table) -> list[Path]:
    """The manifests of the current snapshot, oldest first."""
    with Path(table.current_snapshot().manifest_list).open("rb") as stored:
        rows = list(fastavro.reader(stored))
    return [Path(row["manifest_path"]) for row in sorted(rows, key=lambda row: row["sequence_number"])]


def reshape(path: Path, names: tuple[str, ...], shape: Any, convert: Any, *, optional: bool = True) -> None:
    """Rewrite an Avro file with fields of its data files in another shape."""
    with path.open("rb") as stored:
        reader = fastavro.reader(stored)
        rows, schema, metadata = list(reader), reader.writer_schema, reader.metadata
    [data_file] = [field["type"] for field in schema["fields"] if field["name"] == "data_file"]
    for field in data_file["fields"]:
        if field["name"] in names:
            made = shape("bytes" if field["name"] in BOUNDS else "long")
            field["type"] = ["null", made] if optional and not isinstance(made, list) else made
            for row in rows:
                value = row["data_file"][field["name"]]
                row["data_file"][field["name"]] = None if value is None else convert(value)
    kept = {key: value for key, value in metadata.items() if not key.startswith("avro.")}
    with path.open("wb") as out:
        fastavro.writer(out, schema, rows, codec="deflate", metadata=kept)


def ids(table, row_filter: str) -> list[int]:
    return sorted(table.scan(row_filter).to_arrow()["id"].to_pylist())


def files(table, row_filter: str) -> int:
    return len(list(table.scan(row_filter).plan_files()))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", MAPS)
def test_filtered_scan_reads_a_table_with_statistics_of_an_unknown_shape(table, name, shape):
    for path in manifest_paths(table):
        reshape(path, (name,), *SHAPES[shape])
    for row_filter, expected in {
        "id < 5": list(range(5)),
        "id >= 105": list(range(105, 110)),
        "id = 3 or s = 's4'": [3, 4, 104],
        "s is null": [],
    }.items():
        assert ids(table, row_filter) == expected
        assert table.scan(row_filter).count() == len(expected)
    values = table.inspect.files()[name].to_pylist()
    assert len(values) > 0
    assert all(value is None for value in values)


@pytest.mark.parametrize("shape", SHAPES)
def test_statistics_of_an_unknown_shape_leave_the_other_statistics_to_prune_by(table, shape):
    for path in manifest_paths(table):
        reshape(path, (*COUNTS, "lower_bounds"), *SHAPES[shape])
    assert files(table, "id > 50") == 1
    assert files(table, "id < 50") == 2


@pytest.mark.parametrize("shape", SHAPES)
def test_statistics_of_an_unknown_shape_leave_other_manifests_to_prune_by(table, shape):
    reshape(manifest_paths(table)[0], MAPS, *SHAPES[shape])
    assert files(table, "id > 50") == 2
    assert files(table, "id < 50") == 1
    assert ids(table, "id > 50") == list(range(100, 110))


@pytest.mark.parametrize(
    ("name", "shape", "value"),
    [
        ("key_metadata", "long", 5),
        ("split_offsets", {"type": "map", "values": "long"}, {"0": 4}),
        ("split_offsets", "string", "4"),
        ("sort_order_id", "string", "0"),
    ],
)
def test_scan_reads_a_table_whose_dispensable_fields_have_an_unknown_shape(table, name, shape, value):
    for path in manifest_paths(table):
        reshape(path, (name,), lambda _: shape, lambda _: value)
    assert ids(table, "id < 5") == list(range(5))
    assert table.scan().to_arrow().num_rows == 20
    assert set(table.inspect.files()[name].to_pylist()) == {None}


def test_commits_keep_files_whose_statistics_have_an_unknown_shape(table):
    for path in manifest_paths(table):
        reshape(path, MAPS, *SHAPES["an Avro map"])
    table.delete("id in (3, 104)")
    assert ids(table, "id >= 0") == [i for i in (*range(10), *range(100, 110)) if i not in (3, 104)]


@pytest.mark.parametrize(
    ("name", "shape", "convert"),
    [("record_count", "string", str), ("file_path", "bytes", len), ("file_size_in_bytes", "string", str)],
)
def test_scan_refuses_required_fields_of_an_unknown_shape(table, name, shape, convert):
    path = manifest_paths(table)[0]
    made = (lambda _: {"type": "array", "items": "long"}) if name == "file_path" else lambda _: shape
    reshape(path, (name,), made, (lambda value: [convert(value)]) if name == "file_path" else convert, optional=False)
    for row_filter in ("true", "id < 5"):
        with pytest.raises(CorruptFileError, match=f"{path.name}.*{name}"):
            table.scan(row_filter).to_arrow()


def test_partition_summaries_of_an_unknown_shape_rule_no_manifest_out():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
        with table.update_spec() as update:
            update.add_identity("id")
        for value in (1, 2):
            table.append(pa.table({"id": [value]}))
        path = Path(table.current_snapshot().manifest_list)
        with path.open("rb") as stored:
            reader = fastavro.reader(stored)
            rows, schema, metadata = list(reader), reader.writer_schema, reader.metadata
        for field in schema["fields"]:
            if field["name"] == "partitions":
                field["type"] = ["null", {"type": "map", "values": "bytes"}]
        kept = {key: value for key, value in metadata.items() if not key.startswith("avro.")}
        with path.open("wb") as out:
            fastavro.writer(out, schema, [{**row, "partitions": {"id": b"1"}} for row in rows], metadata=kept)
        assert ids(table, "id = 2") == [2]
        assert files(table, "id = 2") == 1
