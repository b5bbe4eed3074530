"""Projections of filters onto partition fields, evaluation of manifests and residuals, all computed by the core. Spec: Scan Planning.

>>> from icefloe.expressions.parser import parse
>>> from icefloe.partitioning import PartitionField, PartitionSpec
>>> from icefloe.schema import Schema
>>> from icefloe.types import NestedField
>>> schema = Schema(NestedField(1, "x", "long"))
>>> spec = PartitionSpec(PartitionField(1, 1000, "bucket[16]", "x_bucket"))
>>> inclusive_projection(schema, spec)(parse("x = 34"))
EqualTo(term=Reference(name='x_bucket'), literal=LongLiteral(3))
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from icefloe.conversions import from_json_value, to_json_value
from icefloe.exceptions import ValidationError
from icefloe.expressions.bound import BoundLiteralPredicate, BoundPredicate, BoundSetPredicate
from icefloe.expressions.literals import (
    DateLiteral,
    DecimalLiteral,
    Literal,
    LongLiteral,
    TimeLiteral,
    TimestampLiteral,
    literal,
)
from icefloe.expressions.rest_json import expression_from_json, expression_to_json, literal_to_json_value
from icefloe.expressions.terms import BoundTransform
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import IdentityTransform, Transform, TruncateTransform
from icefloe.transforms.transform import projected
from icefloe.types import DecimalType, PrimitiveType, TimestampNanoType, TimestamptzNanoType

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.expressions.tree import BooleanExpression
    from icefloe.manifest import ManifestFile
    from icefloe.types import IcebergType


class ProjectionEvaluator:
    """A projection of expressions over a table's columns onto a partition spec."""

    _strict = False

    def __init__(self, schema: Schema, spec: PartitionSpec, case_sensitive: bool = True) -> None:
        self.schema = schema
        self.spec = spec
        self.case_sensitive = case_sensitive

    def project(self, expr: BooleanExpression) -> BooleanExpression:
        """Return the expression over partition fields, by their names.

        Raises:
            ResolveError: The schema has no column of a name, or several that differ by case alone.
            ValidationError: A literal cannot be compared with values of its column's type.
        """
        from icefloe import _core

        projected = _core.project_filter(
            self.schema.model_dump_json(),
            self.spec.model_dump_json(),
            expression_to_json(expr, for_core=True),
            strict=self._strict,
            case_sensitive=self.case_sensitive,
        )
        return expression_from_json(projected)


class InclusiveProjection(ProjectionEvaluator):
    """A projection that is true for the partition of every row that satisfies the expression."""


class StrictProjection(ProjectionEvaluator):
    """A projection that is true only for partitions in which every row satisfies the expression."""

    _strict = True


def inclusive_projection(
    schema: Schema, spec: PartitionSpec, case_sensitive: bool = True
) -> Callable[[BooleanExpression], BooleanExpression]:
    """Return the function that projects expressions inclusively; see :class:`InclusiveProjection`."""
    return InclusiveProjection(schema, spec, case_sensitive).project


def strict_projection(
    schema: Schema, spec: PartitionSpec, case_sensitive: bool = True
) -> Callable[[BooleanExpression], BooleanExpression]:
    """Return the function that projects expressions strictly; see :class:`StrictProjection`."""
    return StrictProjection(schema, spec, case_sensitive).project


class ResidualEvaluator:
    """The residuals of an expression: the filter that remains for the files of a partition."""

    def __init__(self, schema: Schema, spec: PartitionSpec, case_sensitive: bool, expr: BooleanExpression) -> None:
        self.schema = schema
        self.spec = spec
        self.case_sensitive = case_sensitive
        self.expr = expr

    def residual_for(self, partition_data: Any) -> BooleanExpression:
        """Return the residual for one partition, as an expression on column names.

        Args:
            partition_data: The partition tuple in spec order, such as a :class:`icefloe.typedef.Record`.
        """
        from icefloe import _core

        types = [field.field_type for field in self.spec.partition_type(self.schema).fields]
        values = [_json_value(kind, partition_data[position]) for position, kind in enumerate(types)]
        residual = _core.residual_filter(
            self.schema.model_dump_json(),
            self.spec.model_dump_json(),
            expression_to_json(self.expr, for_core=True),
            json.dumps(values),
            case_sensitive=self.case_sensitive,
        )
        return expression_from_json(residual)


def _json_value(kind: IcebergType, value: Any) -> Any:
    if value is None or not isinstance(kind, PrimitiveType):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return to_json_value(kind, value)


class UnpartitionedResidualEvaluator(ResidualEvaluator):
    """The residuals of an expression in an unpartitioned table: the expression itself."""

    def __init__(self, schema: Schema, expr: BooleanExpression) -> None:
        super().__init__(schema, PartitionSpec(spec_id=0), False, expr)

    def residual_for(self, partition_data: Any) -> BooleanExpression:
        """Return the expression."""
        return self.expr


def residual_evaluator_of(
    spec: PartitionSpec, expr: BooleanExpression, case_sensitive: bool, schema: Schema
) -> ResidualEvaluator:
    """Return the evaluator of the residuals of an expression for a partition spec."""
    if spec.is_unpartitioned():
        return UnpartitionedResidualEvaluator(schema, expr)
    return ResidualEvaluator(schema, spec, case_sensitive, expr)


