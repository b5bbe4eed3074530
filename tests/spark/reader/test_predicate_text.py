"""Filters as text of Spark SQL conditions."""

from __future__ import annotations

import itertools
import json

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.exceptions import FeatureUnsupportedError, ResolveError
from icefloe.expressions import EqualTo, In, Or, StartsWith
from icefloe.spark.reader.predicate_text import predicate_text
from icefloe.spark.session import settings

from tests.spark.gateway_calls import recorded_calls

KINDS = ("boolean", "int", "long", "float", "double", "decimal(9,2)", "date", "timestamp", "timestamptz", "string")
SCHEMA = {
    "type": "struct",
    "fields": [
        *({"id": number, "name": kind, "required": False, "type": kind} for number, kind in enumerate(KINDS)),
        {"id": 20, "name": "raw", "required": False, "type": "binary"},
        {
            "id": 21,
            "name": "in`ner",
            "required": False,
            "type": {"type": "struct", "fields": [{"id": 22, "name": "x", "required": False, "type": "int"}]},
        },
    ],
}


def leaf(kind, term, value):
    return {"type": kind, "term": term, "value": value}


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (True, "true"),
        ({"type": "not", "child": {"type": "true"}}, "false"),
        (leaf("lt", "int", -5), "(`int` < -5)"),
        (leaf("eq", "long", 5000000000), "(`long` = 5000000000)"),
        (leaf("not-eq", "string", "a b"), "(`string` != 'a b')"),
        (leaf("eq", "string", "it's"), "(`string` = CAST(X'69742773' AS STRING))"),
        (leaf("eq", "string", "${x}"), "(`string` = CAST(X'247b787d' AS STRING))"),
        (leaf("eq", "string", "a\\n"), "(`string` = CAST(X'615c6e' AS STRING))"),
        (leaf("gt-eq", "decimal(9,2)", "1E+3"), "(`decimal(9,2)` >= 1000BD)"),
        (leaf("eq", "date", "2026-01-31"), "(`date` = CAST('2026-01-31' AS date))"),
        (leaf("eq", "boolean", True), "(`boolean` = CAST('True' AS boolean))"),
        (
            leaf("eq", "timestamptz", "2026-01-31T00:00:00"),
            "(`timestamptz` = CAST('2026-01-31T00:00:00+00:00' AS TIMESTAMP_LTZ))",
        ),
        (leaf("eq", "raw", "00ff"), "(`raw` = X'00ff')"),
        (leaf("eq", "in`ner.x", 1), "(`in``ner`.`x` = 1)"),
        (leaf("gt", "float", 1.5), "(`float` > CAST('1.5' AS float) AND NOT coalesce(isnan(`float`), false))"),
        (leaf("eq", "double", 0), "((`double` + CAST(0.0D AS double)) = CAST('0' AS double))"),
        ({"type": "in", "term": "int", "values": [1, 2]}, "(`int` IN (1, 2))"),
        ({"type": "in", "term": "int", "values": []}, "(false)"),
        ({"type": "not", "child": {"type": "is-null", "term": "int"}}, "(`int` IS NOT NULL)"),
        ({"type": "not-nan", "term": "double"}, "(NOT coalesce(isnan(`double`), false))"),
    ],
)
def test_predicate_is_text_that_no_setting_changes(predicate, expected):
    assert predicate_text(predicate, SCHEMA) == expected


def test_chain_of_one_operator_has_one_pair_of_parentheses():
    chain = leaf("eq", "int", 0)
    for number in range(1, 3):
        chain = {"type": "or", "left": chain, "right": leaf("eq", "int", number)}
    assert predicate_text(chain, SCHEMA) == "((`int` = 0) or (`int` = 1) or (`int` = 2))"
    assert predicate_text(chain, SCHEMA, negated=True) == "((`int` != 0) and (`int` != 1) and (`int` != 2))"


@pytest.mark.parametrize(
    ("predicate", "error", "text"),
    [
        (leaf("eq", "missing", 1), ResolveError, "there is no column 'missing'"),
        (leaf("eq", {"type": "transform"}, 1), FeatureUnsupportedError, "no transform of the table format"),
        (leaf("near", "int", 1), FeatureUnsupportedError, "got 'near'"),
    ],
)
def test_predicate_that_spark_does_not_have_is_refused(predicate, error, text):
    with pytest.raises(error, match=text):
        predicate_text(predicate, SCHEMA)


NAMES = ("plain", "a`b", "${spark.app.name}", "é x", "it's")
TEXTS = ("a", "it's", '"q"', "${spark.app.name}", "back\\slash", "\\u0041", "é\U0001f600", "", "--x", "\n", "%_")


@pytest.fixture(scope="module")
def texts(catalog):
    """Return a table whose every column has every text, in rows of all rotations."""
    columns = {name: list(TEXTS[number:] + TEXTS[:number]) for number, name in enumerate(NAMES)}
    table = catalog.create_table("db.texts", pa.table(columns).schema)
    table.append(pa.table(columns))
    return table, columns


@pytest.mark.parametrize("escaped", ["false", "true"])
def test_filters_of_any_text_and_name_select_the_rows(spark, texts, escaped):
    table, columns = texts
    rows = list(zip(*columns.values(), strict=True))
    keys = {"spark.sql.parser.escapedStringLiterals": escaped, "spark.sql.parquet.fieldId.read.enabled": "true"}
    with settings(spark, keys):
        for index, name in enumerate(NAMES):
            cases = [(EqualTo(name, text), lambda value, text=text: value == text) for text in TEXTS]
            cases += [(StartsWith(name, text), lambda value, text=text: value.startswith(text)) for text in TEXTS[1:6]]
            cases += [(In(name, TEXTS[2:8]), lambda value: value in TEXTS[2:8])]
            for chosen, holds in cases:
                frame = icefloe.spark.read(table, spark=spark, filter=chosen)
                assert sorted(map(tuple, frame.collect())) == sorted(row for row in rows if holds(row[index])), chosen


def test_filter_of_many_alternatives_is_read(spark, new_table):
    table = new_table(icefloe.schema.Schema(icefloe.types.NestedField(1, "id", icefloe.types.LongType())))
    table.append(pa.table({"id": range(3000)}))
    chosen = EqualTo("id", 0)
    for number in range(2, 1000, 2):
        chosen = Or(chosen, EqualTo("id", number))
    assert icefloe.spark.read(table, spark=spark, filter=chosen).count() == 500


def test_filter_takes_the_same_number_of_calls_whatever_its_length(spark, texts):
    table, _ = texts
    counts = []
    for count in (1, 10):
        chosen = " or ".join(f"plain = '{number}'" for number in range(count))
        with recorded_calls() as calls:
            icefloe.spark.read(table, spark=spark, filter=chosen)
        counts.append(len(calls))
    assert counts[0] == counts[1]


def test_every_operator_is_text_that_spark_parses(spark):
    values = {"boolean": True, "string": "x", "date": "2026-01-31", "timestamp": "2026-01-31T01:02:03.000001"}
    values |= {"timestamptz": "2026-01-31T01:02:03+00:00", "decimal(9,2)": "-1.50"}
    struct = icefloe.spark.to_spark_schema(json.dumps(SCHEMA))
    frame = spark.createDataFrame([], struct)
    comparisons = ("lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq")
    for kind, operator in itertools.product(KINDS, comparisons):
        frame = frame.where(predicate_text(leaf(operator, kind, values.get(kind, -1)), SCHEMA))
    assert frame.schema == struct
