"""Iceberg schemas as Arrow schemas and back."""

from __future__ import annotations

import pyarrow as pa
import pyiceberg.io.pyarrow as theirs
import pytest
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.io.pyarrow import pyarrow_to_schema, schema_to_pyarrow
from icefloe.schema import Schema
from icefloe.table.name_mapping import parse_mapping_from_json
from icefloe.types import DecimalType, FixedType, ListType, MapType, NestedField, StructType, type_from_text
from pyiceberg.schema import Schema as TheirSchema

EVERY = ["boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz", "string", "binary"]
SCHEMA = Schema(
    *(NestedField(position + 1, f"c_{kind}", type_from_text(kind)) for position, kind in enumerate(EVERY)),
    NestedField(20, "amount", DecimalType(9, 2), required=True, doc="in euros"),
    NestedField(21, "code", FixedType(4)),
    NestedField(22, "at", StructType(NestedField(23, "x", "double", required=True))),
    NestedField(24, "tags", ListType(25, "string", element_required=False)),
    NestedField(26, "named", MapType(27, "string", 28, ListType(29, "int"), value_required=False)),
)


def test_schema_round_trips_through_arrow() -> None:
    assert pyarrow_to_schema(schema_to_pyarrow(SCHEMA)) == SCHEMA


def test_pyiceberg_reads_the_same_schema() -> None:
    other = theirs.pyarrow_to_schema(schema_to_pyarrow(SCHEMA))
    assert other == TheirSchema.model_validate_json(SCHEMA.model_dump_json())


def test_pyarrow_to_schema_reads_the_schema_of_pyiceberg() -> None:
    arrow = theirs.schema_to_pyarrow(TheirSchema.model_validate_json(SCHEMA.model_dump_json()))
    assert pyarrow_to_schema(arrow) == SCHEMA


def test_schema_to_pyarrow_omits_field_ids() -> None:
    arrow = schema_to_pyarrow(SCHEMA, include_field_ids=False)
    assert arrow.field("c_int").metadata is None
    assert arrow.field("amount").metadata == {b"doc": b"in euros"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.int8(), "int"),
        (pa.uint16(), "int"),
        (pa.uint32(), "long"),
        (pa.float16(), "float"),
        (pa.large_string(), "string"),
        (pa.string_view(), "string"),
        (pa.large_binary(), "binary"),
        (pa.binary_view(), "binary"),
        (pa.binary(3), "fixed[3]"),
        (pa.dictionary(pa.int8(), pa.string()), "string"),
        (pa.timestamp("ms"), "timestamp"),
        (pa.timestamp("us", "+00:00"), "timestamptz"),
        (pa.time32("s"), "time"),
        (pa.date64(), "date"),
        (pa.decimal256(20, 3), "decimal(20, 3)"),
        (pa.null(), "unknown"),
        (pa.uuid(), "uuid"),
        (pa.large_list(pa.int32()), "list<int>"),
        (pa.list_(pa.int32(), 3), "list<int>"),
    ],
    ids=str,
)
def test_pyarrow_to_schema_converts_every_layout(kind: pa.DataType, expected: str) -> None:
    assert str(pyarrow_to_schema(pa.schema([("a", kind)])).find_type("a")) == expected


@pytest.mark.parametrize(
    "kind",
    [
        pa.uint64(),
        pa.timestamp("ns"),
        pa.timestamp("us", "Europe/Berlin"),
        pa.time64("ns"),
        pa.decimal256(40, 2),
        pa.duration("s"),
    ],
    ids=str,
)
def test_pyarrow_to_schema_error_names_the_column(kind: pa.DataType) -> None:
    with pytest.raises(FeatureUnsupportedError, match=r"column outer\.inner"):
        pyarrow_to_schema(pa.schema([("outer", pa.struct([("inner", kind)]))]))


def test_pyarrow_to_schema_keeps_or_downcasts_nanoseconds() -> None:
    schema = pa.schema([("a", pa.timestamp("ns"))])
    assert str(pyarrow_to_schema(schema, format_version=3).find_type("a")) == "timestamp_ns"
    assert str(pyarrow_to_schema(schema, downcast_ns_timestamp_to_us=True).find_type("a")) == "timestamp"


def test_pyarrow_to_schema_assigns_ids_level_by_level() -> None:
    found = pyarrow_to_schema(pa.schema([("a", pa.struct([("b", pa.int32())])), ("c", pa.list_(pa.int32()))]))
    assert {found.find_column_name(field_id): field_id for field_id in found.field_ids} == {
        "a": 1,
        "c": 2,
        "a.b": 3,
        "c.element": 4,
    }


def test_pyarrow_to_schema_takes_ids_from_a_name_mapping() -> None:
    mapping = parse_mapping_from_json(
        '[{"field-id": 7, "names": ["a", "A"], "fields": [{"field-id": 9, "names": ["b"]}]}]'
    )
    found = pyarrow_to_schema(pa.schema([("A", pa.struct([("b", pa.int32())]))]), name_mapping=mapping)
    assert found.field_ids == {7, 9}
    with pytest.raises(ValidationError, match="no field with name 'z'"):
        pyarrow_to_schema(pa.schema([("z", pa.int32())]), name_mapping=mapping)


def test_pyarrow_to_schema_refuses_ids_on_some_fields() -> None:
    fields = [pa.field("a", pa.int32(), metadata={b"PARQUET:field_id": b"1"}), pa.field("b", pa.int32())]
    with pytest.raises(ValidationError, match="some fields have an id"):
        pyarrow_to_schema(pa.schema(fields))
