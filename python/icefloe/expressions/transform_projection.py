"""One predicate through one transform: what it says of partition values; the rule is the planner's. Spec: Scan Planning."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from icefloe.conversions import from_json_value
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
from icefloe.expressions.rest_json import expression_from_json, literal_to_json_value
from icefloe.expressions.terms import BoundTransform
from icefloe.expressions.tree import AlwaysFalse, AlwaysTrue
from icefloe.transforms import IdentityTransform, Transform, TruncateTransform
from icefloe.transforms.transform import projected
from icefloe.types import DecimalType, IcebergType, PrimitiveType, TimestampNanoType, TimestamptzNanoType

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.expressions.tree import BooleanExpression

# Literals whose values the core takes as numbers, however far from 1970 they lie.
_ORDINALS = (DateLiteral, TimeLiteral, TimestampLiteral)


@projected.register(BoundPredicate)
def projected_predicate(
    pred: BoundPredicate, transform: Transform, name: str, *, strict: bool
) -> BooleanExpression | None:
    """Return what a predicate says of the values of one partition field; None if it says nothing.

    Raises:
        ValidationError: The transform does not apply to values of the predicate's column.
    """
    from icefloe import _core

    source = pred.term.ref().value_type
    if not transform.can_transform(source):
        raise ValidationError(f"transform {transform} does not apply to values of type {source}")
    column = {"id": 1, "name": "value", "required": False, "type": str(source)}
    schema = {"type": "struct", "schema-id": 0, "fields": [column]}
    field = {"source-id": 1, "field-id": 1000, "name": name, "transform": str(transform)}
    spec = {"spec-id": 0, "fields": [field]}
    found = _core.project_filter(_text(schema), _text(spec), _text(_on_value(pred)), strict=strict)
    keeps_type = isinstance(transform, (IdentityTransform, TruncateTransform))
    read = _reader(transform.result_type(source), keeps_type=keeps_type)
    expression = expression_from_json(_with_literals(from_json(found), read))
    return None if isinstance(expression, (AlwaysTrue, AlwaysFalse)) else expression


def _text(value: Any) -> str:
    return to_json(value).decode()


def _on_value(pred: BoundPredicate) -> dict[str, Any]:
    """Return a predicate as a JSON object, on a column named ``value``."""
    term: Any = "value"
    if isinstance(pred.term, BoundTransform):
        term = {"type": "transform", "transform": str(pred.term.transform), "term": "value"}
    said: dict[str, Any] = {"type": pred.operator, "term": term}
    kind = pred.term.value_type
    if isinstance(pred, BoundLiteralPredicate):
        said["value"] = _to_json_value(pred.literal, kind)
    elif isinstance(pred, BoundSetPredicate):
        said["values"] = [_to_json_value(each, kind) for each in pred.values]
    return said


def _to_json_value(value: Literal, kind: IcebergType) -> Any:
    return value.value if isinstance(value, _ORDINALS) else literal_to_json_value(value, kind)


def _reader(result: IcebergType, *, keeps_type: bool) -> Callable[[Any], Literal]:
    """Return a function from JSON single values of a result type to literals: buckets and ordinals are plain integers."""

    def read(value: Any) -> Literal:
        if isinstance(result, DecimalType):
            # What is rounded down may have more digits than its type.
            return DecimalLiteral(Decimal(value))
        assert isinstance(result, PrimitiveType)
        plain = from_json_value(result, value)
        if not keeps_type or isinstance(result, (TimestampNanoType, TimestamptzNanoType)):
            return LongLiteral(plain)
        return literal(plain).to(result)

    return read


def _with_literals(said: Any, read: Callable[[Any], Literal]) -> Any:
    """Return an expression's JSON with literals for its values."""
    if not isinstance(said, dict):
        return said
    changed = dict(said)
    for side in ("left", "right"):
        if side in said:
            changed[side] = _with_literals(said[side], read)
    if "value" in said:
        changed["value"] = read(said["value"])
    if "values" in said:
        changed["values"] = [read(each) for each in said["values"]]
    return changed
