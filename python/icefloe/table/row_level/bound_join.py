"""The condition of a merge's join over Arrow columns: the keys to hash, and conditions on rows of one side and on pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import AlwaysTrue, And, BooleanExpression
from icefloe.table.row_level.clause_expressions import SOURCE, TARGET, RowFunction, condition_of, function_of
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clause_sql.binding import bind_tree, equality
from icefloe.table.row_level.clause_sql.coercion import coerced, compared, require_boolean
from icefloe.table.row_level.clause_sql.value import Value, computed, conjunction
from icefloe.table.row_level.row_condition import as_filter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.table.row_level.clause_expressions import JoinedColumns
    from icefloe.table.row_level.clause_sql.scope import Scope
    from icefloe.table.row_level.join_keys import JoinKey

_EQUALITIES = {"EQ", "NullSafeEQ"}
_INTEGER_BITS = {pa.int8(): 7, pa.int16(): 15, pa.int32(): 31, pa.int64(): 63}


@dataclass(frozen=True)
class HashKey:
    """A column of the table that equals a value of the source.

    Attributes:
        target: Name of the table's column.
        values: The value, a function of the source's rows.
        null_safe: Null equals null (`<=>`); null equals nothing otherwise.
    """

    target: str
    values: RowFunction
    null_safe: bool


@dataclass(frozen=True)
class BlockKey:
    """An equality of a value of the table and a value of the source, for a join without keys.

    Attributes:
        of_target: The value of the table, a function of the table's rows.
        of_source: The value of the source in the same type, a function of the source's rows.
        null_safe: Null equals null (`<=>`); null equals nothing otherwise.
    """

    of_target: RowFunction
    of_source: RowFunction
    null_safe: bool


@dataclass(frozen=True)
class BoundJoin:
    """The parts of a join's condition, all of which must be true for a pair of rows.

    Attributes:
        keys: Keys to hash.
        of_source: Condition on a source row; None for every row.
        of_target: Filter of the table's rows that are in a pair.
        of_pairs: Conditions on a pair, evaluated in order.
        fallible: Values of keys that may fail. A join that keeps every source row computes them for every row, as in Spark.
        block_key: An equality among the conditions on a pair; None if there is none.
        source_columns: The source's columns that the condition reads, for messages.
        label: The condition in messages.
    """

    keys: tuple[HashKey, ...]
    of_source: RowFunction | None = None
    of_target: BooleanExpression = field(default_factory=AlwaysTrue)
    of_pairs: tuple[RowFunction, ...] = ()
    fallible: tuple[RowFunction, ...] = ()
    block_key: BlockKey | None = None
    source_columns: tuple[str, ...] = ()
    label: str = "merge, on"


def _is_exact(source: pa.DataType, target: pa.DataType) -> bool:
    """Return whether values of the source equal values of the table exactly where they are equal in the table's type.

    Spark compares a date with a timestamp, a text with another value, and numbers of different types in a type that has the values of
    both: 1e10 equals no `decimal(9,2)`, and 2.004 is not the 2.00 that it would be there.
    """
    if target == pa.date32():
        return not isinstance(source, pa.TimestampType)
    if kinds.is_number(target) and (kinds.is_number(source) or pa.types.is_string(source)):
        return bool(kinds.common(target, source) == target)
    return bool(target != pa.string() or source in (pa.string(), pa.null()))


def bind_join(
    keys: Sequence[JoinKey], terms: Sequence[Any], joined: JoinedColumns, schema: pa.Schema, label: str
) -> BoundJoin:
    """Resolve the names and types of a join's condition.

    Args:
        keys: Key columns of both sides, in the spelling of their schemas.
        terms: Syntax trees and expressions that must be true as well.
        joined: The columns of both sides.
        schema: The table's Arrow schema, in storage types.
        label: The condition in messages.

    Raises:
        ValidationError: A term is not understood or not boolean.
        ResolveError: A name is no column.
    """
    binder = _JoinBinder(joined, schema, label)
    for key in keys:
        binder.add_key(key)
    for term in terms:
        binder.add(term)
    return binder.bound()


class _JoinBinder:
    """The terms of one condition, each as the part that costs least."""

    def __init__(self, joined: JoinedColumns, schema: pa.Schema, label: str) -> None:
        self._joined = joined
        self._schema = schema
        self._label = label
        self._keys: dict[str, HashKey] = {}
        self._of_source: list[Value] = []
        self._of_target: BooleanExpression = AlwaysTrue()
        self._of_pairs: list[RowFunction] = []
        self._fallible: list[RowFunction] = []
        self._pending: list[Value] = []
        self._block_key: BlockKey | None = None
        self._read: dict[str, None] = {}

    def add_key(self, key: JoinKey) -> None:
        name = SOURCE + key.source
        left, right = (self._joined.scope.resolve([one]) for one in (TARGET + key.target, name))
        self._read[key.source] = None
        if not key.cast and kinds.is_integer(left.kind) and kinds.is_integer(right.kind):
            self._add_value_key(key.target, right, left.kind, null_safe=key.null_safe)
        elif key.cast or _is_exact(right.kind, left.kind):
            values = RowFunction(lambda rows: rows.column(name), frozenset([name]))
            self._keys[key.target] = HashKey(key.target, values, key.null_safe)
        else:
            self._pending.append(equality(left, right, null_safe=key.null_safe))
            self._note_block_key(left, right, null_safe=key.null_safe)

    def add(self, term: Any) -> None:
        if isinstance(term, (BooleanExpression, pc.Expression)):
            self._flush()
            self._of_pairs.append(condition_of(term, self._joined, self._label))
            return
        scope = self._joined.scope
        value = self._bound(term, scope)
        if self._add_computed_key(term, scope):
            return
        value = require_boolean(value, "on")
        sides = _sides(value)
        self._note(value)
        if sides == {SOURCE} and not value.can_fail:
            self._of_source.append(value)
            return
        # A condition that may fail is evaluated for pairs alone, after the terms before it.
        self._pending.append(value)
        if type(term).__name__ in _EQUALITIES:
            sides_of_term = (self._bound(one, scope) for one in (term.this, term.expression))
            self._note_block_key(*sides_of_term, null_safe=type(term).__name__ == "NullSafeEQ")
        if sides == {TARGET}:
            found = self._filter_of(term, scope)
            self._of_target = self._of_target if found is None else And(self._of_target, found)

    def bound(self) -> BoundJoin:
        self._flush()
        of_source = None
        if self._of_source:
            of_source = function_of(conjunction(self._of_source), pa.bool_(), self._label)
        return BoundJoin(
            tuple(self._keys.values()),
            of_source,
            self._of_target,
            tuple(self._of_pairs),
            tuple(self._fallible),
            self._block_key,
            tuple(self._read),
            self._label,
        )

    def _note_block_key(self, left: Value, right: Value, *, null_safe: bool) -> None:
        """Record the first equality of a value of each side."""
        left, right = compared([left, right])
        if self._block_key is not None or not _has_index(left.kind):
            return
        if _sides(left) == {SOURCE} and _sides(right) == {TARGET}:
            left, right = right, left
        if _sides(left) == {TARGET} and _sides(right) == {SOURCE}:
            of_target, of_source = (function_of(one, one.kind, self._label) for one in (left, right))
            self._block_key = BlockKey(of_target, of_source, null_safe)

    def _flush(self) -> None:
        if self._pending:
            self._of_pairs.append(function_of(conjunction(self._pending), pa.bool_(), self._label))
            self._pending = []

    def _bound(self, node: Any, scope: Scope) -> Value:
        try:
            return bind_tree(node, scope)
        except ResolveError as error:
            raise ResolveError(f"{self._label}: {error}") from error
        except ValidationError as error:
            raise ValidationError(f"{self._label}: {error}") from error

    def _note(self, value: Value) -> None:
        self._read.update((name[len(SOURCE) :], None) for name in sorted(value.columns) if name.startswith(SOURCE))

    def _add_computed_key(self, node: Any, scope: Scope) -> bool:
        """Add the equality of a column of the table and a value of the source as a key, if values can be hashed."""
        if type(node).__name__ not in _EQUALITIES:
            return False
        for own, other in ((node.this, node.expression), (node.expression, node.this)):
            name = _column_of(own, scope)
            if name is None or not name.startswith(TARGET) or name[len(TARGET) :] in self._keys:
                continue
            value = self._bound(other, scope)
            target = scope.resolve([name])
            if _sides(value) != {SOURCE} or not _is_hashable(value.kind, target.kind):
                continue
            self._note(value)
            self._add_value_key(name[len(TARGET) :], value, target.kind, null_safe=type(node).__name__ == "NullSafeEQ")
            return True
        return False

    def _add_value_key(self, name: str, value: Value, kind: pa.DataType, *, null_safe: bool) -> None:
        if kinds.is_integer(kind) and kinds.common(kind, value.kind) != kind:
            # Source numbers outside the range of the column's type match no target row.
            self._of_source.append(computed(pa.bool_(), lambda values: _is_within(values, kind), [value]))
        if value.can_fail:
            self._fallible.append(function_of(value, value.kind, self._label))
        values = function_of(coerced(value, kind), self._schema.field(name).type, self._label)
        self._keys[name] = HashKey(name, values, null_safe)

    def _filter_of(self, node: Any, scope: Scope) -> BooleanExpression | None:
        """Return a term over the table alone as a filter of its rows; None if there is none."""
        from sqlglot import exp

        def without_side(one: Any) -> Any:
            name = _column_of(one, scope)
            return one if name is None else exp.column(exp.to_identifier(name[len(TARGET) :], quoted=True))

        return as_filter(node.copy().transform(without_side), self._joined.table, case_sensitive=True)


def _column_of(node: Any, scope: Scope) -> str | None:
    """Return the full name of the column that a syntax tree is; None for other trees and for fields within structs."""
    while type(node).__name__ == "Paren":
        node = node.this
    if type(node).__name__ != "Column" or type(node.this).__name__ == "Star":
        return None
    try:
        name, path = scope.located([part.name for part in node.parts])
    except ResolveError:
        return None
    return None if path else name


def _sides(value: Value) -> set[str]:
    return {side for name in value.columns for side in (SOURCE, TARGET) if name.startswith(side)}


def _is_hashable(kind: pa.DataType, target: pa.DataType) -> bool:
    """Return whether a value is compared with a column in the column's type, or as whole numbers."""
    if kind == pa.binary() or target == pa.binary():
        # Columns of type fixed have values of one length.
        return False
    return kinds.is_known(kind) and (
        kinds.common(target, kind) == target or (kinds.is_integer(kind) and kinds.is_integer(target))
    )


def _has_index(kind: pa.DataType) -> bool:
    """Return whether Arrow finds values of a type in a set."""
    return kind != pa.null() and not pa.types.is_decimal256(kind)


def _is_within(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return whether whole numbers are null or in the range of a type."""
    least, greatest = -(1 << _INTEGER_BITS[kind]), (1 << _INTEGER_BITS[kind]) - 1
    within = pc.and_(pc.greater_equal(values, least), pc.less_equal(values, greatest))
    return pc.fill_null(within, True)
