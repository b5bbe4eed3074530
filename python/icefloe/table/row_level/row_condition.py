"""The condition of an update or a delete: a filter that prunes files, and a condition on rows where a filter cannot express it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import AlwaysTrue, And, BooleanExpression, Not, Or
from icefloe.expressions.bound import BoundPredicate
from icefloe.expressions.filter import Filter
from icefloe.expressions.parser import parse as parse_filter
from icefloe.table.row_level.clause_sql.parsing import conjuncts, parse
from icefloe.types import DoubleType, FloatType, PrimitiveType

if TYPE_CHECKING:
    from typing import TypeAlias

    from icefloe.schema import Schema
    from icefloe.table.row_level.target import Target

    Where: TypeAlias = str | BooleanExpression | pc.Expression


@dataclass(frozen=True)
class RowCondition:
    """The rows that an update or a delete changes.

    Attributes:
        row_filter: A filter that is true for these rows.
        of_rows: SQL text or pyarrow expression over `target` that is true for these rows among the rows of the filter; None for all of
            them.
    """

    row_filter: Filter
    of_rows: str | pc.Expression | None


def row_condition(target: Target, where: Where, verb: str, *, case_sensitive: bool) -> RowCondition:
    """Return the condition of an expression or a text.

    A text that is a filter, such as `"id > 5 and country = 'fr'"`, means what it means in a scan. Any other text is SQL over the table's
    columns, such as `"n + 1 > m"`; its parts between `and` that are filters prune files. A pyarrow expression prunes none.

    Args:
        target: The table.
        where: The condition.
        verb: The change in messages: update or delete.
        case_sensitive: Whether names in a filter must match in case.

    Raises:
        ValidationError: The text is neither a filter nor SQL that can be evaluated here.
    """
    if isinstance(where, pc.Expression):
        return RowCondition(target.filter(AlwaysTrue(), case_sensitive=case_sensitive), where)
    row_filter = _scan_filter(target, where, case_sensitive=case_sensitive)
    if row_filter is not None:
        return RowCondition(row_filter, None)
    assert isinstance(where, str)
    try:
        tree = parse(where)
    except ValidationError as error:
        raise ValidationError(f"{verb}, condition {where!r}: {error}") from error
    schema = target.metadata.schema()
    parts = [as_filter(part, schema, case_sensitive=case_sensitive) for part in conjuncts(tree)]
    pruning: BooleanExpression = AlwaysTrue()
    for part in parts:
        pruning = pruning if part is None else And(pruning, part)
    return RowCondition(target.filter(pruning, case_sensitive=case_sensitive), where)


def _scan_filter(target: Target, where: str | BooleanExpression, *, case_sensitive: bool) -> Filter | None:
    """Return a condition as a filter; None for a text that is SQL and no filter."""
    try:
        row_filter = target.filter(where, case_sensitive=case_sensitive)
        if not isinstance(where, str):
            return row_filter
        if _names_target(where, target.metadata.schema()):
            return None
        if _reads_nested(row_filter.bound):
            return None
    except ResolveError:
        raise
    except ValidationError:
        # SQL casts literals that a filter refuses, such as the text of a timestamp beside a date.
        if not isinstance(where, str) or not _is_sql(where, any_function=not _is_in_filter_grammar(where)):
            raise
        return None
    return row_filter


def _reads_nested(bound: BooleanExpression) -> bool:
    """Return whether a filter tests a struct, list or map, which plans do not support."""
    waiting: list[Any] = [bound]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (And, Or)):
            waiting += [part.left, part.right]
        elif isinstance(part, Not):
            waiting.append(part.child)
        elif isinstance(part, BoundPredicate) and not isinstance(part.term.ref().field.field_type, PrimitiveType):
            return True
    return False


def _is_sql(text: str, *, any_function: bool) -> bool:
    try:
        parse(text, any_function=any_function)
    except ValidationError:
        return False
    return True


def _is_in_filter_grammar(text: str) -> bool:
    try:
        parse_filter(text)
    except ValidationError:
        return False
    return True


def _names_target(where: str, schema: Schema) -> bool:
    """Return whether a text has names such as `target.id`, which filters lack, and the table has no column `target`."""
    return "target." in where.lower() and all(field.name.lower() != "target" for field in schema.fields)


def as_filter(node: Any, schema: Schema, *, case_sensitive: bool) -> BooleanExpression | None:
    """Return a part of a condition, over the columns of a table, as a filter that is true for the same rows; None if there is none.

    Comparisons of floating-point columns are left out: NaN is above all numbers in SQL, and has no order in filters. So are tests of
    structs, lists and maps, which plans do not support.
    """
    names = [one for one in node.walk() if type(one).__name__ == "Column"]
    try:
        if any(len(one.parts) > 1 for one in names):
            return None
        for one in names:
            kind = schema.find_field(one.name, case_sensitive).field_type
            if isinstance(kind, (FloatType, DoubleType)) or not isinstance(kind, PrimitiveType):
                return None
        found = Filter.of(_filter_text(node), schema, case_sensitive=case_sensitive)
        found.bound  # noqa: B018 - raises for names and literals that do not fit
    except (ValidationError, ValueError, ResolveError):
        return None
    return found.expression


def _filter_text(node: Any) -> str:
    """Return a tree as the text of a filter, in which strings have no escape sequences and bytes are `X'00ff'`."""
    from sqlglot import exp

    def respelled(one: Any) -> Any:
        return exp.Var(this=f"X'{one.name}'") if isinstance(one, exp.HexString) else one

    return str(node.transform(respelled).sql())
