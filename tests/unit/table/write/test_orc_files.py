"""ORC data files and delete files: types, properties and metrics as pyarrow and the footer show them."""

from __future__ import annotations

import itertools
import struct
import uuid
from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.schema import Schema
from icefloe.table.update import SetPropertiesUpdate
from icefloe.types import (
    DecimalType,
    DoubleType,
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
from pyarrow import orc

pytestmark = pytest.mark.recent_pyarrow
ORC = {"write.format.default": "orc"}
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "a-b.c", StringType()),
    NestedField(3, "price", DecimalType(20, 3)),
    NestedField(4, "u", UUIDType()),
    NestedField(5, "f", FixedType(4)),
    NestedField(6, "at", TimestampType()),
    NestedField(7, "instant", TimestamptzType()),
    NestedField(8, "t", TimeType()),
    NestedField(9, "l", ListType(13, StructType(NestedField(14, "x", IntegerType())), element_required=False)),
    NestedField(10, "m", MapType(15, IntegerType(), 16, StringType(), value_required=False)),
    NestedField(11, "s", StructType(NestedField(17, "deep", DoubleType()))),
    NestedField(12, "b", DoubleType()),
)
ROWS = [
    {
        "id": 1,
        "a-b.c": "a text of more than sixteen characters",
        "price": Decimal("-1.234"),
        "u": uuid.UUID(int=5),
        "f": b"abcd",
        "l": [{"x": 1}, None],
        "m": [(1, "a"), (2, None)],
        "s": {"deep": 2.5},
        "b": float("nan"),
    },
    {"id": 2, "a-b.c": "b", "s": {"deep": None}, "b": -0.5},
    {"id": 3, "b": 4.0},
]


@pytest.fixture
def create(catalog):
    """Return a function that creates an empty table of a schema."""
    count = itertools.count()
    return lambda schema, properties: catalog.create_table(f"db.t{next(count)}", schema, properties=properties)


def written(create, **properties: str):
    """Return a table of the rows, and its only file."""
    table = create(SCHEMA, {**ORC, **properties})
    table.append(pa.Table.from_pylist(ROWS, schema=table.schema().as_arrow()))
    (file,) = table.inspect.files().to_pylist()
    return table, file


def attributes(field: pa.Field) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}


def test_orc_file_has_the_attributes_of_the_reference(create):
    _, file = written(create)
    schema = orc.ORCFile(file["file_path"]).schema
    assert schema.names == [field.name for field in SCHEMA.fields]
    assert [attributes(field)["iceberg.id"] for field in schema] == [str(n) for n in range(1, 13)]
    assert [attributes(field)["iceberg.required"] for field in schema] == ["true", *["false"] * 11]
    found = {field.name: attributes(field) for field in schema}
    assert found["id"]["iceberg.long-type"] == "LONG"
    assert found["t"]["iceberg.long-type"] == "TIME"
    assert found["u"]["iceberg.binary-type"] == "UUID"
    assert (found["f"]["iceberg.binary-type"], found["f"]["iceberg.length"]) == ("FIXED", "4")
    element = schema.field("l").type.value_field
    assert attributes(element)["iceberg.id"] == "13"
    assert attributes(element.type.field(0))["iceberg.id"] == "14"
    assert attributes(schema.field("m").type.key_field) == {"iceberg.id": "15", "iceberg.required": "true"}
    assert attributes(schema.field("m").type.item_field)["iceberg.id"] == "16"
    assert str(schema.field("instant").type) == "timestamp[ns, tz=UTC]"


def test_orc_rows_are_read_back(create):
    schema = Schema(*SCHEMA.fields[:-1])
    table = create(schema, ORC)
    rows = pa.Table.from_pylist([{k: v for k, v in row.items() if k != "b"} for row in ROWS], table.schema().as_arrow())
    table.append(rows)
    assert table.scan().to_arrow().equals(rows)
    assert table.scan("id = 2").to_arrow().equals(rows.slice(1, 1))


def test_orc_file_has_metrics_of_its_values(create):
    _, file = written(create)
    assert (file["file_format"], file["record_count"]) == ("ORC", 3)
    assert file["file_path"].endswith("-00001.orc")
    assert file["split_offsets"] == [3]
    values, nulls, nans = (dict(file[name]) for name in ("value_counts", "null_value_counts", "nan_value_counts"))
    assert set(values) == {1, 2, 3, 4, 5, 6, 7, 8, 17, 12}
    assert set(values.values()) == {3}
    assert (nulls[1], nulls[2], nulls[6], nulls[17], nulls[12]) == (0, 1, 3, 2, 0)
    assert nans == {17: 0, 12: 1}
    lower, upper = dict(file["lower_bounds"]), dict(file["upper_bounds"])
    assert (lower[1], upper[1]) == (struct.pack("<q", 1), struct.pack("<q", 3))
    assert (lower[2], upper[2]) == (b"a text of more t", b"b")
    assert (lower[12], upper[12]) == (struct.pack("<d", -0.5), struct.pack("<d", 4.0))
    assert (lower[3], upper[3]) == (b"\xfb\x2e", b"\xfb\x2e")
    assert 6 not in lower


