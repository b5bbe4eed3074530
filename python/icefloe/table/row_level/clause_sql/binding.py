"""The binding of a syntax tree to columns: each node becomes a typed value, coerced as in Spark's ANSI mode."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.table.row_level.clause_sql import comparing, kinds, strings
from icefloe.table.row_level.clause_sql.arguments import Arguments
from icefloe.table.row_level.clause_sql.arithmetic import arithmetic, negated
from icefloe.table.row_level.clause_sql.coercion import (
    coerced,
    compared,
    converts,
    explicitly_cast,
    require_boolean,
    to_common,
)
from icefloe.table.row_level.clause_sql.constants import number, type_of, typed_text
from icefloe.table.row_level.clause_sql.functions import FUNCTIONS
from icefloe.table.row_level.clause_sql.parsing import parse, piece
from icefloe.table.row_level.clause_sql.value import (
    Value,
    chosen,
    computed,
    conjunction,
    disjunction,
    first_not_null,
    literal,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table.row_level.clause_sql.scope import Scope

_COMPARISONS: dict[str, Callable[..., pa.Array]] = {
    "EQ": comparing.equal,
    "NEQ": comparing.not_equal,
    "LT": comparing.less,
    "LTE": comparing.less_equal,
    "GT": comparing.greater,
    "GTE": comparing.greater_equal,
    "NullSafeEQ": comparing.null_safe_equal,
}
_PREDICATES = {*_COMPARISONS, "NullSafeNEQ", "Is", "In", "Between", "Like", "Not"}
_NEGATABLE = {"In", "Between", "Like"}
"""Predicates whose node may have the `not` in front of their keyword."""
_ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%", "IntDiv": "div"}
_UNKNOWN = literal(pa.nulls(1)[0])


def bind(text: str, scope: Scope) -> Value:
    """Return the value of an SQL text over columns.

    Raises:
        ValidationError: The text is not SQL, or has a part that the grammar lacks, which the message names.
        ResolveError: A name is no column.
    """
    return bind_tree(parse(text, scope.schema.names), scope)


def bind_tree(tree: Any, scope: Scope) -> Value:
    """Return the value of a syntax tree over columns; see :func:`bind`."""
    try:
        return _Binder(scope).bind(tree)
    except RecursionError as error:
        raise ValidationError("the expression is nested too deeply; write it as a pyarrow expression") from error


def equality(left: Value, right: Value, *, null_safe: bool) -> Value:
    """Return whether two values are equal, `=` or `<=>`."""
    return computed(pa.bool_(), _COMPARISONS["NullSafeEQ" if null_safe else "EQ"], compared([left, right]))


class _Binder:
    """The binding of one tree to the columns of a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._arguments = Arguments(self.bind, scope.schema.names)

    def bind(self, node: Any) -> Value:
        name = type(node).__name__
        try:
            return self._bound(name, node)
        except (_NamedValidationError, _NamedResolveError):
            raise
        except ResolveError as error:
            raise _NamedResolveError(str(error)) from error
        except (ValidationError, pa.ArrowException, ValueError, ArithmeticError) as error:
            raise _NamedValidationError(f"{piece(node)}: {error}") from error

    def _bound(self, name: str, node: Any) -> Value:
        if name in _COMPARISONS:
            left, right = compared(self._operands(node))
            return computed(pa.bool_(), _COMPARISONS[name], [left, right])
        if name in {"And", "Or"}:
            parts = [require_boolean(self.bind(part), name.lower()) for part in node.flatten(unnest=False)]
            return conjunction(parts) if name == "And" else disjunction(parts)
        if name in _ARITHMETIC:
            return arithmetic(_ARITHMETIC[name], self.bind(node.this), self.bind(node.expression))
        if name in FUNCTIONS:
            return FUNCTIONS[name](node, self._arguments)
        found = getattr(self, f"_{name.lower()}", None)
        if found is None or (node.args.get("negate") and name not in _NEGATABLE):
            raise ValidationError(self._not_in_grammar())
        value: Value = found(node)
        return value

    def _not_in_grammar(self) -> str:
        return self._arguments.not_in_grammar()

    def _operands(self, node: Any) -> list[Value]:
        for side in (node.this, node.expression):
            if type(side).__name__ in _PREDICATES:
                raise ValidationError(f"expected parentheses around {piece(side)}")
        return [self.bind(node.this), self.bind(node.expression)]

    def _tested(self, node: Any) -> Value:
        """Return the left side of a predicate; a predicate there must be in parentheses."""
        if type(node.this).__name__ in _PREDICATES:
            raise ValidationError(f"expected parentheses around {piece(node.this)}")
        return self.bind(node.this)

    # ---- names and literals

    def _paren(self, node: Any) -> Value:
        return self.bind(node.this)

    def _column(self, node: Any) -> Value:
        if type(node.this).__name__ == "Star":
            raise ValidationError(self._not_in_grammar())
        return self.scope.resolve([part.name for part in node.parts])

    def _dot(self, node: Any) -> Value:
        parts = node.parts
        if any(type(part).__name__ != "Identifier" for part in parts):
            raise ValidationError(self._not_in_grammar())
        return self.scope.resolve([part.name for part in parts])

    def _literal(self, node: Any) -> Value:
        return literal(pa.scalar(node.this, pa.string())) if node.is_string else number(node.this)

    def _null(self, node: Any) -> Value:
        return _UNKNOWN

    def _boolean(self, node: Any) -> Value:
        return literal(pa.scalar(bool(node.this)))

    def _hexstring(self, node: Any) -> Value:
        digits = node.this if len(node.this) % 2 == 0 else f"0{node.this}"
        return literal(pa.scalar(bytes.fromhex(digits), pa.binary()))

    def _neg(self, node: Any) -> Value:
        inner = node.this
        if type(inner).__name__ == "Literal" and not inner.is_string:
            return number(f"-{inner.this}")
        return negated(self.bind(inner))

    # ---- logic

    def _not(self, node: Any) -> Value:
        return _inverted(require_boolean(self.bind(node.this), "not"))

    def _nullsafeneq(self, node: Any) -> Value:
        left, right = compared(self._operands(node))
        return computed(pa.bool_(), lambda a, b: pc.invert(comparing.null_safe_equal(a, b)), [left, right])

    def _is(self, node: Any) -> Value:
        tested, expected = self._tested(node), node.expression
        if type(expected).__name__ == "Null":
            return computed(pa.bool_(), pc.is_null, [tested])
        if type(expected).__name__ == "Boolean":
            other = literal(pa.scalar(bool(expected.this)))
            return computed(pa.bool_(), comparing.null_safe_equal, [require_boolean(tested, "is"), other])
        if type(expected).__name__ == "Column" and expected.name.lower() == "nan":
            return _is_nan(tested)
        raise ValidationError("expected null, true, false or nan after `is`")

    def _isnan(self, node: Any) -> Value:
        return _is_nan(self.bind(node.this))

    def _in(self, node: Any) -> Value:
        tested = self._tested(node)
        listed = node.args.get("expressions") or []
        if not listed or node.args.get("query") is not None:
            raise ValidationError("`in`: expected a list of values in parentheses")
        tested, *members = compared([tested, *(self.bind(one) for one in listed)])
        if all(member.constant for member in members):
            values = pa.concat_arrays([pa.array([member.single()], tested.kind) for member in members])
            found = computed(pa.bool_(), lambda rows: comparing.is_member(rows, values), [tested])
        else:
            equals = [computed(pa.bool_(), comparing.equal, [tested, member]) for member in members]
            found = disjunction(equals)
        return _inverted(found) if node.args.get("negate") else found

    def _between(self, node: Any) -> Value:
        tested = self._tested(node)
        low, high = self.bind(node.args["low"]), self.bind(node.args["high"])
        above = computed(pa.bool_(), comparing.greater_equal, compared([tested, low]))
        below = computed(pa.bool_(), comparing.less_equal, compared([tested, high]))
        found = conjunction([above, below])
        return _inverted(found) if node.args.get("negate") else found

    # ---- choices

    def _if(self, node: Any) -> Value:
        condition = require_boolean(self.bind(node.this), "if")
        otherwise = node.args.get("false")
        values = to_common([self.bind(node.args["true"]), _UNKNOWN if otherwise is None else self.bind(otherwise)])
        return chosen([condition], values[:1], values[1])

    def _case(self, node: Any) -> Value:
        subject = None if node.this is None else self.bind(node.this)
        conditions = []
        for branch in node.args["ifs"]:
            tested = self.bind(branch.this)
            if subject is None:
                conditions.append(require_boolean(tested, "when"))
            else:
                conditions.append(computed(pa.bool_(), comparing.equal, compared([subject, tested])))
        otherwise = node.args.get("default")
        values = [self.bind(branch.args["true"]) for branch in node.args["ifs"]]
        values = to_common([*values, _UNKNOWN if otherwise is None else self.bind(otherwise)])
        return chosen(conditions, values[:-1], values[-1])

    def _coalesce(self, node: Any) -> Value:
        return first_not_null(to_common([self.bind(one) for one in (node.this, *node.expressions)]))

    def _nullif(self, node: Any) -> Value:
        left = self.bind(node.this)
        equal = computed(pa.bool_(), comparing.equal, compared([left, self.bind(node.expression)]))
        return chosen([equal], [coerced(_UNKNOWN, left.kind)], left)

    def _least(self, node: Any) -> Value:
        return self._extreme(node, comparing.least)

    def _greatest(self, node: Any) -> Value:
        return self._extreme(node, comparing.greatest)

    def _extreme(self, node: Any, function: Callable[..., pa.Array]) -> Value:
        operands = compared([self.bind(one) for one in (node.this, *node.expressions)])
        kind = operands[0].kind
        return functools.reduce(lambda left, right: computed(kind, function, [left, right]), operands)

    # ---- texts and types

    def _cast(self, node: Any) -> Value:
        target = type_of(node.to)
        if type(node.this).__name__ == "Literal":
            typed = typed_text(node.this, node.to)
            if typed is not None:
                return typed
        value = self.bind(node.this)
        if not converts(value, target):
            raise ValidationError(
                f"a cast of {kinds.name_of(value.kind)} to {kinds.name_of(target)} is {self._not_in_grammar()}"
            )
        return explicitly_cast(value, target)

    def _trycast(self, node: Any) -> Value:
        if node.args.get("safe"):
            raise ValidationError(self._not_in_grammar())
        return self._cast(node)

    def _like(self, node: Any) -> Value:
        tested, pattern = coerced(self._tested(node), pa.string()), self._arguments.constant_text(node.expression)
        strings.check_pattern(pattern)
        found = computed(pa.bool_(), lambda values: strings.like(values, pattern), [tested])
        return _inverted(found) if node.args.get("negate") else found

    def _anonymous(self, node: Any) -> Value:
        name, arguments = str(node.this).lower(), node.expressions
        if name in {"isnull", "isnotnull"} and len(arguments) == 1:
            found = computed(pa.bool_(), pc.is_null, [self.bind(arguments[0])])
            return found if name == "isnull" else _inverted(found)
        raise ValidationError(self._not_in_grammar())


class _NamedValidationError(ValidationError):
    """A ValidationError whose message names the part of the text."""


class _NamedResolveError(ResolveError):
    """A ResolveError whose message names the part of the text."""


def _inverted(value: Value) -> Value:
    return computed(pa.bool_(), pc.invert, [value])


def _is_nan(value: Value) -> Value:
    if value.kind == pa.null() or kinds.is_integer(value.kind):
        return computed(pa.bool_(), lambda values: pc.and_(pc.is_null(values), pa.scalar(value=False)), [value])
    if not pa.types.is_floating(value.kind):
        raise ValidationError(f"`nan`: expected a float or double, got {kinds.name_of(value.kind)}")
    return computed(pa.bool_(), comparing.is_nan, [value])
