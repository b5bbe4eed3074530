"""Queries that only count the rows of a table, answered without a scan where metadata and position deletes have the number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from icefloe.spark.reader.read import default_version, resolve_scan
from icefloe.spark.reader.row_count import counted_rows
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from icefloe.spark.statements.pushdown import Pushdown
    from icefloe.spark.statements.references import Reference

_CLAUSES = {"expressions", "from", "from_", "where"}
_PARTS_OF_TABLE = {"this", "db", "catalog", "alias", "version"}


def counts_only(tree: Any, node: exp.Table) -> bool:
    """Return whether a query is ``SELECT count(*) FROM table``, with or without a WHERE clause and other names of columns.

    Args:
        tree: The query.
        node: Its table.
    """
    source = tree.args.get("from_") or tree.args.get("from") if isinstance(tree, exp.Select) else None
    if source is None or source.this is not node:
        return False
    if _has_others(tree, _CLAUSES) or _has_others(node, _PARTS_OF_TABLE):
        return False
    alias = node.args.get("alias")
    return (alias is None or not alias.columns) and all(_is_count(item) for item in tree.expressions)


def counted_query(spark: Any, tree: Any, reference: Reference, part: Pushdown) -> str | None:
    """Return the query of the numbers of a query for which :func:`counts_only` is true; None if it needs a scan.

    Args:
        spark: Session.
        tree: The query.
        reference: Its table, which is no metadata table, and the version.
        part: The rows that its WHERE clause selects.
    """
    if tree.args.get("where") is not None and (part.row_filter is None or not part.row_filter.exact):
        return None
    found = None if part.row_filter is None else part.row_filter.expression
    version = reference.version or default_version(spark, reference.table)
    rows = counted_rows(resolve_scan(reference.table, None, found, version))
    if rows is None:
        return None
    return "SELECT " + ", ".join(f"{rows}L AS {quoted(item.alias or 'count(1)')}" for item in tree.expressions)


def _has_others(node: Any, known: set[str]) -> bool:
    return any(value for key, value in node.args.items() if key not in known)


def _is_count(item: Any) -> bool:
    count = item.this if isinstance(item, exp.Alias) else item
    return (
        isinstance(count, exp.Count)
        and not count.expressions
        and (count.this == exp.Star() or count.this == exp.Literal.number(1))
    )
