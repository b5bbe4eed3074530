"""Expressions as the JSON of the REST specification, the form in which filters cross to the Rust core."""

from __future__ import annotations

import math
import uuid
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError, from_json, to_json

from icefloe.conversions import temporal
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.expressions import predicates
from icefloe.expressions.bound import BoundLiteralPredicate, BoundPredicate, BoundSetPredicate
from icefloe.expressions.literals import (
    AboveMax,
    BelowMin,
    BinaryLiteral,
    DateLiteral,
    DecimalLiteral,
    FixedLiteral,
    Literal,
    LongLiteral,
    TimeLiteral,
    TimestampLiteral,
    UUIDLiteral,
)
from icefloe.expressions.predicates import LiteralPredicate, SetPredicate, UnboundPredicate
from icefloe.expressions.terms import (
    BoundReference,
    BoundTerm,
    BoundTransform,
    Reference,
    UnboundTerm,
    UnboundTransform,
)
from icefloe.expressions.tree import MAX_DEPTH, AlwaysFalse, AlwaysTrue, And, BooleanExpression, Not, Or, json_form
from icefloe.types import UUIDType

if TYPE_CHECKING:
    from icefloe.types import IcebergType

# The integers that the core's JSON reads exactly: signed and unsigned integers of 64 bits.
_LEAST_NUMBER, _GREATEST_NUMBER = -(2**63), 2**64 - 1


def expression_to_json(expr: BooleanExpression, *, for_core: bool = False) -> str:
    """Return an expression as JSON text.

    Args:
        expr: The expression.
        for_core: Whether integers beyond 64 bits are text, which the core reads exactly.

    Raises:
        ValidationError: A text has half of a surrogate pair, which is no character.

    >>> from icefloe.expressions import GreaterThan
    >>> expression_to_json(GreaterThan("x", 5))
    '{"type":"gt","term":"x","value":5}'
    """
    try:
        return to_json(to_json_value(expr, for_core=for_core)).decode()
    except PydanticSerializationError as error:
        raise ValidationError(
            f"filter: expected text of whole characters, got half of a surrogate pair in {expr}"
        ) from error


@json_form.register(BooleanExpression)
def to_json_value(expr: BooleanExpression, *, for_core: bool = False) -> Any:
    """Return an expression as a JSON object; see `expression_to_json`."""
    if isinstance(expr, AlwaysTrue):
        return {"type": "true"}
    if isinstance(expr, AlwaysFalse):
        return {"type": "false"}
    if isinstance(expr, (And, Or)):
        return {
            "type": "and" if isinstance(expr, And) else "or",
            "left": to_json_value(expr.left, for_core=for_core),
            "right": to_json_value(expr.right, for_core=for_core),
        }
    if isinstance(expr, Not):
        return {"type": "not", "child": to_json_value(expr.child, for_core=for_core)}
    if not isinstance(expr, (UnboundPredicate, BoundPredicate)):
        raise ValidationError(f"not an expression: {expr!r}; expected a predicate, a constant, And, Or or Not")
    value: dict[str, Any] = {"type": expr.operator, "term": _term_to_json_value(expr.term)}
    kind = expr.term.value_type if isinstance(expr.term, BoundTerm) else None
    if isinstance(expr, (LiteralPredicate, BoundLiteralPredicate)):
        value["value"] = literal_to_json_value(expr.literal, kind, for_core=for_core)
    elif isinstance(expr, (SetPredicate, BoundSetPredicate)):
        value["values"] = sorted(
            (literal_to_json_value(each, kind, for_core=for_core) for each in expr.values),
            key=lambda each: (str(type(each)), each),
        )
    return value


def literal_to_json_value(value: Literal, kind: IcebergType | None = None, *, for_core: bool = False) -> Any:
    """Return the JSON single value of a literal: numbers and booleans are JSON numbers and booleans, other values text.

    Args:
        value: The literal.
        kind: The column's type, if known.
        for_core: Whether integers beyond 64 bits are text.
    """
    raw = value.value
    if isinstance(value, (DateLiteral, TimeLiteral, TimestampLiteral)):
        try:
            return _temporal_text(value)
        except (OverflowError, ValueError):
            # Python's dates end with the year 9999; the core accepts ordinals as well.
            return raw
    if isinstance(value, UUIDLiteral) or (isinstance(kind, UUIDType) and isinstance(raw, bytes)):
        return str(uuid.UUID(bytes=raw))
    if isinstance(value, (BinaryLiteral, FixedLiteral)):
        return raw.hex()
    if isinstance(value, DecimalLiteral):
        return format(raw, "f")
    if isinstance(value, (AboveMax, BelowMin)):
        return 2 * raw  # its value is the limit that it exceeds, which the column may have
    if for_core and isinstance(value, LongLiteral) and not _LEAST_NUMBER <= raw <= _GREATEST_NUMBER:
        # The core reads other integers of JSON as floating-point numbers. str() of an int refuses thousands of digits.
        return str(Decimal(raw))
    return str(raw) if isinstance(raw, float) and not math.isfinite(raw) else raw


