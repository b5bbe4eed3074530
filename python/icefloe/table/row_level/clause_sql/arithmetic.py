"""Arithmetic as in Spark's ANSI mode: overflow and division by zero are errors, decimals have Spark's precision and scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clause_sql.casting import cast, rounded
from icefloe.table.row_level.clause_sql.value import Value, computed

if TYPE_CHECKING:
    from collections.abc import Callable

_CHECKED: dict[str, Callable[..., pa.Array]] = {
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
}


def arithmetic(symbol: str, left: Value, right: Value) -> Value:
    """Return the result of an operator on two numbers.

    Args:
        symbol: `+`, `-`, `*`, `/`, `%` or `div`.
        left: Left operand.
        right: Right operand.

    Raises:
        ValidationError: An operand is no number, or the operator is not defined for these types.
    """
    for operand in (left, right):
        if not (kinds.is_number(operand.kind) or operand.kind == pa.null()):
            raise ValidationError(
                f"`{symbol}`: expected numbers, got {kinds.name_of(operand.kind)}; cast it to a number"
            )
    types = [operand.kind for operand in (left, right)]
    if any(pa.types.is_floating(kind) for kind in types):
        return _floating(symbol, left, right)
    if any(pa.types.is_decimal(kind) for kind in types) and symbol != "div":
        return _decimal(symbol, left, right)
    if any(pa.types.is_decimal(kind) for kind in types):
        raise ValidationError("`div`: expected whole numbers, got a decimal; divide with / and cast the result")
    if symbol == "/":
        return _floating(symbol, left, right)
    kind = pa.int64() if symbol == "div" else _promoted(left.kind, right.kind)
    function = {"%": _remainder, "div": _quotient}.get(symbol) or _CHECKED[symbol]
    return computed(kind, lambda a, b: function(cast(a, kind), cast(b, kind)), [left, right], can_fail=True)


def negated(operand: Value) -> Value:
    """Return `-operand`."""
    return _signed(operand, pc.negate_checked, "-")


def absolute(operand: Value) -> Value:
    """Return `abs(operand)`."""
    return _signed(operand, pc.abs_checked, "abs")


def _signed(operand: Value, function: Callable[..., pa.Array], name: str) -> Value:
    if operand.kind == pa.null():
        return operand
    if not kinds.is_number(operand.kind):
        raise ValidationError(f"`{name}`: expected a number, got {kinds.name_of(operand.kind)}; cast it to a number")
    kind = operand.kind
    return computed(kind, lambda a: function(a).cast(kind), [operand], can_fail=kinds.is_integer(kind))


def _promoted(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    found = kinds.common(left, right)
    assert found is not None
    return pa.int32() if found == pa.null() else found


def _floating(symbol: str, left: Value, right: Value) -> Value:
    if symbol in {"%", "div"}:
        raise ValidationError(
            f"`{symbol}`: expected whole numbers or decimals, got a float or double; cast it to a decimal"
        )
    single = symbol != "/" and left.kind == right.kind == pa.float32()
    kind = pa.float32() if single else pa.float64()

    def function(a: pa.Array, b: pa.Array) -> pa.Array:
        a, b = cast(a, kind), cast(b, kind)
        if symbol != "/":
            return {"+": pc.add, "-": pc.subtract, "*": pc.multiply}[symbol](a, b)
        _refuse_zero(a, b)
        return pc.divide(a, b)

    return computed(kind, function, [left, right], can_fail=symbol == "/")


def _decimal(symbol: str, left: Value, right: Value) -> Value:
    first, second = _decimal_of(left, right), _decimal_of(right, left)
    (p1, s1), (p2, s2) = (first.precision, first.scale), (second.precision, second.scale)
    scale = max(s1, s2)
    if symbol in {"+", "-"}:
        kind = kinds.adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)
    elif symbol == "*":
        kind = kinds.adjusted(p1 + p2 + 1, s1 + s2)
    elif symbol == "/":
        digits = max(6, s1 + p2 + 1)
        kind = kinds.adjusted(p1 - s1 + s2 + digits, digits)
    else:
        kind = kinds.adjusted(min(p1 - s1, p2 - s2) + scale, scale)

    def function(a: pa.Array, b: pa.Array) -> pa.Array:
        a, b = cast(a, first), cast(b, second)
        if symbol in {"/", "%"}:
            _refuse_zero(a, b)
            b = _without_zero(a, b)
        if symbol == "/":
            return rounded(_divided(a, b, kind.scale + 1), kind)
        a, b = _narrowed(a), _narrowed(b)
        return rounded(_decimal_remainder(a, b) if symbol == "%" else _CHECKED[symbol](a, b), kind)

    return computed(kind, function, [left, right], can_fail=True)


def _decimal_of(operand: Value, other: Value) -> pa.DataType:
    """Return the decimal type of an operand; the precision of a literal integer is its number of digits."""
    if operand.kind == pa.null():
        return kinds.as_decimal(other.kind)
    return pa.decimal128(operand.digits, 0) if operand.digits is not None else kinds.as_decimal(operand.kind)


def _narrowed(values: pa.Array) -> pa.Array:
    """Return decimals with the smallest precision that all values fit, so that results have at most 76 digits."""
    scale = values.type.scale
    largest = pc.max(pc.abs(values.cast(kinds.wide(scale)))).as_py()
    digits = 1 if largest is None else len(str(int(largest.scaleb(scale))).lstrip("-"))
    return values.cast(pa.decimal256(max(digits, scale, 1), scale))


def _divided(left: pa.Array, right: pa.Array, scale: int) -> pa.Array:
    """Return quotients truncated after at least `scale` fraction digits; Arrow's result has s1 + p2 - s2 + 1 of them."""
    left, right = _narrowed(left), _narrowed(right)
    more = max(scale - (left.type.scale + right.type.precision - right.type.scale + 1), 0)
    if more > 0:
        left = left.cast(pa.decimal256(left.type.precision + more, left.type.scale + more))
    return pc.divide_checked(left, right)


def _decimal_remainder(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return remainders with the sign of the left side."""
    quotients = pc.divide_checked(left, right)
    whole = pc.trunc(quotients.cast(kinds.wide(quotients.type.scale))).cast(kinds.wide(0))
    product = pc.multiply_checked(_narrowed(whole), right)
    return pc.subtract_checked(left, _narrowed(product))


def _quotient(left: pa.Array, right: pa.Array) -> pa.Array:
    _refuse_zero(left, right)
    return pc.divide_checked(left, _without_zero(left, right))


def _remainder(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return remainders with the sign of the left side; the remainder by -1 is 0, also where the quotient overflows."""
    _refuse_zero(left, right)
    by = pc.if_else(pc.equal(right, -1), pa.scalar(1, right.type), _without_zero(left, right))
    return pc.subtract_checked(left, pc.multiply_checked(pc.divide_checked(left, by), by))


def _without_zero(left: pa.Array, right: pa.Array) -> pa.Array:
    """Return divisors, null where the dividend is null, because such a divisor may be zero."""
    return pc.if_else(pc.is_null(left), pa.scalar(None, right.type), right)


def _refuse_zero(left: pa.Array, right: pa.Array) -> None:
    zero = pc.equal(right, pa.scalar(0, right.type))
    if pc.any(pc.and_(pc.is_valid(left), pc.fill_null(zero, False))).as_py():
        raise ValidationError("division by zero; guard it with nullif or case")
