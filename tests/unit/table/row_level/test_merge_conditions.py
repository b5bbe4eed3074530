"""Conditions and values of merges, of every type and in every form."""

from __future__ import annotations

import re
import uuid
from datetime import date, datetime, time, timezone
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import ResolveError, SchemaMismatchError, ValidationError
from icefloe.expressions import And, EqualTo, GreaterThan, In, IsNaN, IsNull, Not, NotEqualTo, StartsWith, literal
from icefloe.schema import Schema
from icefloe.types import (
    BinaryType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

ID = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "raw", BinaryType(), required=False),
    NestedField(3, "four", FixedType(4), required=False),
    NestedField(4, "key", UUIDType(), required=False),
    NestedField(5, "price", DecimalType(12, 2), required=False),
    NestedField(6, "day", DateType(), required=False),
    NestedField(7, "local", TimestampType(), required=False),
    NestedField(8, "at", TimestamptzType(), required=False),
    NestedField(9, "clock", TimeType(), required=False),
    NestedField(10, "name", StringType(), required=False),
    NestedField(11, "score", DoubleType(), required=False),
    NestedField(12, "place", StructType(NestedField(13, "Country", StringType(), required=False)), required=False),
    NestedField(14, "box", StructType(NestedField(15, "Key", UUIDType(), required=False)), required=False),
)
MOMENT = datetime(2026, 1, 31, 10, 30)
ROW = {
    "id": 1,
    "raw": b"\x00\xff",
    "four": b"\x00\x01\x02\xff",
    "key": ID.bytes,
    "price": Decimal("19.90"),
    "day": date(2026, 1, 31),
    "local": MOMENT,
    "at": MOMENT.replace(tzinfo=timezone.utc),
    "clock": time(10, 30),
    "name": "it's",
    "score": 1.5,
    "place": {"Country": "de"},
    "box": {"Key": ID.bytes},
}
ROWS = pa.Table.from_pylist(
    [ROW, {"id": 2}],
    schema=pa.schema(
        [
            ("id", pa.int64()),
            ("raw", pa.binary()),
            ("four", pa.binary(4)),
            ("key", pa.binary(16)),
            ("price", pa.decimal128(12, 2)),
            ("day", pa.date32()),
            ("local", pa.timestamp("us")),
            ("at", pa.timestamp("us", "UTC")),
            ("clock", pa.time64("us")),
            ("name", pa.string()),
            ("score", pa.float64()),
            ("place", pa.struct([("Country", pa.string())])),
            ("box", pa.struct([("Key", pa.binary(16))])),
        ]
    ),
)


@pytest.fixture
def table(catalog):
    made = catalog.create_table("db.typed", SCHEMA)
    made.append(ROWS)
    return made


def deleted(table, condition):
    """Return whether a merge deletes the row of values, and whether it deletes the row of nulls."""
    source = table.scan().to_arrow()
    table.merge(source, on=["id"]).when_matched_delete(condition).execute()
    left = set(table.scan().to_arrow().column("id").to_pylist())
    return 1 not in left, 2 not in left