def _temporal_text(value: DateLiteral | TimeLiteral | TimestampLiteral) -> str:
    if isinstance(value, DateLiteral):
        return temporal.days_to_date(value.value).isoformat()
    if isinstance(value, TimeLiteral):
        return temporal.micros_to_time(value.value).isoformat(timespec="microseconds")
    return temporal.timestamp_to_text(value.value, "+00:00" if value.zoned else "")


def expression_from_json(data: str | bytes | bool | dict[str, Any]) -> BooleanExpression:
    """Return the expression that a JSON text or object describes.

    Raises:
        ValidationError: The JSON is malformed, or a key is missing or has a value of the wrong type.

    >>> expression_from_json('{"type": "is-null", "term": "x"}')
    IsNull(term=Reference(name='x'))
    """
    if isinstance(data, (str, bytes)):
        try:
            data = from_json(data)
        except ValueError as error:
            if "recursion limit" in str(error):
                raise ValidationError(f"expression JSON: nested more than {MAX_DEPTH} deep") from error
            raise ValidationError(f"expression JSON: not valid JSON: {error}") from error
    return _from_value(data, 0)


def _from_value(value: Any, depth: int) -> BooleanExpression:
    if depth > MAX_DEPTH:
        raise ValidationError(f"expression JSON: nested more than {MAX_DEPTH} deep")
    if isinstance(value, bool):
        return AlwaysTrue() if value else AlwaysFalse()
    if not isinstance(value, dict):
        raise ValidationError(
            f"expression JSON: not an expression; expected an object with `type` or a boolean, got {value!r}"
        )
    kind = value.get("type")
    if kind in {"true", "false"}:
        return AlwaysTrue() if kind == "true" else AlwaysFalse()
    if kind in {"and", "or"}:
        sides = [_from_value(value.get(side), depth + 1) for side in ("left", "right")]
        return And(*sides) if kind == "and" else Or(*sides)
    if kind == "not":
        return Not(_from_value(value.get("child"), depth + 1))
    return _predicate(kind, value)


def _predicate(kind: Any, value: dict[str, Any]) -> BooleanExpression:
    predicate_class = _PREDICATES.get(kind)
    if predicate_class is None:
        raise ValidationError(
            f"expression JSON: unknown type {kind!r}; expected and, or, not, true, false or one of {', '.join(_PREDICATES)}"
        )
    term = _term_from_json_value(kind, value.get("term"))
    if issubclass(predicate_class, SetPredicate):
        values = value.get("values")
        if not isinstance(values, list):
            raise ValidationError(f"expression JSON: `values` of {kind} must be a list, got {values!r}")
        return predicate_class(term, values)
    if issubclass(predicate_class, LiteralPredicate):
        if "value" not in value:
            raise ValidationError(f"expression JSON: `value` of {kind} is missing; expected a literal")
        return predicate_class(term, value["value"])
    return predicate_class(term)


def _term_from_json_value(kind: Any, term: Any) -> UnboundTerm:
    if isinstance(term, dict) and term.get("type") in {"reference", "transform"}:
        name = term.get("term")
        if not isinstance(name, str):
            raise ValidationError(f"expression JSON: `term` of a {term['type']} must be text, got {name!r}")
        if term["type"] == "reference":
            return Reference(name)
        if not isinstance(term.get("transform"), str):
            raise ValidationError(
                f"expression JSON: `transform` of a transform must be text such as 'bucket[16]', got {term.get('transform')!r}"
            )
        return UnboundTransform(name, term["transform"])
    if not isinstance(term, str):
        raise ValidationError(
            f"expression JSON: `term` of {kind} must be text, a reference or a transform, got {term!r}"
        )
    return Reference(term)


def _term_to_json_value(term: Any) -> Any:
    if isinstance(term, (UnboundTransform, BoundTransform)):
        return {"type": "transform", "transform": str(term.transform), "term": _term_to_json_value(term.term)}
    if isinstance(term, BoundReference):
        if term.full_name is None and term.accessor.inner is not None:
            raise FeatureUnsupportedError(
                f"bound predicate on nested column {term.field.name}: no JSON without the full name; serialize the unbound predicate"
            )
        return term.full_name or term.field.name
    if isinstance(term, Reference):
        return term.name
    raise ValidationError(f"term {term!r}: no JSON form; expected a column or a transform of a column")


_PREDICATES: dict[Any, type[UnboundPredicate]] = {
    kind.operator: kind
    for kind in vars(predicates).values()
    if isinstance(kind, type) and issubclass(kind, UnboundPredicate) and kind.operator
}