@pytest.mark.parametrize("mode", ["none", "counts", "full"])
def test_orc_metrics_follow_their_mode(create, mode):
    _, file = written(create, **{"write.metadata.metrics.default": mode})
    assert (file["value_counts"] is None) == (mode == "none")
    assert (file["lower_bounds"] is None) == (mode != "full")
    if mode == "full":
        assert dict(file["lower_bounds"])[2] == b"a text of more than sixteen characters"


@pytest.mark.parametrize(
    ("codec", "stored"),
    [
        ("zlib", "ZLIB"),
        ("zstd", "ZSTD"),
        ("snappy", "SNAPPY"),
        ("lz4", "LZ4"),
        ("none", "UNCOMPRESSED"),
        (None, "ZLIB"),
    ],
)
def test_orc_codec_is_that_of_the_property(create, codec, stored):
    _, file = written(create, **({} if codec is None else {"write.orc.compression-codec": codec}))
    assert orc.ORCFile(file["file_path"]).compression == stored


NUMBERS = pa.table({"id": pa.array(range(200_000), pa.int64()), "text": [f"text {n * 7}" for n in range(200_000)]})


def test_orc_stripes_and_files_follow_their_sizes(create):
    stripes = {**ORC, "write.orc.stripe-size-bytes": "100000", "write.orc.vectorized.batch-size": "500"}
    table = create(NUMBERS.schema, stripes)
    table.append(NUMBERS)
    (file,) = table.inspect.files().to_pylist()
    opened = orc.ORCFile(file["file_path"])
    assert opened.nstripes > 5
    assert len(file["split_offsets"]) == opened.nstripes
    assert file["split_offsets"] == sorted(set(file["split_offsets"]))
    assert table.scan().to_arrow().equals(NUMBERS)
    rolled = create(NUMBERS.schema, {**stripes, "write.target-file-size-bytes": "200000"})
    rolled.append(NUMBERS)
    sizes = sorted(rolled.inspect.files()["file_size_in_bytes"].to_pylist())
    assert len(sizes) > 2
    assert rolled.scan().to_arrow().sort_by("id").equals(NUMBERS)


def test_orc_bloom_filters_are_of_the_named_columns(create):
    sizes = {}
    for columns in ("", "text", "id,text"):
        table = create(NUMBERS.schema, {**ORC, "write.orc.bloom.filter.columns": columns})
        table.append(NUMBERS)
        sizes[columns] = table.inspect.files()["file_size_in_bytes"][0].as_py()
        assert table.scan("text = 'text 700'").to_arrow().num_rows == 1
    assert sizes[""] < sizes["text"] < sizes["id,text"]


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("write.orc.bloom.filter.columns", "id,nothing", r"expected names of columns, got \"nothing\""),
        ("write.orc.compression-codec", "lzo", "expected zlib, snappy, lz4, zstd or none, got 'lzo'"),
        ("write.orc.compression-strategy", "fast", "expected speed or compression, got 'fast'"),
        ("write.orc.stripe-size-bytes", "0", "expected a whole number of bytes, 1 or above, got '0'"),
        ("write.orc.bloom.filter.fpp", "1", "expected a number above 0 and below 1, got '1'"),
    ],
)
def test_wrong_orc_property_is_refused_before_any_file(create, name, value, error):
    table = create(NUMBERS.schema, ORC)
    # Another writer may set any text.
    table.catalog.commit_table(table, (), (SetPropertiesUpdate(updates={name: value}),))
    with pytest.raises(ValidationError, match=error):
        table.refresh().append(NUMBERS)
    assert table.refresh().current_snapshot() is None


@pytest.mark.parametrize(
    ("micros", "problem"),
    [(2**62, "outside of the years 1677 to 2262"), (-1, "before 1970 with a fraction of a second")],
)
def test_timestamp_that_orc_readers_do_not_agree_on_is_refused(create, micros, problem):
    table = create(pa.schema([("at", pa.timestamp("us"))]), ORC)
    with pytest.raises(FeatureUnsupportedError, match=rf"{problem} .*column at"):
        table.append(pa.table({"at": pa.array([0, -1_000_000, micros], pa.timestamp("us"))}))
    assert table.current_snapshot() is None


def test_position_deletes_are_orc_by_property(create):
    table = create(NUMBERS.schema, {"write.delete.mode": "merge-on-read", "write.delete.format.default": "orc"})
    table.append(NUMBERS.slice(0, 10))
    table.delete("id in (3, 5)")
    (file,) = table.inspect.delete_files().to_pylist()
    assert (file["file_format"], file["record_count"]) == ("ORC", 2)
    schema = orc.ORCFile(file["file_path"]).schema
    assert [attributes(field)["iceberg.id"] for field in schema] == ["2147483546", "2147483545"]
    assert table.scan().to_arrow()["id"].to_pylist() == [0, 1, 2, 4, 6, 7, 8, 9]