CONDITIONS = [
    "source.raw = X'00FF'",
    "target.raw in (X'01', X'00ff')",
    "source.four = X'000102ff'",
    f"source.key = '{ID}'",
    f"target.key = X'{ID.hex}'",
    "source.price = 19.9",
    "target.price >= '19.90'",
    "source.day = '2026-01-31'",
    "source.day = date '2026-01-31'",
    "target.day < target.local",
    "source.local = '2026-01-31 10:30:00'",
    "source.at = timestamp '2026-01-31 11:30:00+01:00'",
    "source.at = '2026-01-31T10:30:00Z'",
    "source.clock = time '10:30:00'",
    "source.clock > '10:29:59.999999'",
    "source.name = 'it''s'",
    'source."name" = "it\'s"',
    '"source.name" is not null',
    "source.name like 'it%'",
    "source.name not like 'x%'",
    "source.score between 1 and 2",
    "not source.score is nan and source.score > 1",
    "source.place.Country = 'de'",
    f"source.box.key = '{ID}' and target.box.Key is not null",
    "SOURCE.`Place`.country == 'de'",
    "source.at = target.at and source.price <=> target.price",
    "case when source.id % 2 = 1 then source.name || '!' end = 'it''s!'",
    "10 / (source.id - 2) < 0 or source.id = 2 and false",
    EqualTo("source.raw", b"\x00\xff"),
    In("target.four", [b"\x00\x01\x02\xff", b"abcd"]),
    EqualTo("source.key", ID),
    EqualTo("source.price", Decimal("19.9")),
    EqualTo("source.day", date(2026, 1, 31)),
    EqualTo("source.local", MOMENT),
    GreaterThan("target.at", MOMENT.replace(tzinfo=timezone.utc, hour=9)),
    EqualTo("source.clock", time(10, 30)),
    EqualTo("source.place.Country", "de"),
    EqualTo("target.box.Key", ID),
    And(StartsWith("source.name", "it"), Not(IsNull("target.name"))),
    pc.field("source.raw") == pa.scalar(b"\x00\xff"),
]


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_merge_condition_matches_the_row_of_its_values(table, condition):
    if isinstance(condition, str) and "/" in condition:
        with pytest.raises(ValidationError, match=r"clause 1 \(when_matched_delete\), condition .*division by zero"):
            deleted(table, condition)
        return
    assert deleted(table, condition) == (True, False)


@pytest.mark.parametrize(
    "condition",
    [
        "source.name <> 'x'",
        "not source.name = 'x'",
        "source.name not in ('x', 'y')",
        "not (source.score > 5)",
        "source.price != 1",
    ],
)
def test_merge_condition_is_unknown_for_null(table, condition):
    assert deleted(table, condition) == (True, False)


def test_merge_condition_not_in_a_list_with_null_is_true_for_no_row(table):
    assert deleted(table, "source.name not in ('x', null)") == (False, False)


def test_merge_condition_short_circuits(table):
    assert deleted(table, "source.id <> 2 and 10 / (source.id - 2) < 0") == (True, False)
    assert deleted(table, "case when source.id = 2 then true else 10 / (source.id - 2) > 0 end") == (True, True)


def test_merge_clause_is_not_evaluated_for_rows_of_an_earlier_clause(table):
    merge = table.merge(table.scan().to_arrow(), on=["id"]).when_matched_update({"name": "'two'"}, "source.id = 2")
    assert merge.when_matched_delete("10 / (source.id - 2) < 0").execute().rows_deleted == 1


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("name", "'de'", "de"),
        ("name", pc.scalar("de"), "de"),
        ("name", pa.scalar("de"), "de"),
        ("name", literal("de"), "de"),
        ("name", "upper(source.name) || '?'", "IT'S?"),
        ("name", "source.place.country", "de"),
        ("name", None, None),
        ("name", "null", None),
        ("score", "source.id / 2", 0.5),
        ("id", "source.score", 1),
        ("price", "source.price * 2", Decimal("39.80")),
        ("price", 5, Decimal("5.00")),
        ("day", date(2026, 2, 1), date(2026, 2, 1)),
        ("day", literal(date(2026, 2, 1)), date(2026, 2, 1)),
        ("day", "source.at", date(2026, 1, 31)),
        ("at", "'2026-02-01 00:00:00'", datetime(2026, 2, 1, tzinfo=timezone.utc)),
        ("raw", "X'01' || source.raw", b"\x01\x00\xff"),
        ("raw", b"\x07", b"\x07"),
        ("four", "X'01020304'", b"\x01\x02\x03\x04"),
        ("clock", "'11:00:00'", time(11)),
        ("place", "source.place", {"Country": "de"}),
        ("place", {"Country": "fr"}, {"Country": "fr"}),
    ],
)
def test_merge_value_is_stored_in_its_column(table, name, value, expected):
    merge = table.merge(table.scan("id = 1").to_arrow(), on=["price"]).when_matched_update({name: value})
    assert merge.execute().rows_updated == 1
    assert table.scan("name is null or name != 'zz'").to_arrow().column(name).to_pylist().count(expected) >= 1
    assert [row[name] for row in table.scan().to_arrow().to_pylist() if row["local"] is not None] == [expected]


