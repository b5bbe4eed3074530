"""Messages of the errors that users can cause: subject, expectation, what was got, and what to do, in Iceberg's type names."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import icefloe
import pyarrow as pa
import pytest
from icefloe.conversions import from_bytes, from_json_value, partition_to_py, to_bytes
from icefloe.exceptions import FeatureUnsupportedError, IcebergError
from icefloe.expressions import (
    And,
    EqualTo,
    Reference,
    StartsWith,
    UnboundTransform,
    expression_from_json,
    literal,
    to_expression,
)
from icefloe.expressions.filter import Filter
from icefloe.expressions.parser import parse
from icefloe.expressions.visitors import bind, expression_to_plain_format, rewrite_to_dnf
from icefloe.io import FileIO, load_file_io
from icefloe.io.pyarrow import expression_to_pyarrow, pyarrow_to_schema
from icefloe.manifest import DataFileContent, ManifestFile
from icefloe.partitioning import PartitionField, PartitionSpec, validate_partition_name
from icefloe.schema import Schema, promote, prune_columns
from icefloe.table.name_mapping import parse_mapping_from_json
from icefloe.transforms import BucketTransform, TruncateTransform, bucket, parse_transform
from icefloe.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    GeometryType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    UUIDType,
    type_from_json,
    type_from_text,
)

SCHEMA = Schema(
    NestedField(1, "id", "long", required=True),
    NestedField(2, "name", "string"),
    NestedField(3, "at", "timestamp"),
    NestedField(4, "tags", ListType(5, "string")),
    NestedField(6, "point", StructType(NestedField(7, "x", "double"))),
)
BOUND_TO_POINT = bind(SCHEMA, EqualTo("point.x", 1.0))

# The call, and the parts of its message in order: the subject, what is wrong or expected, what was got, what to do.
CASES: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "filter without a literal": (
        lambda: parse("id >"),
        ["filter, position 4: ", "expected a literal", "got the end", "id >"],
    ),
    "filter with an unknown function": (
        lambda: parse("upper(name) = 'A'"),
        ["filter, position 0: ", "expected a column or one of bucket, truncate", "got `upper`"],
    ),
    "filter with an open quote": (lambda: parse("name = 'a"), ["filter, position 7: ", "a quote that is never closed"]),
    "filter with an unknown character": (lambda: parse("id ; 1"), ["filter, position 3: ", "unexpected character ';'"]),
    "filter that compares with null": (
        lambda: parse("id = null"),
        ["filter, position 5: ", "use `is null`", "got `null`"],
    ),
    "filter with a bad date": (
        lambda: parse("at < date '2026-13-01'"),
        ["filter, position 10: ", "expected YYYY-MM-DD", "got '2026-13-01'"],
    ),
    "filter with a bad width": (
        lambda: parse("truncate(0, name) = 'a'"),
        ["filter, position 0: ", "width must be in 1..=2147483647", "got 0"],
    ),
    "filter that is a number": (
        lambda: to_expression(5),  # type: ignore[arg-type]
        ["row filter: ", "not an expression: 5", "expected text or an expression"],
    ),
    "filter of empty text": (
        lambda: Filter.of("", SCHEMA),
        ["filter, position 0: ", "expected a column name", "got the end"],
    ),
    "filter on an unknown column": (
        lambda: Filter.of("nmae = 'a'", SCHEMA).bound,
        ["Could not find field with name nmae", "did you mean name?"],
    ),
    "filter on text that is no number": (
        lambda: Filter.of("id = 'abc'", SCHEMA).bound,
        ["filter on id: ", "Could not convert abc into a long", "expected a number", "got 'abc'"],
    ),
    "filter on text that is no boolean": (
        lambda: bind(Schema(NestedField(1, "ok", "boolean")), EqualTo("ok", "yes")),
        ["filter on ok: ", "Could not convert yes into a boolean", "expected 'true' or 'false'", "got 'yes'"],
    ),
    "filter with a zone on a timestamp": (
        lambda: Filter.of("at = '2026-01-01T00:00:00Z'", SCHEMA).bound,
        ["filter on at: ", "'2026-01-01T00:00:00Z' must have no zone to be a timestamp"],
    ),
    "filter with bytes on a long": (
        lambda: Filter.of(EqualTo("id", b"a"), SCHEMA).json,
        ["filter on id: ", "into a long", "cannot be compared with values of that type"],
    ),
    "prefix of a long": (
        lambda: bind(SCHEMA, StartsWith("id", "a")),
        ["filter on id: ", "starts-with needs a string column", "expected type string", "got long"],
    ),
    "transform of a wrong type": (
        lambda: bind(SCHEMA, EqualTo(UnboundTransform("name", "day"), 1)),
        ["filter on day(name): ", "day does not apply to type string", "filter by the column itself"],
    ),
    "transform of an unknown name": (
        lambda: bind(SCHEMA, EqualTo(UnboundTransform("name", "zorder"), 1)),
        ["filter on zorder(name): ", "unknown transform", "expected identity, bucket[N]"],
    ),
    "literal of a dict": (lambda: literal({}), ["literal {}: ", "expected a bool, int, float", "got dict"]),
    "literal None": (lambda: EqualTo("id", None), ["literal None: ", "use IsNull or NotNull"]),
    "reference to a number": (
        lambda: Reference(5),  # type: ignore[arg-type]
        ["column reference: ", "expected text such as 'point.x'", "got 5"],
    ),
    "operand that is text": (
        lambda: And(EqualTo("id", 1), "name = 'a'"),  # type: ignore[arg-type]
        ["not an expression: \"name = 'a'\"", "expected an operand such as EqualTo('x', 1)"],
    ),
    "predicate with an unknown argument": (
        lambda: EqualTo("id", 1, literals=[1]),
        ["EqualTo: ", "unknown arguments literals", "expected term and literal"],
    ),
    "disjunctive form of too many conjunctions": (
        lambda: rewrite_to_dnf(parse(" and ".join(f"(a = {n} or b = {n})" for n in range(16)))),
        ["expression: ", "disjunctive normal form", "expected at most 10000"],
    ),
    "plain format of an unbound predicate": (
        lambda: expression_to_plain_format((EqualTo("id", 1),)),
        ["no plain form of EqualTo", "expected a bound comparison"],
    ),
    "expression JSON that is text": (
        lambda: expression_from_json("{"),
        ["expression JSON: ", "not valid JSON"],
    ),
    "expression JSON of an unknown type": (
        lambda: expression_from_json({"type": "like", "term": "a"}),
        ["expression JSON: ", "unknown type 'like'", "expected and, or, not, true, false or one of"],
    ),
    "expression JSON without a value": (
        lambda: expression_from_json({"type": "eq", "term": "a"}),
        ["expression JSON: ", "`value` of eq is missing", "expected a literal"],
    ),
    "expression JSON with a list as term": (
        lambda: expression_from_json({"type": "eq", "term": [], "value": 1}),
        ["expression JSON: ", "`term` of eq must be text, a reference or a transform", "got []"],
    ),
    "bound filter on a struct without the schema": (
        lambda: expression_to_pyarrow(BOUND_TO_POINT),
        ["filter on point.x: ", "a field of a struct", "pass the schema"],
    ),
    "type with a misspelled name": (
        lambda: type_from_text("strnig"),
        ["type 'strnig': ", "expected one of boolean, int"],
    ),
    "type of a later version": (lambda: type_from_text("variant"), ["type variant: ", "not supported"]),
    "decimal of too many digits": (lambda: DecimalType(39, 2), ["Decimal precision", "between 1 and 38", "got: 39"]),
    "fixed of no bytes": (lambda: FixedType(0), ["type fixed: ", "at least 1 byte", "got 0"]),
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
    "transform that is a number": (
        lambda: parse_transform(5),
        ["transform: ", "expected text such as 'bucket[16]'", "got 5"],
    ),
    "transform of too many buckets": (
        lambda: parse_transform("bucket[9999999999]"),
        ["num_buckets must be in 1..=2147483647", "got 9999999999"],
    ),
    "transform with text in brackets": (
        lambda: parse_transform("bucket[many]"),
        ["transform 'bucket[many]': ", "expected a whole number in 1..=2147483647"],
    ),
    "width that is text": (
        lambda: TruncateTransform("4"),  # type: ignore[arg-type]
        ["width must be a whole number in 1..=2147483647", "got '4'"],
    ),
    "transform of doubles": (
        lambda: BucketTransform(4).transform(DoubleType()),
        ["transform bucket[4] does not apply to values of type double", "choose another transform"],
    ),
    "transform of a value of another type": (
        lambda: BucketTransform(4).transform(LongType())("a"),
        ["transform bucket[4]: ", "'a' is not a value of type long", "got str"],
    ),
    "buckets of a list": (
        lambda: bucket([1, 2], 4),
        ["array: ", "expected an Arrow array or stream", "got list", "pyarrow.array()"],
    ),
    "unknown transform of a value": (
        lambda: parse_transform("zorder").transform(LongType()),
        ["transform zorder: ", "values of type long cannot be transformed", "expected identity, bucket[N]"],
    ),
    "projection of an unbound predicate": (
        lambda: BucketTransform(4).project("b", EqualTo("id", 1)),  # type: ignore[arg-type]
        ["pred: ", "expected a predicate that is bound to a column", "bind it to a schema first"],
    ),
    "partition field of an unknown column": (
        lambda: PartitionSpec(PartitionField(9, 1000, "day", "d")).check_compatible(SCHEMA),
        ["partition field d: ", "no column has the id 9", "expected the id of a column in [1, 2, 3"],
    ),
    "partition field of a struct": (
        lambda: PartitionSpec(PartitionField(6, 1000, "identity", "p")).check_compatible(SCHEMA),
        ["partition field p: ", "column point cannot be partitioned", "expected a primitive type", "got struct<"],
    ),
    "partition field of a wrong type": (
        lambda: PartitionSpec(PartitionField(2, 1000, "day", "d")).check_compatible(SCHEMA),
        ["partition field d: ", "day does not apply to column name of type string", "choose another transform"],
    ),
    "partition field with a column's name": (
        lambda: validate_partition_name("id", BucketTransform(4), 1, SCHEMA, set()),
        ["partition field name 'id' is a column's name", "expected its identity transform", "got bucket[4]"],
    ),
    "partition field with a name twice": (
        lambda: validate_partition_name("d", BucketTransform(4), 1, SCHEMA, {"d"}),
        ["partition field name 'd' is used twice", "rename one of the fields"],
    ),
    "partition field of several columns": (
        lambda: PartitionField.model_validate(
            {"source-ids": [1, 2], "field-id": 1000, "transform": "bucket[4]", "name": "b"}
        ),
        ["partition field JSON: ", "transforms of several columns are not supported", "got [1, 2]"],
    ),
    "data file content": (
        lambda: DataFileContent.from_rest_type("rows"),
        ["Invalid file content value: rows", "expected one of data, equality-deletes, position-deletes"],
    ),
    "Arrow column of a wide decimal": (
        lambda: pyarrow_to_schema(pa.schema([("d", pa.decimal256(40, 2))])),
        ["column d: ", "decimal256(40, 2) has more than 38 digits", "cast the column"],
    ),
    "Arrow column of nanoseconds": (
        lambda: pyarrow_to_schema(pa.schema([("t", pa.timestamp("ns"))])),
        ["column t: ", "timestamp[ns] needs format version 3", "got 2", "cast the column to microseconds"],
    ),
    "Arrow column of another zone": (
        lambda: pyarrow_to_schema(pa.schema([("t", pa.timestamp("us", "Europe/Berlin"))])),
        ["column t: ", "time zone Europe/Berlin", "expected UTC", "cast the column to timestamp[us, tz=UTC]"],
    ),
    "Arrow column of a union": (
        lambda: pyarrow_to_schema(pa.schema([("u", pa.dense_union([pa.field("a", pa.int8())]))])),
        ["column u: ", "Arrow type dense_union", "has no Iceberg type", "cast or drop the column"],
    ),
    "Arrow schema with some ids": (
        lambda: pyarrow_to_schema(
            pa.schema([pa.field("a", pa.int8(), metadata={"PARQUET:field_id": "1"}), ("b", pa.int8())])
        ),
        ["Arrow schema: ", "some fields have an id", "expected ids for all fields or none"],
    ),
    "another FileIO": (
        lambda: load_file_io({"py-io-impl": "my.FileIO"}),
        ["property py-io-impl: ", "not supported", "got 'my.FileIO'", "remove it"],
    ),
}

# Names of Arrow's Rust implementation, of no type that a user writes.
RUST_TYPES = re.compile(
    r"\b(Utf8|LargeUtf8|Int8|Int16|Int32|Int64|UInt64|Float32|Float64|Date32|Timestamp\(|Some\(|None\))"
)


@pytest.mark.parametrize("case", CASES)
def test_message_names_subject_expectation_and_what_was_got(case: str) -> None:
    call, parts = CASES[case]
    with pytest.raises((IcebergError, FeatureUnsupportedError)) as caught:
        call()
    message = str(caught.value)
    positions = [message.find(part) for part in parts]
    assert -1 not in positions, f"{message!r} lacks {parts[positions.index(-1)]!r}"
    assert positions == sorted(positions), message
    assert RUST_TYPES.search(message) is None, message


PACKAGE = Path(icefloe.__file__).parent
ROOMS = ("conversions", "expressions", "io", "manifest", "schema", "transforms", "types")
SOURCES = [*(path for room in ROOMS for path in sorted((PACKAGE / room).glob("*.py"))), PACKAGE / "partitioning.py"]
# Words that say what is expected or what to do.
ADVICE = re.compile(
    r"expected|must |use `?[iI]s|pass |cast |choose |rename |split |bind |upgrade |needs |filter by |select its |give each "
    r"|match case|ids are|names are|near_misses|partition\(|nested more than|select |remove |add one |explain\(|\{what\}|cannot set|serialize |\{error\}|\{problem\}"
)


def raised_messages(path: Path) -> list[str]:
    """Return the arguments of the exceptions that a module raises, as source; messages without text are left out."""
    raised = [node.exc for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Raise)]
    calls = [call for call in raised if isinstance(call, ast.Call) and len(call.args) > 0]
    messages = [ast.unparse(call.args[0]) for call in calls if not isinstance(call.func, ast.Attribute)]
    return [message for message in messages if "'" in message or '"' in message]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_raised_message_says_what_is_expected_or_what_to_do(path: Path) -> None:
    assert [message for message in raised_messages(path) if ADVICE.search(message) is None] == []


def test_manifest_message_names_the_file_and_the_byte(tmp_path: Any) -> None:
    location = str(tmp_path / "m.avro")
    manifest = ManifestFile(manifest_path=location, manifest_length=4, partition_spec_id=0)
    for data, parts in (
        (b"PAR1", ["m.avro: ", "not an Avro file", "got b'PAR1'"]),
        (b"Obj\x01\x02\x10", ["m.avro: byte ", "expected 8 bytes", "got 0"]),
    ):
        with FileIO().new_output(location).create(overwrite=True) as stream:
            stream.write(data)
        with pytest.raises(IcebergError) as caught:
            manifest.fetch_manifest_entry(FileIO())
        assert [part for part in parts if part not in str(caught.value)] == []


def test_file_message_says_how_to_replace_it(tmp_path: Any) -> None:
    file = FileIO().new_output(str(tmp_path / "a"))
    file.create().close()
    with pytest.raises(IcebergError, match=r"file .*a: .* exists; pass overwrite=True to replace it"):
        file.create()
