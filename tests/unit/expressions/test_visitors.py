"""Visitors, rewriting, projections and residuals as expressions."""

from __future__ import annotations

from datetime import datetime

import pytest
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import AlwaysFalse, AlwaysTrue, And, EqualTo, GreaterThan, IsNull, NotEqualTo, Or, bind
from icefloe.expressions.parser import parse
from icefloe.expressions.visitors import (
    BooleanExpressionVisitor,
    BoundBooleanExpressionVisitor,
    ResidualEvaluator,
    UnpartitionedResidualEvaluator,
    expression_evaluator,
    expression_to_plain_format,
    extract_field_ids,
    inclusive_projection,
    manifest_evaluator,
    residual_evaluator_of,
    rewrite_to_dnf,
    strict_projection,
    translate_column_names,
    visit,
    visit_bound_predicate,
)
from icefloe.manifest import ManifestFile, PartitionFieldSummary
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.typedef import Record
from icefloe.types import NestedField

SCHEMA = Schema(
    NestedField(1, "id", "long"),
    NestedField(2, "name", "string"),
    NestedField(3, "ts", "timestamp"),
    NestedField(4, "ratio", "double"),
)
SPEC = PartitionSpec(PartitionField(1, 1000, "bucket[16]", "id_bucket"), PartitionField(3, 1001, "day", "day"))


class Shape(BooleanExpressionVisitor[str]):
    """The shape of an expression, in the order of visits."""

    def visit_true(self):
        return "T"

    def visit_false(self):
        return "F"

    def visit_not(self, child_result):
        return f"!{child_result}"

    def visit_and(self, left_result, right_result):
        return f"({left_result}&{right_result})"

    def visit_or(self, left_result, right_result):
        return f"({left_result}|{right_result})"

    def visit_unbound_predicate(self, predicate):
        return predicate.operator

    def visit_bound_predicate(self, predicate):
        return f"bound {predicate.operator}"


class Kinds(BoundBooleanExpressionVisitor[str]):
    """The method that was called, and with what."""

    def visit_true(self):
        return "true"

    def visit_false(self):
        return "false"

    def visit_not(self, child_result):
        return f"not {child_result}"

    def visit_and(self, left_result, right_result):
        return f"{left_result} and {right_result}"

    def visit_or(self, left_result, right_result):
        return f"{left_result} or {right_result}"

    def visit_in(self, term, literals):
        return f"in {sorted(literals)}"

    def visit_not_in(self, term, literals):
        return f"not in {sorted(literals)}"

    def visit_is_nan(self, term):
        return "nan"

    def visit_not_nan(self, term):
        return "not nan"

    def visit_is_null(self, term):
        return "null"

    def visit_not_null(self, term):
        return "not null"

    def visit_equal(self, term, literal):
        return f"= {literal.value}"

    def visit_not_equal(self, term, literal):
        return f"!= {literal.value}"

    def visit_greater_than_or_equal(self, term, literal):
        return f">= {literal.value}"

    def visit_greater_than(self, term, literal):
        return f"> {literal.value}"

    def visit_less_than(self, term, literal):
        return f"< {literal.value}"

    def visit_less_than_or_equal(self, term, literal):
        return f"<= {literal.value}"

    def visit_starts_with(self, term, literal):
        return f"like {literal.value}%"

    def visit_not_starts_with(self, term, literal):
        return f"not like {literal.value}%"


def test_visit_goes_from_the_leaves_up():
    expression = parse("not (id = 1 and name is null) or id in (1, 2)")
    assert visit(expression, Shape()) == "(!(eq&is-null)|in)"
    assert visit(bind(SCHEMA, expression), Shape()) == "(!(bound eq&bound is-null)|bound in)"
    assert visit(AlwaysTrue(), Shape()) + visit(AlwaysFalse(), Shape()) == "TF"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id in (1, 2)", "in [1, 2]"),
        ("id not in (1, 2)", "not in [1, 2]"),
        ("ratio is nan", "nan"),
        ("ratio is not nan", "not nan"),
        ("id is null", "null"),
        ("id is not null", "not null"),
        ("id = 1", "= 1"),
        ("id != 1", "!= 1"),
        ("id >= 1", ">= 1"),
        ("id > 1", "> 1"),
        ("id < 1", "< 1"),
        ("id <= 1", "<= 1"),
        ("name like 'a%'", "like a%"),
        ("name not like 'a%'", "not like a%"),
        ("not (id = 1 or id is null)", "not = 1 or null"),
    ],
)
def test_bound_visitor_has_a_method_for_each_predicate(text, expected):
    bound = bind(SCHEMA, parse(text))
    assert visit(bound, Kinds()) == expected
    if "(id = 1 or" not in text:
        assert visit_bound_predicate(bound, Kinds()) == expected


def test_bound_visitor_refuses_unbound_predicates():
    with pytest.raises(TypeError, match="not a bound predicate"):
        visit(EqualTo("id", 1), Kinds())


