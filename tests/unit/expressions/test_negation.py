"""Negations: a predicate that is unknown for null stays unknown when it is bound and folded."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError
from icefloe.expressions import (
    AlwaysFalse,
    AlwaysTrue,
    And,
    BoundEqualTo,
    BoundNotNull,
    EqualTo,
    In,
    LessThan,
    Not,
    NotEqualTo,
    NotIn,
    NotNull,
    Or,
    bind,
)
from icefloe.expressions.visitors import expression_evaluator, rewrite_not, translate_column_names
from icefloe.schema import Schema
from icefloe.typedef import Record
from icefloe.types import NestedField

SCHEMA = Schema(NestedField(1, "x", "int"), NestedField(2, "y", "int"))
BEYOND = 2**40


def test_negated_predicate_is_rewritten_to_its_counterpart():
    assert rewrite_not(Not(EqualTo("x", 5))) == NotEqualTo("x", 5)
    assert rewrite_not(Not(And(EqualTo("x", 5), In("y", [1, 2])))) == Or(NotEqualTo("x", 5), NotIn("y", [1, 2]))


def test_bind_keeps_a_negation_that_does_not_fold():
    found = bind(SCHEMA, Not(EqualTo("x", 5)))
    assert isinstance(found, Not)
    assert isinstance(found.child, BoundEqualTo)


@pytest.mark.parametrize(
    "expression",
    [
        NotEqualTo("x", BEYOND),
        Not(EqualTo("x", BEYOND)),
        NotIn("x", [BEYOND, BEYOND + 1]),
        Not(In("x", [BEYOND, BEYOND + 1])),
        Not(Not(LessThan("x", BEYOND))),
        Not(LessThan("x", -BEYOND)),
    ],
)
def test_bind_folds_a_predicate_that_is_true_for_all_values_to_not_null(expression):
    found = bind(SCHEMA, expression)
    assert isinstance(found, BoundNotNull)
    assert expression_evaluator(SCHEMA, expression, case_sensitive=True)(Record(1, None))
    assert not expression_evaluator(SCHEMA, expression, case_sensitive=True)(Record(None, 1))


def test_bind_folds_the_negation_of_a_predicate_that_is_true_for_all_values_to_false():
    for expression in (Not(LessThan("x", BEYOND)), Not(NotEqualTo("x", BEYOND))):
        assert bind(SCHEMA, expression) == AlwaysFalse()
    inside = Not(And(EqualTo("x", BEYOND), EqualTo("y", 1)))
    is_true = expression_evaluator(SCHEMA, inside, case_sensitive=True)
    # Unknown and true is unknown, unknown and false is false.
    assert not is_true(Record(None, 1))
    assert is_true(Record(None, 2))


def test_translated_negation_on_a_missing_column_is_unknown():
    older = Schema(NestedField(1, "x", "int"))

    def translated(expression, **arguments):
        return translate_column_names(bind(SCHEMA, expression), older, **arguments)

    assert translated(EqualTo("y", 1)) == AlwaysFalse()
    assert translated(NotEqualTo("y", 1)) == AlwaysFalse()
    assert translated(Not(EqualTo("y", 1))) == AlwaysFalse()
    assert translated(Not(NotNull("y"))) == AlwaysTrue()
    assert translated(Not(EqualTo("y", 1)), projected_field_values={2: 3}) == AlwaysTrue()
    assert translated(Not(EqualTo("x", 1))) == Not(EqualTo("x", 1))


@pytest.mark.parametrize(
    "make", [EqualTo, NotEqualTo, lambda name, value: In(name, [1, value]), lambda name, value: NotIn(name, [1, value])]
)
def test_none_as_a_literal_is_refused(make):
    with pytest.raises(ValidationError, match="use IsNull or NotNull"):
        make("x", None)
