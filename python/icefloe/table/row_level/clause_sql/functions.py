"""The functions of the SQL of conditions and values, by the name of their node in the syntax tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clause_sql import dates, kinds, rounding, strings
from icefloe.table.row_level.clause_sql.arithmetic import absolute
from icefloe.table.row_level.clause_sql.coercion import coerced
from icefloe.table.row_level.clause_sql.parsing import piece
from icefloe.table.row_level.clause_sql.value import Value, computed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from icefloe.table.row_level.clause_sql.arguments import Arguments


# ---- texts


def _changed_text(function: Callable[[pa.Array], pa.Array]) -> Callable[[Any, Arguments], Value]:
    """Return the binding of a function from one text to another."""
    return lambda node, arguments: computed(pa.string(), function, [arguments.text(node.this)])


def _trim(node: Any, arguments: Arguments) -> Value:
    position = str(node.args.get("position") or "")
    trimmed = {"": strings.trimmed, "LEADING": strings.left_trimmed, "TRAILING": strings.right_trimmed}.get(position)
    if trimmed is None or node.expression is not None:
        raise ValidationError(arguments.not_in_grammar())
    return computed(pa.string(), trimmed, [arguments.text(node.this)])


def _length(node: Any, arguments: Arguments) -> Value:
    value = arguments.bind(node.this)
    value = value if value.kind == pa.binary() else arguments.text(node.this)
    return computed(pa.int32(), strings.length, [value])


def _substring(node: Any, arguments: Arguments) -> Value:
    if node.args.get("start") is None:
        raise ValidationError("expected a position after the text")
    position, length = arguments.constant_int(node.args["start"]), node.args.get("length")
    count = None if length is None else arguments.constant_int(length)
    return computed(pa.string(), lambda values: strings.substring(values, position, count), [arguments.text(node.this)])


def _replace(node: Any, arguments: Arguments) -> Value:
    search, replacement = arguments.constant_text(node.expression), node.args.get("replacement")
    new = "" if replacement is None else arguments.constant_text(replacement)
    return computed(pa.string(), lambda values: strings.replaced(values, search, new), [arguments.text(node.this)])


def _found_text(function: Callable[[pa.Array, str], pa.Array]) -> Callable[[Any, Arguments], Value]:
    """Return the binding of a test of a text for a literal text."""

    def bound(node: Any, arguments: Arguments) -> Value:
        tested, sought = arguments.text(node.this), arguments.constant_text(node.expression)
        return computed(pa.bool_(), lambda values: function(values, sought), [tested])

    return bound


def _joined(nodes: Sequence[Any], arguments: Arguments) -> Value:
    parts = [arguments.bind(node) for node in nodes]
    kind = pa.binary() if any(part.kind == pa.binary() for part in parts) else pa.string()
    for part, node in zip(parts, nodes, strict=True):
        if part.kind not in (kind, pa.null()):
            raise ValidationError(
                f"{piece(node)}: expected {kinds.name_of(kind)}, got {kinds.name_of(part.kind)}; write "
                f"cast({piece(node)} as {kinds.name_of(kind)})"
            )
    return computed(kind, strings.concatenated, [coerced(part, kind) for part in parts])


# ---- dates


def _date(node: Any, arguments: Arguments) -> Value:
    """Return an argument as a date; sqlglot wraps some of these arguments in a conversion of its own."""
    node = node.this if type(node).__name__ == "TsOrDsToDate" else node
    value = arguments.bind(node)
    if not (value.kind in (pa.date32(), pa.null()) or pa.types.is_timestamp(value.kind)):
        raise ValidationError(f"{piece(node)}: expected a date, got {kinds.name_of(value.kind)}; cast it to date")
    return coerced(value, pa.date32())


def _field_of_date(function: Callable[[pa.Array], pa.Array]) -> Callable[[Any, Arguments], Value]:
    """Return the binding of a function from a date to an int."""
    return lambda node, arguments: computed(pa.int32(), function, [_date(node.this, arguments)])


def _date_add(node: Any, arguments: Arguments) -> Value:
    days = arguments.bind(node.expression)
    if days.kind not in (pa.int8(), pa.int16(), pa.int32(), pa.null()):
        raise ValidationError(f"{piece(node.expression)}: expected int, got {kinds.name_of(days.kind)}; cast it to int")
    operands = [_date(node.this, arguments), coerced(days, pa.int32())]
    return computed(pa.date32(), dates.later, operands, can_fail=True)


def _date_diff(node: Any, arguments: Arguments) -> Value:
    operands = [_date(node.this, arguments), _date(node.expression, arguments)]
    return computed(pa.int32(), dates.days_between, operands, can_fail=True)


# ---- numbers


def _whole(function: Callable[[pa.Array, pa.DataType], pa.Array]) -> Callable[[Any, Arguments], Value]:
    """Return the binding of `floor` or `ceil`."""

    def bound(node: Any, arguments: Arguments) -> Value:
        if node.args.get("decimals") is not None or node.args.get("to") is not None:
            raise ValidationError(arguments.not_in_grammar())
        value = _number(node.this, arguments)
        kind = rounding.whole_kind(value.kind)
        return computed(kind, lambda values: function(values, kind), [value], can_fail=True)

    return bound


def _round(node: Any, arguments: Arguments) -> Value:
    value = _number(node.this, arguments)
    decimals = node.args.get("decimals")
    scale = 0 if decimals is None else arguments.constant_int(decimals)
    if scale < 0 or node.args.get("truncate") is not None or pa.types.is_floating(value.kind):
        raise ValidationError(
            "expected an integer or a decimal and a scale of at least 0; round a float or double as a decimal"
        )
    kind = rounding.rounded_kind(value.kind, scale)
    return computed(kind, lambda values: rounding.rounded(values, kind), [value], can_fail=True)


def _number(node: Any, arguments: Arguments) -> Value:
    value = arguments.bind(node)
    if not kinds.is_number(value.kind):
        raise ValidationError(f"{piece(node)}: expected a number, got {kinds.name_of(value.kind)}; cast it to a number")
    return value


FUNCTIONS: dict[str, Callable[[Any, Arguments], Value]] = {
    "Abs": lambda node, arguments: absolute(arguments.bind(node.this)),
    "Ceil": _whole(rounding.ceiling),
    "Concat": lambda node, arguments: _joined(node.expressions, arguments),
    "Contains": _found_text(strings.contains),
    "DPipe": lambda node, arguments: _joined([node.this, node.expression], arguments),
    "DateDiff": _date_diff,
    "Day": _field_of_date(dates.day),
    "DayOfMonth": _field_of_date(dates.day),
    "EndsWith": _found_text(strings.ends_with),
    "Floor": _whole(rounding.floor),
    "Length": _length,
    "Lower": _changed_text(strings.lower),
    "Month": _field_of_date(dates.month),
    "Replace": _replace,
    "Round": _round,
    "StartsWith": _found_text(strings.starts_with),
    "Substring": _substring,
    "Trim": _trim,
    "TsOrDsAdd": _date_add,
    "Upper": _changed_text(strings.upper),
    "Year": _field_of_date(dates.year),
}
"""The binding of each function: it takes the node and the arguments."""
