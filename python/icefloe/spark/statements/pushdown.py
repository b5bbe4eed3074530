"""The columns of each table that a query names, and the conditions on the table that hold for every row of the result."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from icefloe.expressions import And
from icefloe.spark.lexer import words_of
from icefloe.spark.statements.literal_filter import Filter, FilterBuilder
from icefloe.table.scan.metadata_columns import METADATA_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from icefloe.schema import Schema
    from icefloe.types import IcebergType

# Words with which a query uses columns that it does not name.
_IMPLICIT_COLUMNS = {"NATURAL", "PIVOT", "UNPIVOT", "IDENTIFIER", "|>", "TRANSFORM"}
_KEEPING_JOINS = ("", "INNER", "CROSS", "LEFT", "LEFT SEMI", "LEFT ANTI", "SEMI", "ANTI", "LEFT OUTER")


@dataclass(frozen=True)
class Pushdown:
    """The part of a table that a query reads.

    Args:
        columns: Columns; None for all.
        row_filter: Rows; None for all.
    """

    columns: tuple[str, ...] | None = None
    row_filter: Filter | None = None


class QueryColumns:
    """The names in a query.

    Args:
        text: The query.
        tree: Its syntax tree.

    Attributes:
        has_pipes: The query has pipe operators.
        hidden: The metadata columns that the query names, which its tables have beside their columns.
    """

    def __init__(self, text: str, tree: Any) -> None:
        self._names = {word.text.lower() for word in words_of(text)}
        implicit = {word.text.upper() for word in words_of(text) if word.kind in ("word", "sign")} & _IMPLICIT_COLUMNS
        # A condition after |> is about the rows of the operators before, such as LIMIT.
        self.has_pipes = "|>" in implicit
        self.hidden = tuple(name for name in METADATA_COLUMNS if name in self._names)
        self._all = bool(implicit) or any(not _is_row_count(star) for star in tree.find_all(exp.Star))

    def of(self, node: exp.Table, schema: Schema) -> tuple[str, ...] | None:
        """Return the columns of a table that the query may read, metadata columns included; None for all columns.

        A column is read if its name is a word of the query anywhere. Unneeded columns cost little, because Spark drops them.
        """
        from_select = isinstance(node.parent, (exp.From, exp.Join)) and isinstance(node.parent.parent, exp.Select)
        hidden, names = self.hidden, [field.name for field in schema.fields]
        if self._all or _renames_columns(node) or not from_select:
            return (*names, *hidden) if hidden else None
        return (*(name for name in names if name.lower() in self._names), *hidden) or tuple(names[:1])


def row_filter(  # noqa: PLR0913 - the parts of one query
    node: exp.Table,
    alias: str,
    schema: Schema,
    arguments: Mapping[str, Any],
    is_namespace: Callable[[tuple[str, ...]], bool],
    *,
    case_sensitive: bool,
) -> Filter | None:
    """Return the filter of the rows of a table that the WHERE clause of its SELECT may keep.

    Args:
        node: The table in the tree.
        alias: Name of the table in the query.
        schema: Schema of the table's rows.
        arguments: Values of named parameters.
        is_namespace: Returns whether some names before a function are of the functions of an attached catalog.
        case_sensitive: Whether names of columns are distinguished by case.
    """
    select = node.parent.parent if isinstance(node.parent, (exp.From, exp.Join)) else None
    if not isinstance(select, exp.Select) or not _keeps_rows(node, select) or _renames_columns(node):
        return None
    where = select.args.get("where")
    if where is None:
        return None
    fold = str if case_sensitive else str.lower
    shared = _shared_names(select, fold)
    columns: dict[str, list[tuple[str, IcebergType]]] = {}
    for field in schema.fields:
        columns.setdefault(fold(field.name), []).append((field.name, field.field_type))

    def column_of(tree: Any) -> tuple[str, IcebergType] | None:
        if not isinstance(tree, exp.Column) or isinstance(tree.this, exp.Star):
            return None
        # A name without a table is of this one, ambiguous, which Spark refuses, or in USING of the table before.
        if len(tree.parts) > 2 or (fold(tree.table) != fold(alias) if tree.table else fold(tree.name) in shared):
            return None
        found = columns.get(fold(tree.name), [])
        return found[0] if len(found) == 1 else None

    builder = FilterBuilder(column_of, arguments, is_namespace)
    conditions = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    filters = [builder.of(condition) for condition in conditions]
    known = [one for one in filters if one is not None]
    if not known:
        return None
    exact = len(known) == len(filters) and all(one.exact for one in known)
    return Filter(functools.reduce(And, [one.expression for one in known]), exact)


def _renames_columns(node: exp.Table) -> bool:
    """Return whether the alias of a table gives its columns other names."""
    alias = node.args.get("alias")
    return alias is not None and bool(alias.columns)


def _shared_names(select: exp.Select, fold: Callable[[str], str]) -> frozenset[str]:
    """Return the names that tables of a SELECT are joined by with USING, whose columns may have different types."""
    joins = select.args.get("joins") or []
    return frozenset(fold(one.name) for join in joins for one in join.args.get("using") or ())


def _keeps_rows(node: exp.Table, select: exp.Select) -> bool:
    """Return whether every row of the table that the WHERE clause refuses can be removed before the joins."""
    joins = select.args.get("joins") or []
    if any(_kind(join) not in _KEEPING_JOINS or join.args.get("method") for join in joins):
        return False
    if isinstance(node.parent, exp.Join) and _kind(node.parent) not in ("", "INNER", "CROSS"):
        return False
    if select.args.get("laterals") or select.args.get("sample"):
        return False
    sources = [node, *[join.this for join in joins]]
    return not any(source.args.get(key) for source in sources for key in ("sample", "pivots", "laterals", "joins"))


def _kind(join: exp.Join) -> str:
    return " ".join(part for part in (join.side, join.kind) if part).upper()


def _is_row_count(star: exp.Star) -> bool:
    return isinstance(star.parent, exp.Count)
