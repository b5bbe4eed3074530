"""Predicates on transforms of columns: text, objects, JSON, binding."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.exceptions import FeatureUnsupportedError, ResolveError, ValidationError
from icefloe.expressions import (
    AlwaysFalse,
    BoundEqualTo,
    BoundIsNull,
    BoundNotNull,
    BoundReference,
    BoundTransform,
    EqualTo,
    GreaterThan,
    In,
    IsNull,
    LessThan,
    Not,
    NotEqualTo,
    StartsWith,
    UnboundTransform,
    bind,
)
from icefloe.expressions.literals import literal
from icefloe.expressions.parser import parse
from icefloe.expressions.rest_json import expression_from_json, expression_to_json
from icefloe.schema import Schema
from icefloe.transforms import BucketTransform, MonthTransform, TruncateTransform, YearTransform
from icefloe.typedef import Record
from icefloe.types import NestedField, StructType

SCHEMA = Schema(
    NestedField(1, "id", "long", required=True),
    NestedField(2, "name", "string"),
    NestedField(3, "ts", "timestamp"),
    NestedField(4, "place", StructType(NestedField(5, "code", "int"))),
    NestedField(6, "ratio", "double"),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bucket(16, id) = 3", EqualTo(UnboundTransform("id", BucketTransform(16)), 3)),
        ("3 < BUCKET ( 16 , id )", GreaterThan(UnboundTransform("id", "bucket[16]"), 3)),
        ("truncate(3, name) = 'abc'", EqualTo(UnboundTransform("name", TruncateTransform(3)), "abc")),
        ("truncate(3, name) like 'a%'", StartsWith(UnboundTransform("name", "truncate[3]"), "a")),
        ("years(ts) = 2026", EqualTo(UnboundTransform("ts", YearTransform()), 56)),
        ("year(ts) in (1969, 2026)", In(UnboundTransform("ts", "year"), (-1, 56))),
        ("months(ts) < '1970-03'", LessThan(UnboundTransform("ts", MonthTransform()), 2)),
        ("hours(ts) = '1970-01-02-01'", EqualTo(UnboundTransform("ts", "hour"), 25)),
        ("bucket(4, place.code) is null", IsNull(UnboundTransform("place.code", "bucket[4]"))),
        ('bucket(4, "bucket") = 1', EqualTo(UnboundTransform("bucket", "bucket[4]"), 1)),
        ("bucket = 1", EqualTo("bucket", 1)),
    ],
)
def test_parse_returns_predicates_on_transforms(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("upper(name) = 'A'", "expected a column or one of bucket, truncate"),
        ("bucket(id) = 1", "expected a whole number"),
        ("bucket(1.5, id) = 1", "expected a whole number"),
        ("bucket(0, id) = 1", "num_buckets"),
        ("years(ts, 1) = 1", r"expected `\)`"),
        ("years() = 1", "expected a column name"),
    ],
)
def test_parse_error_on_a_transform_shows_the_problem(text, problem):
    with pytest.raises(ValidationError, match=problem):
        parse(text)


def test_predicate_on_a_transform_has_the_json_of_the_rest_specification():
    expression = parse("bucket(16, place.code) in (1, 2)")
    text = '{"type":"in","term":{"type":"transform","transform":"bucket[16]","term":"place.code"},"values":[1,2]}'
    assert expression_to_json(expression) == text
    assert expression_from_json(text) == expression
    assert expression_to_json(bind(SCHEMA, expression)) == text
    assert pickle.loads(pickle.dumps(expression)) == expression


def test_expression_from_json_accepts_reference_objects():
    assert expression_from_json('{"type":"is-null","term":{"type":"reference","term":"id"}}') == IsNull("id")


@pytest.mark.parametrize("term", ['{"type":"transform","term":"id"}', '{"type":"transform","transform":"year"}', "5"])
def test_expression_from_json_refuses_an_invalid_term(term):
    with pytest.raises(ValidationError, match="must be text"):
        expression_from_json(f'{{"type":"is-null","term":{term}}}')


def test_bind_converts_literals_to_the_result_type_of_a_transform():
    bound = bind(SCHEMA, EqualTo(UnboundTransform("ID", "bucket[16]"), "3"), case_sensitive=False)
    assert isinstance(bound, BoundEqualTo)
    assert isinstance(bound.term, BoundTransform)
    assert (bound.term.ref().field.name, bound.literal) == ("id", literal(3))
    assert bound.term.eval(Record(34, None, None, None, None)) == 3
    assert bind(SCHEMA, EqualTo(UnboundTransform("ts", "year"), "2026")).literal == literal(56)


def test_bind_folds_null_and_nan_predicates_on_transforms():
    assert isinstance(bind(SCHEMA, EqualTo(UnboundTransform("id", "identity"), 3)).term, BoundReference)
    assert bind(SCHEMA, IsNull(UnboundTransform("id", "bucket[4]"))) == AlwaysFalse()
    assert isinstance(bind(SCHEMA, IsNull(UnboundTransform("name", "bucket[4]"))), BoundIsNull)
    assert bind(SCHEMA, EqualTo(UnboundTransform("name", "void"), "a")) == AlwaysFalse()
    assert bind(SCHEMA, NotEqualTo(UnboundTransform("name", "void"), "a")) == AlwaysFalse()
    assert bind(SCHEMA, Not(EqualTo(UnboundTransform("name", "void"), "a"))) == AlwaysFalse()
    beyond = bind(SCHEMA, LessThan(UnboundTransform("name", "bucket[4]"), 2**40))
    assert isinstance(beyond, BoundNotNull)
    assert isinstance(beyond.term, BoundReference)


@pytest.mark.parametrize(
    ("expression", "error", "named"),
    [
        (EqualTo(UnboundTransform("nowhere", "bucket[4]"), 1), ResolveError, "nowhere"),
        (EqualTo(UnboundTransform("ratio", "bucket[4]"), 1), ValidationError, r"bucket\[4\]\(ratio\)"),
        (EqualTo(UnboundTransform("place.code", "bucket[4]"), "x"), ValidationError, r"bucket\[4\]\(place.code\)"),
        (StartsWith(UnboundTransform("ts", "year"), "2"), ValidationError, r"year\(ts\)"),
        (EqualTo(UnboundTransform("id", "zorder[4]"), 1), FeatureUnsupportedError, "zorder"),
    ],
)
def test_bind_and_the_core_refuse_the_same_predicates(expression, error, named):
    with pytest.raises(error, match=named):
        bind(SCHEMA, expression)
    batch = pa.record_batch({"id": pa.array([1])})
    with pytest.raises(error, match=named):
        _core.filter_rows(SCHEMA.model_dump_json(), expression_to_json(expression), batch)
