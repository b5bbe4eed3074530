"""Expressions: building, folding, binding, literals, JSON."""

from __future__ import annotations

import json
import pickle
import uuid
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from icefloe import expressions
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import (
    AlwaysFalse,
    AlwaysTrue,
    And,
    BooleanExpression,
    BoundEqualTo,
    BoundIn,
    BoundNotNull,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNaN,
    IsNull,
    LessThan,
    Not,
    NotEqualTo,
    NotIn,
    NotNull,
    Or,
    Reference,
    StartsWith,
    UnboundTransform,
    bind,
)
from icefloe.expressions.literals import (
    DateLiteral,
    DecimalLiteral,
    IntAboveMax,
    IntBelowMin,
    Literal,
    LongAboveMax,
    LongLiteral,
    TimestampLiteral,
    literal,
)
from icefloe.expressions.rest_json import expression_from_json, expression_to_json
from icefloe.expressions.visitors import column_names, rewrite_not
from icefloe.schema import Schema
from icefloe.transforms import BucketTransform
from icefloe.types import NestedField, StructType, type_from_text

SCHEMA = Schema(
    NestedField(1, "id", "int", required=True),
    NestedField(2, "name", "string"),
    NestedField(3, "ts", "timestamptz"),
    NestedField(4, "price", "decimal(9, 2)"),
    NestedField(5, "at", StructType(NestedField(6, "x", "double", required=True))),
)

values = st.integers() | st.text() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
terms = st.text(min_size=1, max_size=4)
leaves = st.one_of(
    st.sampled_from([expressions.IsNull, expressions.NotNull, expressions.IsNaN, expressions.NotNaN]).flatmap(
        terms.map
    ),
    st.sampled_from([EqualTo, NotEqualTo, LessThan, GreaterThan, StartsWith]).flatmap(
        lambda kind: st.builds(kind, terms, values)
    ),
    st.sampled_from([In, NotIn]).flatmap(lambda kind: st.builds(kind, terms, st.lists(values, max_size=4))),
)
trees = st.recursive(
    leaves, lambda inner: st.builds(And, inner, inner) | st.builds(Or, inner, inner) | st.builds(Not, inner)
)


@given(trees)
def test_expression_round_trips_through_json_and_pickle(tree: BooleanExpression) -> None:
    assert expression_from_json(expression_to_json(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(pickle.loads(pickle.dumps(tree))) == hash(tree)


def parts(tree: BooleanExpression) -> list[BooleanExpression]:
    """Return an expression and all expressions within it."""
    children = [child for name in ("left", "right", "child") if (child := getattr(tree, name, None)) is not None]
    return [tree, *(part for child in children if isinstance(child, BooleanExpression) for part in parts(child))]


@given(trees)
def test_rewrite_not_removes_every_not(tree: BooleanExpression) -> None:
    assert not any(isinstance(part, Not) for part in parts(rewrite_not(tree)))
    assert set(column_names(rewrite_not(tree))) == set(column_names(tree))


def test_all_names_are_exported_in_order() -> None:
    assert expressions.__all__ == sorted(expressions.__all__)


def test_and_or_not_fold_constants() -> None:
    one = EqualTo("x", 1)
    assert And(one, AlwaysTrue()) == one
    assert And(one, AlwaysFalse()) == AlwaysFalse()
    assert Or(one, AlwaysFalse()) == one
    assert Not(Not(one)) == one
    assert In("x", []) == AlwaysFalse()
    assert NotIn("x", []) == AlwaysTrue()
    assert In("x", [1, 1]) == one
    assert ~one == NotEqualTo("x", 1)
    assert (one & IsNull("y")) == And(one, IsNull("y"))


def test_expression_is_immutable() -> None:
    with pytest.raises(AttributeError):
        EqualTo("x", 1).term = Reference("y")
    with pytest.raises(AttributeError):
        Not(EqualTo("x", 1)).child = AlwaysTrue()


def test_literal_refuses_none() -> None:
    with pytest.raises(ValidationError, match="IsNull"):
        EqualTo("x", None)
    with pytest.raises(ValidationError, match="not an expression"):
        And(EqualTo("x", 1), "y = 1")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (5, "int", LongLiteral(5)),
        (2**31, "int", IntAboveMax()),
        (-(2**31) - 1, "int", IntBelowMin()),
        ("9223372036854775808", "long", LongAboveMax()),
        (5, "decimal(9, 2)", DecimalLiteral(Decimal("5.00"))),
        ("1.5", "decimal(9, 2)", DecimalLiteral(Decimal("1.50"))),
        (Decimal("7.0"), "int", LongLiteral(7)),
        (date(2017, 11, 16), "date", DateLiteral(17486)),
        (date(1970, 1, 2), "timestamp", TimestampLiteral(86_400_000_000)),
        ("1970-01-01T00:00:00.000001+00:00", "timestamptz", TimestampLiteral(1)),
        (datetime(1970, 1, 1, 1, tzinfo=timezone.utc), "date", DateLiteral(0)),
        ("true", "boolean", literal(True)),
    ],
)
def test_literal_converts_to_the_type_of_the_column(value: Any, kind: str, expected: Literal) -> None:
    assert literal(value).to(type_from_text(kind)) == expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("five", "int"),
        (1.5, "int"),
        (True, "int"),
        (5, "string"),
        ("2017-11-16T00:00:00", "timestamptz"),
        ("2017-11-16T00:00:00+00:00", "timestamp"),
        (b"ab", "fixed[3]"),
        (float("nan"), "long"),
    ],
)
def test_literal_refuses_types_that_it_cannot_be_compared_with(value: Any, kind: str) -> None:
    with pytest.raises(ValidationError):
        literal(value).to(type_from_text(kind))