@pytest.mark.parametrize("value", [ID, literal(ID), f"'{ID}'", "source.key", f"X'{ID.hex}'"], ids=str)
def test_merge_value_of_a_uuid_column(table, value):
    table.merge(table.scan("id = 1").to_arrow(), on=["id"]).when_matched_update({"key": value}).execute()
    assert table.scan(EqualTo("key", ID)).count() == 1


def test_merge_text_compares_nan_and_negative_zero_as_spark(catalog):
    table = catalog.create_table("db.floats", pa.schema([("id", pa.int64()), ("x", pa.float64())]))
    rows = pa.table({"id": [1, 2, 3, 4], "x": [float("nan"), -0.0, 5.0, None]})
    table.append(rows)

    def matched(condition):
        merge = table.merge(rows, on=["id"]).when_matched_update({"x": "source.x"}, condition)
        return merge.execute().rows_updated

    assert matched("source.x = target.x") == 3
    assert matched("source.x > 5") == 1
    assert matched("source.x = 0.0 and source.x in (0D)") == 1
    assert matched("isnan(source.x)") == matched(IsNaN("source.x")) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rlike(source.name, 'a')", r"rlike\(\).*pyarrow expression"),
        ("source.name rlike 'a'", r"source\.name RLIKE 'a'.*pyarrow expression"),
        ("date(source.day, 1) is null", r"date\(\).*pyarrow expression"),
        ("source.day + interval 1 day = target.day", "INTERVAL '1' DAY.*pyarrow expression"),
        ("source.id in (select 1)", "expected a list of values"),
        ("source.place = target.place", "compare their fields"),
        ("source.id = true", "int.* and boolean have no common type"),
        ("source.name", "expected a boolean, got string"),
        ("source.id = 1 = true", "expected parentheses around source.id = 1"),
        ("source.id = 'one'", "the text 'one' is no bigint"),
        ("source.name = 'C:\\data'", "expected a backslash to be written twice"),
        ("source.name = new york", "not an SQL expression.*single quotes"),
        ("", "empty"),
        ("source.id; drop table x", "not an SQL expression"),
        ("source.score % 2 = 0", "cast it to a decimal"),
        ("current_date() = source.day", r"current_date\(\).*pyarrow expression"),
        ("(" * 5000 + "true" + ")" * 5000, "nested too deeply"),
        ("cast(source.id as array<int>) is null", "no cast to ARRAY<INT>"),
        ("map(source.id) is null", "pyarrow expression"),
        ("element_at(source.id, 1) is null", "pyarrow expression"),
        ("-- nothing", "not an SQL expression|expected one SQL expression"),
        ("source.key = source.name", "expected uuid, got string"),
        (5, "got int"),
        (pc.field("source.id"), "expected a boolean, got bigint"),
    ],
)
def test_merge_condition_error_names_clause_and_part(table, text, problem):
    before = len(table.snapshots())
    merge = table.merge(table.scan().to_arrow(), on=["id"]).when_matched_update(condition="source.id < 0")
    merge = merge.when_matched_delete(text)
    with pytest.raises(ValidationError, match=rf"(?s).*{problem}"):
        table.merge(table.scan().to_arrow(), on=["id"]).when_matched_delete(text).execute()
    if isinstance(text, str):
        with pytest.raises(ValidationError, match=r"clause 2 \(when_matched_delete\), condition"):
            merge.execute()
    assert len(table.snapshots()) == before


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("de", r"clause 1 .*value of column 'name' 'de'.*quote it: \"'de'\""),
        ("id", "expected a side .*write source.id or target.id"),
        ("source.nope", "no column 'source.nope'"),
        ("source.place.nope", "no field 'nope'; expected one of Country"),
        ("source.raw.x", "no named fields"),
    ],
)
def test_merge_value_error_suggests_quotes_for_an_unknown_column(table, value, problem):
    merge = table.merge(table.scan().to_arrow(), on=["id"]).when_matched_update({"name": value})
    with pytest.raises(ResolveError, match=problem):
        merge.execute()


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"id": "source.name"}, 'the text "it\'s" is no bigint'),
        ({"id": "source.place"}, "column 'id'"),
        ({"price": "99999999999.5"}, "column 'price'"),
        ({"four": "X'01'"}, "column 'four'"),
        ({"id": "X'01'"}, "expected bigint, got binary"),
        ({"key": "'nope'"}, "expected a uuid, got 'nope'"),
        ({"key": 5}, "column 'key'"),
        ({"day": "true"}, "expected date, got boolean"),
        ({"nope": 1}, "no column 'nope' to set"),
    ],
)
def test_merge_value_error_names_the_column(table, values, problem):
    before = len(table.snapshots())
    merge = table.merge(table.scan("id = 1").to_arrow(), on=["id"]).when_matched_update(values)
    with pytest.raises((SchemaMismatchError, ValidationError), match=problem):
        merge.execute()
    assert len(table.snapshots()) == before


