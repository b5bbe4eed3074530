"""Messages of errors in types, schemas, name mappings and single values."""

from __future__ import annotations

import pytest
from icefloe.conversions import from_bytes, from_json_value, partition_to_py, to_bytes
from icefloe.schema import Schema, promote, prune_columns
from icefloe.table.name_mapping import parse_mapping_from_json
from icefloe.types import (
    BooleanType,
    DateType,
    DecimalType,
    FixedType,
    GeometryType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    UUIDType,
    type_from_json,
    type_from_text,
)

from tests.unit.messages import SCHEMA, Case, check_message

CASES: dict[str, Case] = {
    "type with a misspelled name": (
        lambda: type_from_text("strnig"),
        ["type 'strnig': ", "expected one of boolean, int"],
    ),
    "type of a later version": (lambda: type_from_text("variant"), ["type variant: ", "not supported"]),
    "decimal of too many digits": (lambda: DecimalType(39, 2), ["Decimal precision", "between 1 and 38", "got: 39"]),
    "fixed of no bytes": (lambda: FixedType(0), ["type fixed: ", "1 to 2147483647 bytes", "got 0"]),
    "fixed of more bytes than an int counts": (
        lambda: FixedType(2**31),
        ["type fixed: ", "1 to 2147483647 bytes", "got 2147483648"],
    ),
    "type JSON of a number": (lambda: type_from_json(5), ["type JSON: ", "expected text or an object", "got 5"]),
    "list JSON without an id": (
        lambda: type_from_json({"type": "list"}),
        ["type JSON: ", "`element-id` of a list is missing", "expected an integer"],
    ),
    "field JSON with an id that is text": (
        lambda: NestedField.model_validate({"id": "1", "name": "a", "required": True, "type": "int"}),
        ["type JSON: ", "`id` of field 'a' must be an integer", "got '1'"],
    ),
    "field without a type": (
        lambda: NestedField(1, "a"),
        ["field 'a' needs a type", "expected a type such as 'long'", "got None"],
    ),
    "field with a bad id": (
        lambda: NestedField("1", "a", "int"),  # type: ignore[arg-type]
        ["field 'a': ", "the id must be an integer", "got '1'"],
    ),
    "map without a value type": (
        lambda: MapType(1, "string", 2),
        ["map with key id 1: ", "the value type is missing", "pass value_type="],
    ),
    "list with an unknown key": (
        lambda: ListType(1, "string", elements="int"),
        ["type JSON: ", "unknown properties of a list: elements", "remove them"],
    ),
    "schema with an id twice": (
        lambda: Schema(NestedField(1, "a", "int"), NestedField(1, "b", "int")),
        ["field id 1 is used by both 'a' and 'b'", "give each field its own id"],
    ),
    "schema with a name twice": (
        lambda: Schema(NestedField(1, "a", "int"), NestedField(2, "a", "int")),
        ["multiple fields for name a: 1 and 2", "rename one of them"],
    ),
    "identifier field of type double": (
        lambda: Schema(NestedField(1, "a", "double", required=True), identifier_field_ids=[1]),
        ["Identifier field 1 invalid: ", "must not be float or double", "'a' is a double"],
    ),
    "identifier field in a list": (
        lambda: Schema(NestedField(1, "a", ListType(2, "int"), required=True), identifier_field_ids=[2]),
        ["Identifier field 2 invalid: ", "nested in 'a'", "expected a struct", "got list<int>"],
    ),
    "column name in another case": (
        lambda: Schema(NestedField(1, "a", "int"), NestedField(2, "A", "int")).find_field("a", case_sensitive=False),
        ["column name 'a' is ambiguous when case is ignored: ", "a and A", "match case exactly"],
    ),
    "column id that is unknown": (
        lambda: SCHEMA.find_field(99),
        ["Could not find field with id: 99", "ids are [1, 2, 3"],
    ),
    "column selected by a wrong name": (
        lambda: SCHEMA.select("Name"),
        ["Could not find column: 'Name'", "did you mean name?"],
    ),
    "list selected by its own id": (
        lambda: prune_columns(SCHEMA, {4}, select_full_types=False),
        ["4:tags of type list<string> was selected", "select its element, key or value"],
    ),
    "promotion of long to int": (
        lambda: promote(LongType(), IntegerType()),
        ["Cannot promote long to int: ", "expected int to long"],
    ),
    "type of a later format version": (
        lambda: Schema(NestedField(1, "t", "timestamp_ns")).check_format_version_compatibility(2),
        ["column t: ", "timestamp_ns needs format version 3", "the table has 2", "upgrade the table"],
    ),
    "name mapping without a name": (
        lambda: parse_mapping_from_json('[{"field-id": 1, "names": ["id"]}]').find("ID"),
        ["name mapping: ", "no field with name 'ID'", "top-level names are id"],
    ),
    "name mapping that is not JSON": (lambda: parse_mapping_from_json("["), ["name mapping: ", "not valid JSON"]),
    "value of a wrong length": (
        lambda: from_bytes(UUIDType(), b"abc"),
        ["value of type uuid: ", "expected 16 bytes", "got 3"],
    ),
    "value that is not UTF-8": (
        lambda: from_bytes(StringType(), b"\xff"),
        ["value of type string: ", "expected UTF-8 bytes"],
    ),
    "decimal without bytes": (
        lambda: from_bytes(DecimalType(9, 2), b""),
        ["value of type decimal(9, 2): ", "expected 1 to 16 bytes", "got 0"],
    ),
    "int out of range": (
        lambda: to_bytes(IntegerType(), 2**31),
        ["value 2147483648 is not a value of type int", "expected a number in the range of the type"],
    ),
    "decimal of too many digits after the point": (
        lambda: to_bytes(DecimalType(9, 2), "1.005"),
        ["value 1.005 does not fit decimal(9, 2)", "expected at most 9 digits, 2 of them after the point"],
    ),
    "value of a type without single values": (
        lambda: to_bytes(GeometryType(), b""),
        ["type geometry: ", "single values are not supported", "expected another primitive type"],
    ),
    "JSON value of a wrong kind": (
        lambda: from_json_value(LongType(), "5"),
        ["'5' is not the JSON form of a long", "expected an integer", "got str"],
    ),
    "JSON date of a wrong form": (
        lambda: from_json_value(DateType(), "31.1.2026"),
        ["'31.1.2026' is not the JSON form of a date: ", "expected YYYY-MM-DD"],
    ),
    "partition directory of a wrong type": (
        lambda: partition_to_py(BooleanType(), "yes"),
        ["partition value 'yes' is not a value of type boolean"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message_names_subject_expectation_and_what_was_got(case: str) -> None:
    check_message(*CASES[case])
