"""``icefloe.spark.sql``: Spark SQL with the statements that Spark itself runs on no Python data source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_text
from icefloe.spark.lexer import with_backquotes, with_quoted_keywords, words_of
from icefloe.spark.session import active_session
from icefloe.spark.statements.alter_table import alter_table
from icefloe.spark.statements.attached_sessions import found_catalogs
from icefloe.spark.statements.brackets import check_one_statement
from icefloe.spark.statements.cached_query import cache_table
from icefloe.spark.statements.cached_table import clear_cache, uncache_table
from icefloe.spark.statements.call import call
from icefloe.spark.statements.change_rows import delete, truncate, update
from icefloe.spark.statements.comments import comment_on
from icefloe.spark.statements.concern import change_position, concerns
from icefloe.spark.statements.create_table import create_table, drop_table
from icefloe.spark.statements.current_namespace import current_namespace
from icefloe.spark.statements.describe_table import describe
from icefloe.spark.statements.execute_immediate import immediate_statement
from icefloe.spark.statements.identifier_clause import has_identifiers, with_identifiers
from icefloe.spark.statements.insert import insert
from icefloe.spark.statements.literals import with_named_parameters
from icefloe.spark.statements.merge import merge
from icefloe.spark.statements.multi_insert import is_multi_insert, multi_insert
from icefloe.spark.statements.namespaces import (
    alter_namespace,
    create_namespace,
    describe_namespace,
    drop_namespace,
    refresh_table,
)
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.statements.references import References
from icefloe.spark.statements.refused_statement import begins_with, is_refused, not_supported, refuses_relative_names
from icefloe.spark.statements.session_variables import assign_row, set_variables
from icefloe.spark.statements.show import show
from icefloe.spark.statements.show_create import show_create_table
from icefloe.spark.statements.show_functions import show_functions
from icefloe.spark.statements.show_procedures import describe_procedure, show_procedures
from icefloe.spark.statements.statement import Statement, run
from icefloe.spark.statements.unattached_names import unattached_catalogs_named
from icefloe.spark.statements.use import set_catalog, show_current_namespace, use
from icefloe.spark.statements.views import QUERIES, create_view, drop_view, explain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from icefloe.spark.lexer import Word

_NAMESPACES = ("NAMESPACE", "DATABASE", "SCHEMA")
_COMMANDS: dict[tuple[str, ...], Callable[[Statement, str], Any]] = {
    ("INSERT",): insert,
    ("MERGE",): merge,
    ("UPDATE",): update,
    ("DELETE",): delete,
    ("TRUNCATE", "TABLE"): truncate,
    ("CALL",): call,
    ("CREATE", "TABLE"): create_table,
    ("CREATE", "EXTERNAL", "TABLE"): create_table,
    ("CREATE", "OR", "REPLACE", "TABLE"): create_table,
    ("REPLACE", "TABLE"): create_table,
    ("DROP", "TABLE"): drop_table,
    ("ALTER", "TABLE"): alter_table,
    **{
        ("CREATE", *replace, *everywhere, temporary, "VIEW"): create_view
        for replace in ((), ("OR", "REPLACE"))
        for everywhere in ((), ("GLOBAL",))
        for temporary in ("TEMP", "TEMPORARY")
    },
    ("EXPLAIN",): explain,
    ("DROP", "VIEW"): drop_view,
    ("CACHE",): cache_table,
    ("UNCACHE", "TABLE"): uncache_table,
    ("CLEAR", "CACHE"): clear_cache,
    ("SET", "VAR"): set_variables,
    ("SET", "VARIABLE"): set_variables,
    ("REFRESH",): refresh_table,
    ("COMMENT", "ON"): comment_on,
    **{("CREATE", kind): create_namespace for kind in _NAMESPACES},
    **{("DROP", kind): drop_namespace for kind in _NAMESPACES},
    **{("ALTER", kind): alter_namespace for kind in _NAMESPACES},
    **{(verb, kind): describe_namespace for verb in ("DESCRIBE", "DESC") for kind in _NAMESPACES},
    ("USE",): use,
    ("SET", "CATALOG"): set_catalog,
    ("SHOW", "CURRENT", "NAMESPACE"): show_current_namespace,
    **{("SHOW", *kind, "FUNCTIONS"): show_functions for kind in ((), ("USER",), ("SYSTEM",), ("ALL",))},
    ("SHOW", "PROCEDURES"): show_procedures,
    ("SHOW", "CREATE", "TABLE"): show_create_table,
    ("SHOW",): show,
    **{(verb, "PROCEDURE"): describe_procedure for verb in ("DESCRIBE", "DESC")},
    ("DESCRIBE",): describe,
    ("DESC",): describe,
}


def sql(spark: Any, text: str, args: Mapping[str, Any] | Sequence[Any] | None = None) -> DataFrame:
    """Run one statement of Spark SQL, with the tables of attached catalogs.

    A query reads each attached table by a scan of its own, pruned by the query's columns and by its conditions on the table. MERGE,
    UPDATE, DELETE, INSERT, CALL and statements that create, alter or drop tables run here and commit once. A statement that names no
    attached table is run by Spark, and so is one that writes a table of Spark's own from a query of attached tables.

    Args:
        spark: Session; the active one if None.
        text: The statement.
        args: Parameters, as for ``spark.sql``: by name for ``:name``, in order for ``?``.

    Returns:
        The rows of a query. MERGE, UPDATE and DELETE return one row with the numbers of changed rows, CALL the row of the procedure.

    Raises:
        ValidationError: The statement does not parse, or a value or name in it is not valid.
        FeatureUnsupportedError: The statement or a clause is not supported.
        NoSuchTableError: A table does not exist.
        ValidationException: A concurrent commit conflicts.

    Examples:
        >>> lake = icefloe.spark.attach(spark, catalog, views=False)
        >>> icefloe.spark.sql(spark, "UPDATE lake.db.events SET name = upper(name) WHERE id > :id", {"id": 2}).collect()
        [Row(rows_updated=1, rows_deleted=0, rows_inserted=0)]
        >>> icefloe.spark.sql(spark, "SELECT * FROM lake.db.events ORDER BY id").collect()
        [Row(id=1, name='a'), Row(id=2, name='b'), Row(id=3, name='C')]
        >>> icefloe.spark.detach(spark)
    """
    session = active_session(spark)
    lakes = found_catalogs(session)
    statement = Statement(session, lakes, References(lakes, session, current_namespace(session)), args)
    text = checked_text("sql", text)
    if '"' in text and statement.quotes_names():
        text = with_backquotes(text)
    text = with_quoted_keywords(text)
    words = words_of(text)
    if words and words[0].is_keyword("EXECUTE"):
        return _run_immediate(statement, text)
    named, named_text = _with_names(statement, text, words)
    named_words = words_of(named_text)
    with unattached_catalogs_named(statement):
        if not words or not concerns(named, named_text, named_words, has_command=_has_command(named_words)):
            return run(statement, text)
        return _run_here(named, named_text)


def _run_immediate(statement: Statement, text: str) -> DataFrame:
    """Run EXECUTE IMMEDIATE."""
    found = immediate_statement(statement, text)
    if found is None:
        return run(statement, text)
    if not found.variables:
        return sql(statement.spark, found.text, found.parameters)
    inner = replace(statement, arguments=found.parameters)
    assign_row(inner, found.variables, found.text)
    return _rows_of(statement, None)


def _with_names(statement: Statement, text: str, words: list[Word]) -> tuple[Statement, str]:
    """Return a statement and its text with names in the place of IDENTIFIER clauses."""
    if (not statement.lakes and statement.references.current is None) or not has_identifiers(words):
        return statement, text
    text, arguments = with_named_parameters(text, statement.arguments)
    return replace(statement, arguments=arguments), with_identifiers(statement, text, arguments)


def _run_here(statement: Statement, text: str) -> DataFrame:
    """Run a statement on attached tables."""
    # Spark gets parts of a statement, in another order and some of them twice: it cannot count parameters without a name.
    text, arguments = with_named_parameters(text, statement.arguments)
    statement = replace(statement, arguments=arguments)
    words = words_of(text)
    check_one_statement(words)
    position = change_position(words)
    if position is not None:
        start = words[position].start
        statement, text = replace(statement, above=text[:start]), text[start:]
        words = words_of(text)
    if is_multi_insert(words):
        multi_insert(statement, text)
        return _rows_of(statement, None)
    if words[0].is_keyword(*QUERIES):
        return frame_of_query(statement, text)
    if is_refused(words):
        raise not_supported(words)
    for keywords, command in _COMMANDS.items():
        if begins_with(words, keywords):
            return _rows_of(statement, command(statement, text))
    raise not_supported(words)


def _has_command(words: list[Word]) -> bool:
    """Return whether a statement is a query or begins as a command here, or as a statement that is refused here."""
    if words[0].is_keyword(*QUERIES):
        return True
    return refuses_relative_names(words) or any(begins_with(words, keywords) for keywords in _COMMANDS)


def _rows_of(statement: Statement, result: Any) -> DataFrame:
    """Return the result of a command as a DataFrame."""
    if result is None:
        empty: DataFrame = statement.spark.sql("SELECT 1 AS done WHERE false").select()
        return empty
    frame: DataFrame = result
    return frame