def test_rewrite_to_dnf_returns_conjunctions():
    conjunctions = rewrite_to_dnf(parse("(id = 1 or id = 2) and not (name = 'a' and ratio is null)"))
    assert len(conjunctions) == 4
    assert conjunctions[0] == And(EqualTo("id", 1), NotEqualTo("name", "a"))
    many = " and ".join(f"(id = {n} or id = {n + 1})" for n in range(20))
    with pytest.raises(ValidationError, match="10000"):
        rewrite_to_dnf(parse(many))


def test_expression_to_plain_format_returns_tuples():
    (one, other) = (bind(SCHEMA, each) for each in rewrite_to_dnf(parse("id in (1, 2) and name is null or id > 5")))
    assert expression_to_plain_format((one, other)) == [[("id", "in", {1, 2}), ("name", "==", None)], [("id", ">", 5)]]
    moment = bind(SCHEMA, parse("ts = '2026-01-31T10:00:00'"))
    assert expression_to_plain_format((moment,), cast_int_to_datetime=True) == [
        [("ts", "==", datetime(2026, 1, 31, 10))]
    ]
    with pytest.raises(ValidationError, match="no plain form"):
        expression_to_plain_format((bind(SCHEMA, parse("bucket(4, id) = 1")),))


def test_translate_column_names_uses_the_names_of_the_file():
    older = Schema(NestedField(1, "number", "long"))
    bound = bind(SCHEMA, parse("id = 1 and bucket(4, id) = 1 and (name is null or name = 'a')"))
    expected = parse("number = 1 and bucket(4, number) = 1")
    assert translate_column_names(bound, older) == expected
    assert translate_column_names(bound, older, projected_field_values={2: "b"}) == AlwaysFalse()
    assert extract_field_ids(bound) == {1, 2}


def test_expression_evaluator_evaluates_a_row():
    asks = expression_evaluator(SCHEMA, parse("id > 1 and name != 'a' and not ratio < 0"), case_sensitive=True)
    assert asks(Record(2, "b", None, 0.5))
    assert not asks(Record(2, None, None, 0.5))
    assert not asks(Record(None, "b", None, 0.5))
    assert not asks(Record(2, "a", None, 0.5))
    # NaN has no order, so that it is below 0 is unknown.
    assert not asks(Record(2, "b", None, float("nan")))


def test_projections_are_on_partition_fields():
    expression = parse("id = 34 and ts < '2026-01-31T10:00:00'")
    assert inclusive_projection(SCHEMA, SPEC)(expression) == parse("id_bucket = 3 and day <= '2026-01-31'")
    assert strict_projection(SCHEMA, SPEC)(expression) == AlwaysFalse()
    assert strict_projection(SCHEMA, SPEC)(parse("id != 34")) == NotEqualTo("id_bucket", 3)
    assert inclusive_projection(SCHEMA, SPEC, case_sensitive=False)(parse("ID = 34")) == EqualTo("id_bucket", 3)
    with pytest.raises(ResolveError):
        inclusive_projection(SCHEMA, SPEC)(parse("ID = 34"))
    assert inclusive_projection(SCHEMA, SPEC)(parse("bucket(16, id) > 3")) == GreaterThan("id_bucket", 3)


def test_residual_evaluator_returns_the_residual_of_a_partition():
    expression = parse("bucket(16, id) = 3 and ts < '2026-01-31T10:00:00' and name = 'a'")
    evaluator = residual_evaluator_of(SPEC, expression, case_sensitive=True, schema=SCHEMA)
    assert isinstance(evaluator, ResidualEvaluator)
    days = (datetime(2026, 1, 30) - datetime(1970, 1, 1)).days
    assert evaluator.residual_for(Record(3, days)) == EqualTo("name", "a")
    assert evaluator.residual_for(Record(4, days)) == AlwaysFalse()
    assert evaluator.residual_for(Record(None, None)) == AlwaysFalse()
    whole = residual_evaluator_of(PartitionSpec(), expression, case_sensitive=True, schema=SCHEMA)
    assert isinstance(whole, UnpartitionedResidualEvaluator)
    assert whole.residual_for(Record()) == expression


def test_manifest_evaluator_prunes_by_partition_summaries():
    def might_match(text: str, *summaries: PartitionFieldSummary | None) -> bool:
        partitions = None if summaries == (None,) else tuple(summaries)
        manifest = ManifestFile(manifest_path="m", manifest_length=1, partition_spec_id=0, partitions=partitions)
        return manifest_evaluator(SPEC, SCHEMA, parse(text))(manifest)

    low, high = (3).to_bytes(4, "little"), (7).to_bytes(4, "little")
    buckets = PartitionFieldSummary(contains_null=False, lower_bound=low, upper_bound=high)
    days = PartitionFieldSummary(contains_null=True)
    assert might_match("id_bucket = 5", buckets, days)
    assert not might_match("id_bucket = 8", buckets, days)
    assert not might_match("id_bucket is null", buckets, days)
    assert might_match("day is null", buckets, days)
    assert not might_match("day is not null", buckets, days)
    assert might_match("id_bucket = 8", None)


def test_visit_of_folded_constants_calls_no_other_method():
    assert Or(AlwaysTrue(), IsNull("id")) == AlwaysTrue()
