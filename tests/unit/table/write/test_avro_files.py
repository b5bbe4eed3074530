"""Avro data files and delete files: schema, codecs and sizes as another Avro library reads them."""

from __future__ import annotations

import itertools
import json
import uuid
from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.schema import Schema
from icefloe.types import (
    DecimalType,
    FixedType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

AVRO = {"write.format.default": "avro"}
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "a-b", StringType(), doc="a text"),
    NestedField(3, "price", DecimalType(20, 3)),
    NestedField(4, "u", UUIDType()),
    NestedField(5, "u2", UUIDType()),
    NestedField(6, "f", FixedType(4)),
    NestedField(7, "at", TimestampType()),
    NestedField(8, "instant", TimestamptzType()),
    NestedField(9, "t", TimeType()),
    NestedField(10, "l", ListType(13, StructType(NestedField(14, "x", IntegerType())), element_required=False)),
    NestedField(11, "m", MapType(15, IntegerType(), 16, StringType(), value_required=False)),
    NestedField(12, "s", MapType(17, StringType(), 18, LongType(), value_required=True)),
)
ROWS = [
    {
        "id": 1,
        "a-b": "x",
        "price": Decimal("-1.234"),
        "u": uuid.UUID(int=5).bytes,
        "f": b"abcd",
        "l": [{"x": 1}, None],
        "m": [(1, "a"), (2, None)],
        "s": [("k", 7)],
    },
    {"id": 2},
]
# The schema that the Java reference writes for this table.
EXPECTED = {
    "id": "long",
    "a_x2Db": ["null", "string"],
    "price": [
        "null",
        {"type": "fixed", "name": "decimal_20_3", "size": 9, "logicalType": "decimal", "precision": 20, "scale": 3},
    ],
    "u": ["null", {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"}],
    "u2": ["null", "uuid_fixed"],
    "f": ["null", {"type": "fixed", "name": "fixed_4", "size": 4}],
    "at": ["null", {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False}],
    "instant": ["null", {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}],
    "t": ["null", {"type": "long", "logicalType": "time-micros"}],
    "l": [
        "null",
        {
            "type": "array",
            "items": [
                "null",
                {
                    "type": "record",
                    "name": "r13",
                    "fields": [{"name": "x", "type": ["null", "int"], "default": None, "field-id": 14}],
                },
            ],
            "element-id": 13,
        },
    ],
    "m": [
        "null",
        {
            "type": "array",
            "items": {
                "type": "record",
                "name": "k15_v16",
                "fields": [
                    {"name": "key", "type": "int", "field-id": 15},
                    {"name": "value", "type": ["null", "string"], "default": None, "field-id": 16},
                ],
            },
            "logicalType": "map",
        },
    ],
    "s": ["null", {"type": "map", "values": "long", "key-id": 17, "value-id": 18}],
}


@pytest.fixture
def create(catalog):
    """Return a function that creates an empty table of a schema."""
    count = itertools.count()
    return lambda schema, properties: catalog.create_table(f"db.t{next(count)}", schema, properties=properties)


def header(path: str) -> tuple[dict[str, str], list[dict]]:
    """Return the metadata and the records of an Avro file."""
    with Path(path).open("rb") as file:
        reader = fastavro.reader(file)
        return dict(reader.metadata), list(reader)


def files_of(table) -> list[dict]:
    return table.inspect.files().to_pylist()


def test_avro_file_has_the_schema_of_the_reference(create):
    table = create(SCHEMA, properties=AVRO)
    rows = pa.Table.from_pylist(ROWS, schema=table.schema().as_arrow())
    table.append(rows)
    (file,) = files_of(table)
    metadata, records = header(file["file_path"])
    written = json.loads(metadata["avro.schema"])
    assert (written["type"], written["name"]) == ("record", "table")
    assert {field["name"]: field["type"] for field in written["fields"]} == EXPECTED
    assert [field["field-id"] for field in written["fields"]] == [field.field_id for field in SCHEMA.fields]
    names = {field["name"]: field for field in written["fields"]}
    assert names["a_x2Db"]["iceberg-field-name"] == "a-b"
    assert names["a_x2Db"]["default"] is None
    assert "default" not in names["id"]
    assert json.loads(metadata["iceberg.schema"])["fields"][0]["id"] == 1
    assert records[0]["price"] == Decimal("-1.234")
    assert records[0]["m"] == [{"key": 1, "value": "a"}, {"key": 2, "value": None}]
    assert records[1]["id"] == 2
    assert table.scan().to_arrow().equals(rows)


def test_avro_file_has_a_record_count_and_no_column_metrics(create):
    table = create(SCHEMA, properties={**AVRO, "write.metadata.metrics.default": "full"})
    table.append(pa.Table.from_pylist(ROWS, schema=table.schema().as_arrow()))
    (file,) = files_of(table)
    assert (file["file_format"], file["record_count"]) == ("AVRO", 2)
    assert file["file_path"].endswith("-00001.avro")
    for name in ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds"):
        assert file[name] is None, name
    assert file["split_offsets"] is None


NUMBERS = pa.table({"id": pa.array(range(100_000), pa.int64()), "text": [f"text {n % 97}" for n in range(100_000)]})


@pytest.mark.parametrize(
    ("codec", "level", "stored"),
    [
        ("gzip", "9", "deflate"),
        ("zstd", "19", "zstandard"),
        ("snappy", None, "snappy"),
        ("uncompressed", None, "null"),
        (None, None, "deflate"),
    ],
)
def test_avro_codec_and_level_are_those_of_the_properties(create, codec, level, stored):
    properties = {**AVRO, "write.avro.compression-codec": codec, "write.avro.compression-level": level}
    table = create(NUMBERS.schema, properties={name: text for name, text in properties.items() if text is not None})
    table.append(NUMBERS)
    (file,) = files_of(table)
    with Path(file["file_path"]).open("rb") as opened:
        assert fastavro.reader(opened).metadata.get("avro.codec") == stored
        opened.seek(0)
        assert sum(block.num_records for block in fastavro.block_reader(opened)) == NUMBERS.num_rows
    assert table.scan().to_arrow().equals(NUMBERS)


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_higher_avro_level_makes_smaller_files(create, codec):
    sizes = []
    for level in ("1", "9"):
        properties = {**AVRO, "write.avro.compression-codec": codec, "write.avro.compression-level": level}
        table = create(NUMBERS.schema, properties=properties)
        table.append(NUMBERS)
        sizes.append(files_of(table)[0]["file_size_in_bytes"])
    assert sizes[1] < sizes[0]


def test_avro_level_outside_of_the_codec_is_refused_before_any_file(create):
    properties = {**AVRO, "write.avro.compression-codec": "gzip", "write.avro.compression-level": "10"}
    table = create(NUMBERS.schema, properties=properties)
    with pytest.raises(ValidationError, match=r"write.avro.compression-level.*a level of gzip from 0 to 9, got 10"):
        table.append(NUMBERS)


def test_avro_files_roll_at_the_target_size(create):
    target = 200_000
    properties = {
        **AVRO,
        "write.avro.compression-codec": "uncompressed",
        "write.target-file-size-bytes": str(target),
    }
    table = create(NUMBERS.schema, properties=properties)
    table.append(NUMBERS)
    sizes = [file["file_size_in_bytes"] for file in files_of(table)]
    assert len(sizes) > 4
    assert all(0.8 * target <= size <= 1.2 * target for size in sorted(sizes)[1:])
    assert table.scan().to_arrow().sort_by("id").equals(NUMBERS)


def test_names_that_are_the_same_in_avro_are_refused_before_any_file(create):
    schema = pa.schema([("a-b", pa.int64()), ("a_x2Db", pa.int64())])
    table = create(schema, properties=AVRO)
    with pytest.raises(FeatureUnsupportedError, match=r"columns a-b and a_x2Db .* a_x2Db"):
        table.append(pa.table({"a-b": [1], "a_x2Db": [2]}))
    assert table.current_snapshot() is None


@pytest.mark.parametrize("granularity", ["file", "partition"])
def test_position_deletes_are_avro_by_property(create, granularity):
    properties = {
        "write.delete.mode": "merge-on-read",
        "write.delete.format.default": "avro",
        "write.delete.granularity": granularity,
        "write.delete.avro.compression-codec": "uncompressed",
    }
    table = create(NUMBERS.schema, properties=properties)
    table.append(NUMBERS.slice(0, 10))
    table.append(NUMBERS.slice(10, 10))
    table.delete("id in (3, 5, 12)")
    deletes = table.inspect.delete_files().to_pylist()
    assert {file["file_format"] for file in deletes} == {"AVRO"}
    assert len(deletes) == (2 if granularity == "file" else 1)
    assert all(file["file_path"].endswith("-deletes.avro") for file in deletes)
    metadata, records = header(deletes[0]["file_path"])
    assert metadata["delete-type"] == "position"
    assert metadata.get("avro.codec", "null") == "null"
    fields = json.loads(metadata["avro.schema"])["fields"]
    assert [(field["name"], field["field-id"]) for field in fields] == [("file_path", 2147483546), ("pos", 2147483545)]
    assert {record["pos"] for record in records} <= {2, 3, 5}
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [n for n in range(20) if n not in (3, 5, 12)]


def test_long_fixed_is_read_back(catalog):
    schema = Schema(NestedField(1, "f", FixedType(2000)), NestedField(2, "l", ListType(3, FixedType(3000))))
    rows = pa.table(
        {
            "f": pa.array([b"a" * 2000, None], pa.binary(2000)),
            "l": pa.array([[b"b" * 3000], None], pa.list_(pa.binary(3000))),
        }
    )
    table = catalog.create_table("db.t", schema, properties=AVRO)
    table.append(rows)
    assert table.scan().to_arrow().to_pylist() == rows.to_pylist()
    with table.update_schema() as update:
        update.delete_column("f")
    assert table.scan().to_arrow().to_pylist() == rows.select(["l"]).to_pylist()


def test_schema_that_cannot_be_read_back_is_refused_before_a_file_exists(catalog, tmp_path):
    kind = LongType()
    for field_id in range(40, 1, -1):
        kind = StructType(NestedField(field_id, "s", kind))
    table = catalog.create_table("db.t", Schema(NestedField(1, "s", kind)), location=str(tmp_path), properties=AVRO)
    value = 1
    for _ in range(39):
        value = {"s": value}
    with pytest.raises(FeatureUnsupportedError, match="writing Avro files of this schema"):
        table.append(pa.Table.from_pylist([{"s": value}]))
    assert not list(tmp_path.rglob("*.avro"))
