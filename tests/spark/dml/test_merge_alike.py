"""A merge in Python and the same merge in Spark give the same table."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from decimal import Decimal

import icefloe.spark
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import IcebergError, ResolveError, SchemaMismatchError, ValidationError
from icefloe.expressions import literal
from icefloe.schema import Schema
from icefloe.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)
from pyspark.sql import functions as F  # noqa: N812

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "n", LongType()),
    NestedField(3, "x", DoubleType()),
    NestedField(4, "price", DecimalType(12, 2)),
    NestedField(5, "name", StringType()),
    NestedField(6, "raw", BinaryType()),
    NestedField(7, "flag", BooleanType()),
    NestedField(8, "day", DateType()),
    NestedField(9, "at", TimestamptzType()),
    NestedField(10, "place", StructType(NestedField(11, "city", StringType()))),
)
MODES = ["merge-on-read", "copy-on-write"]


def row(key, n):
    """Return a row whose values cycle through ordinary, special and null values."""
    moment = datetime(2026, 1, 1 + n % 28, 10, 30, tzinfo=timezone.utc)
    return {
        "id": key,
        "n": None if n % 5 == 0 else n,
        "x": [1.5, math.nan, -0.0, 0.0, None, math.inf][n % 6],
        "price": None if n % 7 == 0 else Decimal(n) / 4,
        "name": [None, "de", "it's", "", "Straße"][n % 5],
        "raw": [b"", None, b"\x00\xff"][n % 3],
        "flag": [True, False, None][n % 3],
        "day": None if n % 4 == 0 else moment.date(),
        "at": None if n % 6 == 0 else moment,
        "place": None if n % 3 == 0 else {"city": f"c{n % 4}"},
    }


def source_rows():
    """Return rows with the keys 10 to 40 and an operation each, and two rows with null keys."""
    rows = [{**row(key, key * 7), "op": "UDI"[key % 3]} for key in range(10, 40)]
    schema = pa.schema([*SCHEMA.as_arrow(), ("op", pa.string())])
    plain = pa.schema([field.remove_metadata() for field in schema])
    return pa.Table.from_pylist([*rows, {**row(None, 3), "op": "I"}, {**row(None, 4), "op": "U"}], schema=plain)


ALL_CLAUSES = {
    "all columns": lambda merge: merge.when_matched_update().when_not_matched_insert(),
    "operations": lambda merge: (
        merge.when_matched_delete("source.op = 'D'")
        .when_matched_update({"n": "target.n + source.n", "name": "'merged'"}, "source.op == 'U'")
        .when_not_matched_insert({"id": "source.id", "name": "upper(source.name)"}, "source.op <> 'D'")
    ),
    "newer": lambda merge: merge.when_matched_update(
        {"x": "source.x", "price": "source.price * 1.19", "flag": "source.raw = target.raw", "day": "source.at"},
        "source.at > target.at or source.x = target.x",
    ),
    "guarded": lambda merge: merge.when_matched_update(
        {"x": "target.n / source.n"}, "source.n <> 0 and source.n % 2 = 1"
    ),
    "three-valued": lambda merge: (
        merge.when_matched_delete("source.name not in ('de', null)")
        .when_matched_delete("not (target.x < 1)")
        .when_matched_update({"name": "coalesce(source.name, target.name, 'none')"}, "source.flag <=> target.flag")
    ),
    "dates and texts": lambda merge: (
        merge.when_matched_delete("source.day < '2026-01-09 12:00:00' and source.day <> '2026-1-8'")
        .when_matched_update(
            {"day": "cast('2026-03-04 23:59' as date)"}, "target.day in ('2026-01-20T10', '2026-01-23')"
        )
        .when_matched_update({"name": "'late'"}, "target.day >= '2026-01'")
    ),
    "fields": lambda merge: (
        merge.when_matched_update({"place.city": "source.name", "n": "source.n"}, "source.op <> 'D'")
        .when_matched_update({"place.city": "concat(target.place.city, '!')"})
        .when_not_matched_by_source_update({"place.city": "target.name"}, "target.n % 2 = 0")
        .when_not_matched_insert({"id": "source.id", "place": "source.place"})
    ),
    "by source": lambda merge: (
        merge.when_matched_update({"place": "source.place"}, "source.place.city like 'c1%'")
        .when_not_matched_by_source_delete("target.n between 3 and 9")
        .when_not_matched_by_source_update({"name": "concat('old ', target.name)", "n": "-target.n"}, "target.flag")
    ),
    "literals": lambda merge: merge.when_matched_update(
        {
            "name": literal("it's"),
            "n": 5,
            "price": Decimal("1.10"),
            "raw": "X'0a'",
            "flag": "null",
            "day": "date '2026-02-28'",
        },
        "target.raw in (X'00ff', X'')",
    ).when_not_matched_insert({"id": "source.id", "x": "'1e3'", "at": "timestamp '2026-01-31 10:00:00+01:00'"}),
}


@pytest.fixture
def utc(spark):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


def filled(new_table, mode="merge-on-read"):
    table = new_table(SCHEMA, write__merge__mode=mode)
    for start in (0, 12):
        rows = [row(key, key) for key in range(start, start + 12)]
        table.append(pa.Table.from_pylist(rows, schema=SCHEMA.as_arrow()))
    return table


def content(table):
    rows = table.scan().to_arrow().to_pylist()
    return sorted(repr(list(row.values())) for row in rows)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ALL_CLAUSES)
def test_merge_returns_the_same_table_in_python_and_spark(utc, new_table, name, mode):
    ours, sparks = filled(new_table, mode), filled(new_table, mode)
    before = content(ours)
    source = source_rows()
    one = ALL_CLAUSES[name](ours.merge(source, on=["id"])).execute()
    other = ALL_CLAUSES[name](icefloe.spark.merge_into(sparks, utc.createDataFrame(source), on=["id"])).execute()
    assert (one.rows_updated, one.rows_deleted, one.rows_inserted) == (
        other.rows_updated,
        other.rows_deleted,
        other.rows_inserted,
    )
    assert content(ours) == content(sparks.refresh()) != before


def test_merge_refuses_repeated_matches_only_if_several_change_the_row(utc, new_table):
    source = pa.table({"id": [1, 1, 2], "n": [1, 2, 3]})
    for condition, refused in (("source.n <> 2", False), ("source.n > 0", True)):
        ours, sparks = filled(new_table), filled(new_table)
        merges = [
            ours.merge(source, on=["id"]),
            icefloe.spark.merge_into(sparks, utc.createDataFrame(source), on=["id"]),
        ]
        for merge in merges:
            merge.when_matched_update({"n": "source.n"}, condition)
            if refused:
                with pytest.raises(ValidationError, match="everal source rows"):
                    merge.execute()
            else:
                assert merge.execute().rows_updated == 2
        assert content(ours.refresh()) == content(sparks.refresh())


@pytest.mark.parametrize(
    ("values", "condition", "kind", "problem"),
    [
        ({"name": "de"}, None, ResolveError, r"clause 1 .*value of column 'name' 'de'.*quote it: \"'de'\""),
        ({"name": "new york"}, None, ValidationError, "clause 1 .*value of column 'name' 'new york'"),
        ({"name": "'x'"}, "source.nope = 1", ResolveError, r"clause 1 .*condition 'source\.nope = 1'"),
        ({"name": "'x'"}, "source.id = ", ValidationError, "clause 1 .*condition"),
        ({"name": "'x'"}, "source.id", ValidationError, "clause 1 .*condition"),
        ({"day": "source.flag"}, None, IcebergError, "clause 1 .*value of column 'day'"),
    ],
)
def test_merge_error_names_the_clause_in_python_and_spark(utc, new_table, values, condition, kind, problem):
    source = source_rows()
    ours, sparks = filled(new_table), filled(new_table)
    for merge in (
        ours.merge(source, on=["id"]),
        icefloe.spark.merge_into(sparks, utc.createDataFrame(source), on=["id"]),
    ):
        with pytest.raises(kind, match=problem):
            merge.when_matched_update(values, condition).execute()
    assert len(ours.refresh().snapshots()) == len(sparks.refresh().snapshots()) == 2


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ("source.n = 1", "false", r"clause 2 \(when_matched_delete\): the clause can never apply; .*got 'false'"),
        ("source.n = 1", "NULL", r"clause 2 \(when_matched_delete\): the clause can never apply; .*got 'NULL'"),
        ("true", "source.n = 1", r"clause 2 \(when_matched_delete\): the clause can never apply; .*got 'true'"),
        (None, "source.n = 1", r"clause 2 \(when_matched_delete\): the clause can never apply"),
    ],
)
def test_merge_refuses_a_clause_that_never_applies_in_python_and_spark(utc, new_table, first, second, problem):
    source = source_rows()
    ours, sparks = filled(new_table), filled(new_table)
    for merge in (
        ours.merge(source, on=["id"]),
        icefloe.spark.merge_into(sparks, utc.createDataFrame(source), on=["id"]),
    ):
        merge.when_matched_delete(first)
        with pytest.raises(ValidationError, match=problem):
            merge.when_matched_delete(second)


@pytest.mark.parametrize("value", ["'de'", F.lit, literal], ids=["text", "F.lit", "literal"])
def test_merge_in_spark_accepts_every_form_of_a_literal_text(utc, new_table, value):
    table = filled(new_table)
    given = value if isinstance(value, str) else value("de")
    source = utc.createDataFrame([(1,)], "id long")
    icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update({"name": given}).execute()
    assert table.refresh().scan("id = 1").to_arrow().column("name").to_pylist() == ["de"]


@pytest.mark.parametrize("name", ["day", "at", "raw", "price", "x", "flag"])
def test_merge_in_spark_accepts_icefloe_literals(utc, new_table, name):
    table = filled(new_table)
    expected = table.scan("id = 9").to_arrow().column(name).to_pylist()
    source = utc.createDataFrame([(1,)], "id long")
    value = literal(expected[0])
    icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update({name: value}).execute()
    assert table.refresh().scan("id = 1").to_arrow().column(name).to_pylist() == expected


@pytest.mark.parametrize("key", ["x", "price", "name", "raw", "flag", "day", "at"])
def test_merge_matches_the_same_keys_in_python_and_spark(utc, new_table, key):
    tables = [new_table(SCHEMA) for _ in range(2)]
    # One row for each value: the table has -0.0, the source 0.0.
    existing = {str(row(n, n)[key]): row(n, n) for n in range(24) if str(row(n, n)[key]) != "0.0"}
    given = {str(row(n, n)[key]): row(n, n) for n in range(10, 50) if str(row(n, n)[key]) != "-0.0"}
    for table in tables:
        table.append(pa.Table.from_pylist(list(existing.values()), schema=SCHEMA.as_arrow()))
    kind = SCHEMA.as_arrow().field(key).type
    source = pa.table({key: pa.array([one[key] for one in given.values()], kind), "n": range(len(given))})
    ours, sparks = tables
    merges = ours.merge(source, on=[key]), icefloe.spark.merge_into(sparks, utc.createDataFrame(source), on=[key])
    results = [
        merge.when_matched_update({"n": "source.n"}).when_not_matched_insert({key: f"source.{key}"}).execute()
        for merge in merges
    ]
    assert results[0].rows_updated == results[1].rows_updated > 0
    assert content(ours) == content(sparks.refresh())


@pytest.mark.parametrize(
    "on",
    [
        "target.id <=> source.id and target.n <=> source.n",
        "target.id = source.ID and target.flag <=> source.flag",
        "target.day <=> source.day and target.raw = source.raw and target.id = source.id",
    ],
)
def test_merge_on_null_safe_keys_is_alike_in_python_and_spark(utc, new_table, on):
    tables = [new_table(SCHEMA) for _ in range(2)]
    for table in tables:
        table.append(pa.Table.from_pylist([row(n, n) for n in range(20)], schema=SCHEMA.as_arrow()))
    source = pa.Table.from_pylist([row(n, n + n % 2) for n in range(5, 30)], schema=source_rows().schema.remove(10))
    ours, sparks = tables
    merges = ours.merge(source, on=on), icefloe.spark.merge_into(sparks, utc.createDataFrame(source), on=on)
    results = [
        merge.when_matched_update({"x": "100"}).when_not_matched_insert({"id": "source.id + 100"}).execute()
        for merge in merges
    ]
    assert results[0] == results[1]
    assert results[0].rows_updated > 0
    assert results[0].rows_inserted > 0
    assert content(ours) == content(sparks.refresh())


def test_update_error_suggests_quotes_for_an_unknown_column(utc, new_table):
    table = filled(new_table)
    with pytest.raises(ResolveError, match=r"update, value of column 'name' 'de'.*quote it: \"'de'\""):
        icefloe.spark.update(table, {"name": "de"}, spark=utc)


def test_update_stores_a_datetime_without_a_zone_as_it_is(spark, new_table):
    local = Schema(NestedField(1, "id", LongType()), NestedField(2, "local", TimestampType()))
    table, moment = new_table(local), datetime(2026, 7, 1, 10, 30)
    table.append(pa.table({"id": [1], "local": [moment]}, schema=local.as_arrow()))
    icefloe.spark.update(table, {"local": datetime(1969, 12, 31, 23, 59, 59, 999999)}, spark=spark)
    assert table.scan().to_arrow().column("local").to_pylist() == [datetime(1969, 12, 31, 23, 59, 59, 999999)]


ON = [
    "target.id = source.id and source.n > target.n * 6",
    "target.id = source.id + 8 and source.op in ('U', 'I')",
    "target.day = source.at and target.id <= source.id",
    "target.x = source.x or target.id = source.id and target.flag",
    "target.id between source.id - 1 and source.id and source.n % 4 = 0",
    "target.place.city = source.name and target.id = source.id",
]


@pytest.mark.parametrize("on", ON)
def test_merge_on_any_condition_is_alike_in_python_and_spark(utc, new_table, on):
    ours, sparks = filled(new_table), filled(new_table)
    source = source_rows()
    merges = ours.merge(source, on), icefloe.spark.merge_into(sparks, utc.createDataFrame(source), on)
    counts = []
    for merge in merges:
        merge.when_not_matched_by_source_update({"n": "target.n + 100"}, "target.id > 3")
        counts.append(merge.when_not_matched_insert({"id": "source.id + 1000", "n": "source.n"}).execute())
    assert counts[0] == counts[1]
    assert content(ours) == content(sparks.refresh())


def test_merge_in_spark_accepts_all_of_its_functions_in_the_condition_of_the_join(utc, new_table):
    table = filled(new_table)
    source = utc.createDataFrame([(1, "^d"), (2, "^d"), (7, "ße$")], "id long, pattern string")
    on = "target.id % 5 = source.id % 5 and target.name rlike source.pattern"
    merge = icefloe.spark.merge_into(table, source, on).when_matched_update({"place.city": "source.pattern"})
    expected = sum(one["name"] is not None and one["name"].startswith("d") for one in (row(n, n) for n in range(24)))
    assert merge.execute().rows_updated == expected


def test_merge_in_spark_refuses_expressions_in_the_condition_of_the_join(utc, new_table):
    with pytest.raises(ValidationError, match="merge, on: expected names of columns or SQL text, got Expression"):
        icefloe.spark.merge_into(filled(new_table), utc.createDataFrame([(1,)], "id long"), pc.field("target.id") == 1)


def test_update_in_spark_sets_fields_within_structs(utc, new_table):
    table = filled(new_table)
    icefloe.spark.update(table, {"place.city": "name"}, "day < '2026-01-03 10:00:00'", spark=utc)
    found = {one["id"]: one["place"] for one in table.refresh().scan().to_arrow().to_pylist()}
    changed = {n: {"city": row(n, n)["name"]} for n in range(24) if row(n, n)["day"] and row(n, n)["day"].day < 3}
    assert found == {n: changed.get(n, row(n, n)["place"]) for n in range(24)}
    with pytest.raises(SchemaMismatchError, match="update: place has no field 'zip'; expected one of city"):
        icefloe.spark.update(table, {"place.zip": "1"}, spark=utc)


def test_merge_matches_the_fields_of_structs_by_name_in_python_and_spark(utc, new_table):
    pair = pa.struct([("a", pa.int64()), ("b", pa.int64())])
    schema = pa.schema([("id", pa.int64()), ("s", pair)])
    rows = pa.Table.from_pylist([{"id": 1, "s": {"a": 1, "b": 2}}], schema=schema)
    swapped = pa.struct([("b", pa.int64()), ("a", pa.int64())])
    source = pa.table({"id": [1], "s": pa.array([{"b": 20, "a": 10}], swapped)})
    for merge_of in (
        lambda table: table.merge(source, ["id"]),
        lambda table: icefloe.spark.merge_into(table, utc.createDataFrame(source), ["id"]),
    ):
        table = new_table(icefloe.spark.schema_from_spark(utc.createDataFrame(rows).schema))
        table.append(rows)
        merge_of(table).when_matched_update({"s": "source.s"}).execute()
        assert table.refresh().scan().to_arrow()["s"].to_pylist() == [{"a": 10, "b": 20}]
    with pytest.raises(
        SchemaMismatchError, match="update: the value of 's' has other fields; expected struct<a:bigint,b:bigint>"
    ):
        icefloe.spark.update(table, {"s": "struct(id, id)"}, spark=utc)
