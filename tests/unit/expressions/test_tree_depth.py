"""Depth of expressions: long chains stay within the interpreter's stack, and deep nesting is refused."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysFalse, AlwaysTrue, EqualTo, Not, NotEqualTo, bind
from icefloe.expressions.parser import parse
from icefloe.expressions.rest_json import expression_from_json, expression_to_json
from icefloe.expressions.tree import MAX_DEPTH
from icefloe.expressions.visitors import column_names, rewrite_not
from icefloe.schema import Schema
from icefloe.types import NestedField

SCHEMA = Schema(NestedField(1, "x", "long"), NestedField(2, "y", "long"))
TERMS = 10_000


def of_text():
    return parse(" or ".join(f"x = {n}" for n in range(TERMS)))


def from_the_left():
    expression = AlwaysFalse()
    for n in range(TERMS):
        expression = expression | EqualTo("x", n)
    return expression


def from_the_right():
    expression = AlwaysFalse()
    for n in range(TERMS):
        expression = EqualTo("x", n) | expression
    return expression


@pytest.mark.parametrize("made", [of_text, from_the_left, from_the_right])
def test_long_chain_binds_serializes_and_evaluates(made):
    expression = made()
    text = expression_to_json(expression)
    assert expression_from_json(text) == expression
    assert len(list(column_names(expression))) == TERMS
    assert pickle.loads(pickle.dumps(expression)) == expression
    assert rewrite_not(~rewrite_not(~expression)) == expression
    assert expression_to_json(bind(SCHEMA, expression)) == text
    assert hash(expression) == hash(expression_from_json(text))
    assert repr(expression).count("EqualTo") == TERMS
    rows = pa.record_batch({"x": pa.array([0, TERMS - 1, TERMS, None])})
    assert _core.filter_rows(SCHEMA.model_dump_json(), text, rows).to_pylist() == [True, True, False, False]


def test_chain_keeps_the_order_of_its_operands():
    expression = AlwaysTrue()
    for n in range(1000):
        expression = expression & NotEqualTo("x", n)
    assert [part["value"] for part in leaves(expression_from_json(expression_to_json(expression)))] == list(range(1000))


def leaves(expression):
    if hasattr(expression, "left"):
        return leaves(expression.left) + leaves(expression.right)
    return [{"value": expression.literal.value}]


def alternating(levels):
    expression = EqualTo("x", 0)
    for n in range(levels):
        expression = (expression & EqualTo("x", n)) | EqualTo("y", n)
    return expression


def denied(levels):
    expression = EqualTo("x", 0)
    for n in range(levels):
        expression = Not(expression & EqualTo("y", n))
    return expression


@pytest.mark.parametrize("nested", [alternating, denied])
def test_constructor_refuses_deep_nesting(nested):
    deepest = nested(MAX_DEPTH // 2)
    text = expression_to_json(deepest)
    assert expression_from_json(text) == deepest
    rows = pa.record_batch({"x": pa.array([0]), "y": pa.array([0])})
    assert len(_core.filter_rows(SCHEMA.model_dump_json(), text, rows)) == 1
    with pytest.raises(ValidationError, match=f"more than {MAX_DEPTH} deep"):
        nested(TERMS)


@pytest.mark.parametrize("text", ["not " * TERMS + "x = 1", "(" * TERMS + "x = 1" + ")" * TERMS])
def test_parse_refuses_deep_nesting(text):
    with pytest.raises(ValidationError, match="no more than 100 levels"):
        parse(text)


@pytest.mark.parametrize("depth", [128, 10_000])
def test_expression_from_json_refuses_deep_nesting(depth):
    text = '{"type":"not","child":' * depth + "true" + "}" * depth
    with pytest.raises(ValidationError, match=f"more than {MAX_DEPTH} deep"):
        expression_from_json(text)
    with pytest.raises(ValidationError, match="nests too deep; expected at most 127 levels"):
        _core.filter_rows(SCHEMA.model_dump_json(), text, pa.record_batch({"x": pa.array([1])}))