def test_bind_resolves_names_and_literals() -> None:
    bound = bind(SCHEMA, EqualTo("price", "1.5"))
    assert isinstance(bound, BoundEqualTo)
    assert bound.term.field.field_id == 4
    assert bound.literal == DecimalLiteral(Decimal("1.50"))
    nested = bind(SCHEMA, GreaterThan("at.x", 1))
    assert nested.term.eval((1, "a", 0, None, (2.5,))) == 2.5  # type: ignore[attr-defined]
    assert isinstance(bind(SCHEMA, In("ID", [1, 2, 2**40]), case_sensitive=False), BoundIn)


@pytest.mark.parametrize(
    ("predicate", "folded"),
    [
        (IsNull("id"), AlwaysFalse()),
        (NotNull("id"), AlwaysTrue()),
        (IsNaN("name"), AlwaysFalse()),
        (LessThan("id", 2**40), AlwaysTrue()),
        (EqualTo("id", 2**40), AlwaysFalse()),
        (NotEqualTo("id", 2**40), AlwaysTrue()),
        (In("id", [2**40, 2**41]), AlwaysFalse()),
    ],
)
def test_bind_folds_predicates_that_the_type_decides(predicate: BooleanExpression, folded: BooleanExpression) -> None:
    assert bind(SCHEMA, predicate) == folded


def test_is_null_on_a_required_field_of_an_optional_struct_does_not_fold() -> None:
    assert isinstance(bind(SCHEMA, NotNull("at.x")), BoundNotNull)


def test_bind_refuses_unknown_columns_and_wrong_literals() -> None:
    with pytest.raises(ResolveError, match="nope"):
        bind(SCHEMA, IsNull("nope"))
    with pytest.raises(ValidationError, match="filter on id"):
        bind(SCHEMA, EqualTo("id", "x"))
    with pytest.raises(ValidationError, match="starts-with needs a string column"):
        bind(SCHEMA, StartsWith("id", "1"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (date(2017, 11, 16), "2017-11-16"),
        (time(1, 2, 3), "01:02:03.000000"),
        (datetime(2017, 11, 16, 1), "2017-11-16T01:00:00.000000"),
        (datetime(2017, 11, 16, 1, tzinfo=timezone.utc), "2017-11-16T01:00:00.000000+00:00"),
        (Decimal("1.50"), "1.50"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (b"\x00\xff", "00ff"),
        (True, True),
        (1, 1),
        (1.5, 1.5),
        (float("inf"), "inf"),
    ],
)
def test_literal_json_is_a_number_a_boolean_or_text(value: Any, expected: Any) -> None:
    assert json.loads(expression_to_json(EqualTo("x", value))) == {"type": "eq", "term": "x", "value": expected}


def test_bound_expression_has_the_json_of_the_unbound_one() -> None:
    assert expression_to_json(bind(SCHEMA, EqualTo("price", 5))) == '{"type":"eq","term":"price","value":"5.00"}'


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"type":"explode"}',
        '{"type":"eq","term":"x"}',
        '{"type":"in","term":"x"}',
        '{"type":"eq","value":1}',
        '{"type":"and"}',
    ],
)
def test_expression_from_json_refuses_other_json(text: str) -> None:
    with pytest.raises(ValidationError):
        expression_from_json(text)


def test_expression_from_json_refuses_deeply_nested_text() -> None:
    text = '{"type":"not","child":' * 1000 + "true" + "}" * 1000
    with pytest.raises(ValidationError):
        expression_from_json(text)


def test_predicate_on_a_transform_round_trips_through_json() -> None:
    text = '{"type":"eq","term":{"type":"transform","transform":"bucket[4]","term":"x"},"value":1}'
    expression = expression_from_json(text)
    assert expression == EqualTo(UnboundTransform("x", BucketTransform(4)), 1)
    assert expression_to_json(expression) == text


def test_expression_from_json_accepts_booleans() -> None:
    assert expression_from_json("true") == AlwaysTrue()
    assert expression_from_json('{"type":"false"}') == AlwaysFalse()


def test_negated_conjunction_negates_its_operands() -> None:
    assert ~And(EqualTo("a", 1), LessThan("b", 2)) == Or(NotEqualTo("a", 1), GreaterThanOrEqual("b", 2))
    assert ~Or(EqualTo("a", 1), LessThan("b", 2)) == And(NotEqualTo("a", 1), GreaterThanOrEqual("b", 2))


def test_constants_are_singletons() -> None:
    assert AlwaysTrue() is AlwaysTrue()
    assert pickle.loads(pickle.dumps(AlwaysFalse())) is AlwaysFalse()


def test_literals_print_their_class() -> None:
    assert repr(EqualTo("a", 5)) == "EqualTo(term=Reference(name='a'), literal=LongLiteral(5))"
    assert str(In("a", [1, 2])) == "In(Reference(name='a'), {1, 2})"
    assert repr(literal(2**40).to(type_from_text("int"))) == "IntAboveMax()"


def test_expressions_dump_the_json_of_the_rest_protocol() -> None:
    expression = And(EqualTo("a", 5), Not(In("b", ["x", "y"])))
    assert json.loads(expression.model_dump_json()) == expression.model_dump()
    assert expressions.expression_from_json(expression.model_dump_json()) == expression
    assert (EqualTo("a", 5).type, expression.type, EqualTo("a", 5).value) == ("eq", "and", 5)
    assert EqualTo("a", 5).as_bound is BoundEqualTo
    assert BoundEqualTo.as_unbound is EqualTo


def test_literals_hash_as_their_values() -> None:
    assert hash(literal(5)) == hash(5)
    assert str(frozenset(map(literal, range(9)))) == f"frozenset({{{', '.join(map(repr, map(literal, range(9))))}}})"
    assert literal(5) != literal(5.0)
