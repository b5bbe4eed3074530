"""Queries over attached tables: each table that a query names is read by a scan of its own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.errors import ParseException
from sqlglot import exp

from icefloe.exceptions import IcebergError, ValidationError
from icefloe.spark.lexer import words_of
from icefloe.spark.metadata_tables import metadata_frame, metadata_rows
from icefloe.spark.reader.read import pruned_rows, read, resolve_scan
from icefloe.spark.statements.cached_table import cached_rows
from icefloe.spark.statements.catalog_functions import is_function_namespace, run_query
from icefloe.spark.statements.current_functions import with_current_namespace
from icefloe.spark.statements.parsed_query import parsed
from icefloe.spark.statements.pushdown import Pushdown, QueryColumns, row_filter
from icefloe.spark.statements.qualified_columns import qualifier_edits
from icefloe.spark.statements.query_tables import TableInQuery, span_of, tables_in_query
from icefloe.spark.statements.row_count import counted_query, counts_only
from icefloe.spark.statements.star import star_edits
from icefloe.spark.statements.statement import mentions, names_catalog, run
from icefloe.spark.statements.unparsed_query import named_tables
from icefloe.spark.statements.view_rows import with_view_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from icefloe.spark.statements.references import Reference
    from icefloe.spark.statements.statement import Statement

_FRAME = "icefloe_{}"


def frame_of_query(
    statement: Statement, text: str, frames: Mapping[str, DataFrame] | None = None, *, command: str = ""
) -> DataFrame:
    """Return the rows of a query.

    Args:
        statement: The statement that the query is a part of.
        text: The query.
        frames: DataFrames that the query names as tables.
        command: Words before the query for Spark, such as `EXPLAIN`.

    Raises:
        ValidationError: The query does not parse, or a version is no version.
        NoSuchTableError: A table does not exist.
    """
    frames = dict(frames or {})
    if not frames and not mentions(statement, text):
        return run(statement, command + text)
    words = words_of(text)
    if words and words[0].is_keyword("TABLE"):
        text = f"SELECT * FROM {text[words[0].end :]}"
    if statement.references.current is not None:
        text = with_current_namespace(text, statement.references.current)
    try:
        tree = parsed(text)
    except ValidationError as error:
        return frame_of_unparsed_query(statement, text, frames, command, error)
    text_without_views, views = with_view_rows(statement, tree, text, frames, frame_of_query)
    if views:
        return frame_of_query(statement, text_without_views, {**frames, **views}, command=command)
    tables = tables_in_query(statement, tree, text, frames)
    columns = QueryColumns(text, tree)
    counted = None if frames else _counted_query(statement, tree, tables, columns)
    if counted is not None:
        return run(statement, command + counted)
    edits, given = _placed_frames(statement, tree, tables, columns, frames)
    if not given:
        return run_query(statement, command, text)
    edits += _qualifiers(text, tables, edits)
    edits += star_edits(
        text,
        {
            table.start: (_quoted(table.alias), columns.hidden)
            for table in tables
            if columns.hidden and table.reference.metadata_table is None
        },
    )
    return run_query(statement, command, _edited(text, edits), given)


def _placed_frames(
    statement: Statement,
    tree: Any,
    tables: Sequence[TableInQuery],
    columns: QueryColumns,
    frames: Mapping[str, DataFrame],
) -> tuple[list[tuple[int, int, str]], dict[str, DataFrame]]:
    """Return the edits that put the names of DataFrames in the place of tables, and the DataFrames by these names."""
    edits: list[tuple[int, int, str]] = []
    given: dict[str, DataFrame] = {}
    for table in tables:
        name = _FRAME.format(len(given))
        given[name] = _table_frame(statement, table, columns)
        edits.append((table.start, table.end, f"{{{name}}}"))
        if table.alias_at is not None:
            edits.append((table.alias_at, table.alias_at, f" AS {_quoted(table.alias)}"))
    for node in tree.find_all(exp.Table):
        if len(node.parts) == 1 and node.name in frames:
            start, end = span_of(node)
            given[node.name] = frames[node.name]
            edits.append((start, end, f"{{{node.name}}}"))
    return edits, given


def frame_of_unparsed_query(
    statement: Statement, text: str, frames: Mapping[str, DataFrame], command: str, error: IcebergError
) -> DataFrame:
    """Return the rows of a statement that only Spark can parse or run: all rows and columns of each table are scanned.

    Raises:
        IcebergError: `error`, if Spark cannot parse the statement either, or the statement has a clause for a version.
        ValidationError: The current catalog is no longer attached.
    """
    references = statement.references
    if references.current is not None:
        # Some relative names of a query that only Spark parses are not found, and Spark would read tables of its own by them.
        references.current_lake(references.current)
    tables = None if frames else named_tables(references, text)
    if not tables:
        if frames or names_catalog(statement, text):
            raise error
        return run_query(statement, command, text)
    edits: list[tuple[int, int, str]] = []
    given: dict[str, DataFrame] = {}
    for table in tables:
        name = _FRAME.format(len(given))
        given[name] = _whole_table_frame(statement, table.reference)
        alias = "" if table.has_alias else f" AS {_quoted(table.reference.identifier[-1])}"
        edits.append((table.start, table.end, f"{{{name}}}{alias}"))
    try:
        frame = run_query(statement, command, _edited(text, edits), given)
        # Over Spark Connect, reading the schema makes Spark parse the query.
        _ = frame.schema
    except ParseException as refusal:
        raise error from refusal
    return frame


def pushdown_of(statement: Statement, table: TableInQuery, columns: QueryColumns) -> Pushdown:
    """Return the columns and rows of a table that a query reads."""
    schema = resolve_scan(table.reference.table, None, None, table.reference.version).schema()
    if columns.has_pipes:
        return Pushdown(columns.of(table.node, schema))
    found = row_filter(
        table.node,
        table.alias,
        schema,
        statement.named_arguments,
        partial(is_function_namespace, statement),
        case_sensitive=statement.case_sensitive(),
    )
    return Pushdown(columns.of(table.node, schema), found)


def single_table(statement: Statement, text: str) -> tuple[TableInQuery, QueryColumns]:
    """Return the first table of a query's FROM clause and the names in the query."""
    tree = parsed(text)
    tables = tables_in_query(statement, tree, text)
    first = tree.args.get("from_") or tree.args.get("from")
    return next(table for table in tables if table.node is first.this), QueryColumns(text, tree)