def manifest_evaluator(
    partition_spec: PartitionSpec, schema: Schema, partition_filter: BooleanExpression, case_sensitive: bool = True
) -> Callable[[ManifestFile], bool]:
    """Return a function that returns whether a manifest might list a file whose partition satisfies a filter.

    Args:
        partition_spec: The manifest's spec.
        schema: The table's schema.
        partition_filter: An expression on partition fields, as :func:`inclusive_projection` returns it.
        case_sensitive: Whether names must match exactly.
    """
    fields = partition_spec.partition_type(schema).fields
    tuples = Schema(*fields)
    identity = [PartitionField(each.field_id, each.field_id, IdentityTransform(), each.name) for each in fields]
    spec_json = PartitionSpec(*identity, spec_id=partition_spec.spec_id).model_dump_json()
    schema_json, filter_json = tuples.model_dump_json(), expression_to_json(partition_filter, for_core=True)

    def might_match(manifest: ManifestFile) -> bool:
        from icefloe import _core

        batch = _summaries(manifest)
        mask = _core.prune_manifests(schema_json, spec_json, filter_json, batch, case_sensitive=case_sensitive)
        return bool(mask[0].as_py())

    return might_match


def _summaries(manifest: ManifestFile) -> Any:
    import pyarrow as pa

    summary = pa.struct(
        [
            ("contains_null", pa.bool_()),
            ("contains_nan", pa.bool_()),
            ("lower_bound", pa.binary()),
            ("upper_bound", pa.binary()),
        ]
    )
    rows = None
    if manifest.partitions is not None:
        rows = [{name: getattr(each, name) for name in summary.names} for each in manifest.partitions]
    return pa.record_batch({"partitions": pa.array([rows], pa.list_(summary))})


# Literals that cross to the core as ordinals, since Python's dates end with the year 9999.
_ORDINALS = (DateLiteral, TimeLiteral, TimestampLiteral)


@projected.register(BoundPredicate)
def projected_predicate(
    pred: BoundPredicate, transform: Transform, name: str, *, strict: bool
) -> BooleanExpression | None:
    """Return the projection of a bound predicate onto one partition field; None if every partition might match, or none must.

    Raises:
        ValidationError: The transform does not apply to values of the predicate's column.
    """
    from icefloe import _core

    source = pred.term.ref().value_type
    if not transform.can_transform(source):
        raise ValidationError(
            f"transform {transform} does not apply to values of type {source}; choose another transform"
        )
    column = {"id": 1, "name": "value", "required": False, "type": str(source)}
    schema = {"type": "struct", "schema-id": 0, "fields": [column]}
    field = {"source-id": 1, "field-id": 1000, "name": name, "transform": str(transform)}
    spec = {"spec-id": 0, "fields": [field]}
    projection = _core.project_filter(_text(schema), _text(spec), _text(_on_value(pred)), strict=strict)
    keeps_type = isinstance(transform, (IdentityTransform, TruncateTransform))
    read = _reader(transform.result_type(source), keeps_type=keeps_type)
    expression = expression_from_json(_with_literals(from_json(projection), read))
    return None if isinstance(expression, (AlwaysTrue, AlwaysFalse)) else expression


def _text(value: Any) -> str:
    return to_json(value).decode()


def _on_value(pred: BoundPredicate) -> dict[str, Any]:
    """Return a predicate as a JSON object, on a column named ``value``."""
    term: Any = "value"
    if isinstance(pred.term, BoundTransform):
        term = {"type": "transform", "transform": str(pred.term.transform), "term": "value"}
    value: dict[str, Any] = {"type": pred.operator, "term": term}
    kind = pred.term.value_type
    if isinstance(pred, BoundLiteralPredicate):
        value["value"] = _literal_json(pred.literal, kind)
    elif isinstance(pred, BoundSetPredicate):
        value["values"] = [_literal_json(each, kind) for each in pred.values]
    return value


def _literal_json(value: Literal, kind: IcebergType) -> Any:
    return value.value if isinstance(value, _ORDINALS) else literal_to_json_value(value, kind, for_core=True)


def _reader(result: IcebergType, *, keeps_type: bool) -> Callable[[Any], Literal]:
    """Return a function from JSON single values of a transform's result type to literals; buckets and ordinals become integers."""

    def read(value: Any) -> Literal:
        if isinstance(result, DecimalType):
            # A truncated value may have more digits than the type of its source.
            return DecimalLiteral(Decimal(value))
        assert isinstance(result, PrimitiveType)
        plain = from_json_value(result, value)
        if not keeps_type or isinstance(result, (TimestampNanoType, TimestamptzNanoType)):
            return LongLiteral(plain)
        return literal(plain).to(result)

    return read


def _with_literals(expression: Any, read: Callable[[Any], Literal]) -> Any:
    """Return the JSON object of an expression with its JSON values replaced by literals."""
    if not isinstance(expression, dict):
        return expression
    changed = dict(expression)
    for side in ("left", "right"):
        if side in expression:
            changed[side] = _with_literals(expression[side], read)
    if "value" in expression:
        changed["value"] = read(expression["value"])
    if "values" in expression:
        changed["values"] = [read(each) for each in expression["values"]]
    return changed
