"""Functions over whole expressions."""

from __future__ import annotations

from icefloe.expressions.binding import bind
from icefloe.expressions.evaluation import expression_evaluator
from icefloe.expressions.negation import rewrite_not
from icefloe.expressions.projection import (
    InclusiveProjection,
    ProjectionEvaluator,
    ResidualEvaluator,
    StrictProjection,
    UnpartitionedResidualEvaluator,
    inclusive_projection,
    manifest_evaluator,
    residual_evaluator_of,
    strict_projection,
)
from icefloe.expressions.rewriting import (
    column_names,
    expression_to_plain_format,
    extract_field_ids,
    rewrite_to_dnf,
    translate_column_names,
)
from icefloe.expressions.visiting import (
    BooleanExpressionVisitor,
    BoundBooleanExpressionVisitor,
    visit,
    visit_bound_predicate,
)

__all__ = [
    "BooleanExpressionVisitor",
    "BoundBooleanExpressionVisitor",
    "InclusiveProjection",
    "ProjectionEvaluator",
    "ResidualEvaluator",
    "StrictProjection",
    "UnpartitionedResidualEvaluator",
    "bind",
    "column_names",
    "expression_evaluator",
    "expression_to_plain_format",
    "extract_field_ids",
    "inclusive_projection",
    "manifest_evaluator",
    "residual_evaluator_of",
    "rewrite_not",
    "rewrite_to_dnf",
    "strict_projection",
    "translate_column_names",
    "visit",
    "visit_bound_predicate",
]
