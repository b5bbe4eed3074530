"""Predicates on columns become predicates on their partition values; the rule is the planner's. Spec: Scan Planning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from icefloe.exceptions import ValidationError
from icefloe.expressions.bound import BoundLiteralPredicate, BoundPredicate, BoundSetPredicate
from icefloe.expressions.literals import DateLiteral, Literal, LongLiteral, TimeLiteral, TimestampLiteral, literal
from icefloe.expressions.rest_json import expression_from_json, literal_to_json_value
from icefloe.transforms.value import ValueTransform
from icefloe.types import IcebergType, TimestampNanoType, TimestamptzNanoType

if TYPE_CHECKING:
    from icefloe.expressions import BooleanExpression
    from icefloe.transforms.transform import Transform

# Literals whose values the core takes as numbers, however far from 1970 they lie.
_ORDINALS = (DateLiteral, TimeLiteral, TimestampLiteral)


def projected(transform: Transform, name: str, pred: BoundPredicate, *, strict: bool) -> BooleanExpression | None:
    """Return what a bound predicate says of the values of one partition field; None if it says nothing."""
    from icefloe import _core

    if not isinstance(pred, BoundPredicate):
        raise ValidationError(f"pred: a predicate that is bound to a column is needed, found {pred!r}")
    source = pred.term.field.field_type
    if not transform.can_transform(source):
        raise ValidationError(f"transform {transform} does not apply to values of type {source}")
    found = _core.project(str(transform), name, str(source), _on_value(pred, source), strict)
    if found is None:
        return None
    # Buckets and ordinals are plain integers, whatever they count.
    kind = source if isinstance(transform, ValueTransform) else None
    return expression_from_json(_with_literals(from_json(found), kind))


def _on_value(pred: BoundPredicate, source: IcebergType) -> str:
    """Return a predicate's JSON, on a column named ``value``."""
    said: dict[str, Any] = {"type": pred.operator, "term": "value"}
    if isinstance(pred, BoundLiteralPredicate):
        said["value"] = _to_json_value(pred.literal, source)
    elif isinstance(pred, BoundSetPredicate):
        said["values"] = [_to_json_value(each, source) for each in pred.values]
    return to_json(said).decode()


def _to_json_value(value: Literal, source: IcebergType) -> Any:
    return value.value if isinstance(value, _ORDINALS) else literal_to_json_value(value, source)


def _with_literals(said: dict[str, Any], kind: IcebergType | None) -> dict[str, Any]:
    """Return an expression's JSON object with literals of a type for its values; of no type they are what JSON has."""
    changed = dict(said)
    for side in ("left", "right"):
        if side in said:
            changed[side] = _with_literals(said[side], kind)
    if "value" in said:
        changed["value"] = _literal(said["value"], kind)
    if "values" in said:
        changed["values"] = [_literal(each, kind) for each in said["values"]]
    return changed


def _literal(value: Any, kind: IcebergType | None) -> Literal:
    if kind is None or isinstance(kind, (TimestampNanoType, TimestamptzNanoType)):
        return LongLiteral(value)
    return literal(value).to(kind)