def test_merge_insert_condition_reads_the_source_alone(table):
    merge = table.merge(table.scan().to_arrow(), on=["id"])
    with pytest.raises(ResolveError, match=r"no column 'target\.id'"):
        merge.when_not_matched_insert(condition="target.id = 1").execute()


def test_merge_reads_columns_of_the_source_alone(table):
    source = pa.table(
        {"id": [1, 2], "op": pa.array(["D", None]).dictionary_encode(), "n": pa.array([1, 2], pa.uint8())}
    )
    assert (
        table.merge(source, on=["id"]).when_matched_delete("source.op = 'D' and source.n < 2").execute().rows_deleted
        == 1
    )
    merge = table.merge(source, on=["id"]).when_matched_update({"id": "source.n"}, NotEqualTo("source.n", 7))
    assert merge.execute().rows_updated == 1


@pytest.mark.parametrize("key", ["raw", "four", "key", "price", "day", "local", "at", "clock", "name", "score"])
def test_merge_joins_on_keys_of_every_type(table, key):
    result = (
        table.merge(table.scan("id = 1").to_arrow(), on=[key]).when_matched_delete().when_not_matched_insert().execute()
    )
    assert (result.rows_deleted, result.rows_inserted) == (1, 0)


def test_merge_keys_that_are_nan_match_and_negative_zero_matches_zero(catalog):
    table = catalog.create_table("db.keys", pa.schema([("x", pa.float64()), ("n", pa.int64())]))
    table.append(pa.table({"x": [float("nan"), 0.0, None], "n": [1, 2, 3]}))
    source = pa.table({"x": [float("nan"), -0.0, None], "n": [4, 5, 6]})
    result = table.merge(source, on=["x"]).when_matched_update({"n": "source.n"}).when_not_matched_insert().execute()
    assert (result.rows_updated, result.rows_inserted) == (2, 1)


def test_merge_condition_has_thousands_of_terms(table):
    assert deleted(table, f"source.id in ({', '.join(str(n) for n in range(3, 10_000))})") == (False, False)
    assert deleted(table, " or ".join(f"source.id = {n}" for n in range(10_000, 0, -1))) == (True, True)


@pytest.mark.parametrize(
    ("pattern", "regex"),
    [
        ("a%", "a.*"),
        (r"a\\%", r"a\\.*"),
        (r"%\\", r".*\\"),
        (r"%\\%", r".*\\.*"),
        (r"%\\_", r".*\\."),
        (r"a\%", "a%"),
        (r"%\_%", ".*_.*"),
        (r"\\\%%", r"\\%.*"),
        (r"a\\", r"a\\"),
        (r"%.\\n%", r".*\.\\n.*"),
    ],
)
def test_like_matches_the_texts_of_a_pattern(catalog, pattern, regex):
    texts = ["a", "a\\", "a\\b", "a\\\\", "\\", "b\\\n", "a%", "_", "\\%x\n", "x_y", ".\\n", "ab\\\nc", "", "a\n"]
    table = catalog.create_table("db.patterns", pa.schema([("s", pa.string())]))
    table.append(pa.table({"s": texts}))
    quoted = pattern.replace("\\", "\\\\")
    table.delete(f"concat(s, '') like '{quoted}'")
    left = [text for text in texts if re.fullmatch(regex, text, re.DOTALL) is None]
    assert sorted(table.scan().to_arrow()["s"].to_pylist()) == sorted(left)
