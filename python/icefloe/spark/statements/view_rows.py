"""Views of attached catalogs in queries: a view has the rows of its own query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from icefloe.exceptions import NoSuchTableError, ValidationError
from icefloe.spark.lexer import words_of
from icefloe.spark.statements.catalog_views import catalog_view
from icefloe.spark.statements.qualified_columns import qualifier_edits
from icefloe.spark.statements.query_tables import after_sample, named_node, span_of
from icefloe.spark.statements.references import References
from icefloe.spark.types.conform import quoted
from icefloe.spark.types.to_spark import read_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from pyspark.sql import DataFrame

    from icefloe.spark.statements.catalog_views import CatalogView
    from icefloe.spark.statements.statement import Statement

_FRAME = "icefloe_view_{}"


def with_view_rows(
    statement: Statement,
    tree: Any,
    text: str,
    frames: Collection[str],
    query: Callable[[Statement, str], DataFrame],
) -> tuple[str, dict[str, DataFrame]]:
    """Return a query in which names of DataFrames stand in the place of views, and the DataFrames by these names.

    Args:
        statement: The statement that the query is a part of.
        tree: Syntax tree of the query.
        text: The query.
        frames: Names of DataFrames, which the query reads as tables.
        query: Returns the rows of a query.

    Raises:
        ValidationError: A view reads itself, or names tables of a catalog that is not attached.
        FeatureUnsupportedError: A view has no query in the dialect of Spark.
    """
    words = words_of(text)
    rows: dict[str, DataFrame] = {}
    edits = []
    for node, found in _views_in_query(statement, tree, frames):
        name = _FRAME.format(len(rows))
        rows[name] = _rows(statement, found, query)
        start, end = span_of(node)
        edits += qualifier_edits(text, tuple(part.name for part in node.parts), quoted(node.alias or node.name))
        edits.append((start, end, name))
        if not node.alias:
            alias_at = after_sample(words, end)
            edits.append((alias_at, alias_at, f" AS {quoted(node.name)}"))
    for start, end, new in sorted(set(edits), reverse=True):
        text = text[:start] + new + text[end:]
    return text, rows


def _views_in_query(
    statement: Statement, tree: Any, frames: Collection[str]
) -> Iterator[tuple[exp.Table, CatalogView]]:
    for node in tree.find_all(exp.Table):
        parts = named_node(statement, node, frames)
        if parts is None:
            continue
        try:
            statement.references.resolve(parts)
        except NoSuchTableError:
            found = catalog_view(statement.references, parts)
            if found is None:
                raise
            if node.args.get("version") is not None:
                raise ValidationError(
                    f"view {found.dotted}: expected no version, as a view has the rows of its query now"
                ) from None
            yield node, found


def _rows(statement: Statement, found: CatalogView, query: Callable[[Statement, str], DataFrame]) -> DataFrame:
    """Return the rows of a view, with the columns of its schema."""
    if found.dotted in statement.views:
        raise ValidationError(
            f"view {found.dotted}: expected a query of other tables, got one that reads itself: "
            f"{' reads '.join((*statement.views, found.dotted))}"
        )
    current = found.namespace_of_names(statement.lakes)
    references = References(statement.lakes, statement.spark, current, temporary_views=False)
    views = (*statement.views, found.dotted)
    rows = query(replace(statement, references=references, arguments=None, above="", views=views), found.text)
    schema = found.schema
    if len(rows.columns) != len(schema.fields):
        raise ValidationError(
            f"view {found.dotted}: expected {len(schema.fields)} columns of its query, got {len(rows.columns)}"
        )
    return rows.toDF(*[field.name for field in schema.fields]).to(read_schema(schema))