def _table_frame(statement: Statement, table: TableInQuery, columns: QueryColumns) -> DataFrame:
    reference = table.reference
    if reference.metadata_table is not None:
        return _whole_table_frame(statement, reference)
    if not reference.version and not columns.hidden:
        cached = cached_rows(statement.spark, reference)
        if cached is not None:
            return cached
    part = pushdown_of(statement, table, columns)
    found = None if part.row_filter is None else part.row_filter.expression
    return pruned_rows(statement.spark, reference.table, part.columns, found, reference.version)


def _whole_table_frame(statement: Statement, reference: Reference) -> DataFrame:
    if reference.metadata_table is not None:
        rows = metadata_rows(reference.table, reference.metadata_table, _snapshot_id(reference))
        frame: DataFrame = metadata_frame(statement.spark, rows)
        return frame
    return read(reference.table, spark=statement.spark, **reference.version)


def _counted_query(
    statement: Statement, tree: Any, tables: Sequence[TableInQuery], columns: QueryColumns
) -> str | None:
    """Return the query of the numbers of a query that only counts the rows of one table; None if it needs a scan."""
    if len(tables) != 1 or tables[0].reference.metadata_table is not None or not counts_only(tree, tables[0].node):
        return None
    return counted_query(statement.spark, tree, tables[0].reference, pushdown_of(statement, tables[0], columns))


def _snapshot_id(reference: Reference) -> int | None:
    if not reference.version:
        return None
    scan: Any = resolve_scan(reference.table, None, None, reference.version)
    snapshot = scan.snapshot()
    return None if snapshot is None else int(snapshot.snapshot_id)


def _qualifiers(
    text: str, tables: Sequence[TableInQuery], edits: Sequence[tuple[int, int, str]]
) -> list[tuple[int, int, str]]:
    """Return the edits that replace full names of tables before columns by their aliases."""
    aliases = {
        tuple(part.name for part in table.node.parts): table.alias for table in tables if table.alias_at is not None
    }
    found = [edit for parts, alias in aliases.items() for edit in qualifier_edits(text, parts, _quoted(alias))]
    return [edit for edit in found if not any(start <= edit[0] < end for start, end, _ in edits)]


def _edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Return a text with replaced parts, as a format of DataFrames: other braces are doubled."""
    pieces, at = [], 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        pieces += [text[at:start].replace("{", "{{").replace("}", "}}"), new]
        at = end
    return "".join([*pieces, text[at:].replace("{", "{{").replace("}", "}}")])


def _quoted(name: str) -> str:
    # A brace in a name would be taken for a DataFrame.
    return "`" + name.replace("`", "``").replace("{", "{{").replace("}", "}}") + "`"
