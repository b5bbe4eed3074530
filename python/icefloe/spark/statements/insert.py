"""INSERT INTO and INSERT OVERWRITE."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from icefloe.exceptions import FeatureUnsupportedError, SchemaMismatchError, ValidationError
from icefloe.expressions import EqualTo, IsNaN, IsNull, literal
from icefloe.expressions.tree import all_of
from icefloe.spark.lexer import Cursor, split_items, words_of
from icefloe.spark.maintenance.where import where
from icefloe.spark.statements.assignment import assigned
from icefloe.spark.statements.brackets import depths
from icefloe.spark.statements.column_names import folded
from icefloe.spark.statements.literals import with_literals
from icefloe.spark.statements.null_safe import without_null_safe_comparisons
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.statements.query_start import QUERIES, begins_query, begins_with_column
from icefloe.spark.statements.refused_clause import check_insert_clauses
from icefloe.spark.statements.spark_write import spark_write
from icefloe.spark.types.conform import quoted
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.spark.writer.options import checked_options
from icefloe.spark.writer.write import file_change, write_in_transaction
from icefloe.types import TimestampType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.expressions import BooleanExpression
    from icefloe.spark.lexer import Word
    from icefloe.spark.statements.spark_write import SparkWrite
    from icefloe.spark.statements.statement import Statement
    from icefloe.spark.writer.commit import WriteMode
    from icefloe.table import Table

_AFTER_SELECT_LIST = ("FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "LATERAL")
_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"


@dataclass(frozen=True, kw_only=True)
class PlannedInsert:
    """An INSERT statement whose query Spark has analysed; nothing is written before :meth:`commit`.

    Args:
        table: The table, which the commit moves to its new version.
        rows: Rows with columns of the table.
        mode: Effect on the rows that the table has.
        options: Checked options of the write.
        row_filter: The rows to replace; None for all rows, or the rows that the mode says.
    """

    table: Table
    rows: DataFrame
    mode: WriteMode
    options: dict[str, str]
    row_filter: BooleanExpression | None

    def commit(self) -> None:
        """Write the rows and commit them."""
        change = file_change(self.rows.sparkSession, self.table, self.mode, self.options)
        with self.table.transaction() as transaction:
            write_in_transaction(self.rows, transaction, replace(change, row_filter=self.row_filter))


def insert(statement: Statement, text: str) -> None:
    """Run an INSERT statement: one commit."""
    planned_insert(statement, text).commit()


def planned_insert(statement: Statement, text: str) -> PlannedInsert | SparkWrite:
    """Return the write of an INSERT statement.

    Raises:
        ValidationError: The statement does not parse.
        FeatureUnsupportedError: A clause is not supported.
        NoSuchTableError: A table does not exist.
        SchemaMismatchError: The values of the query cannot be stored in the columns.
    """
    cursor = Cursor(text)
    overwrite, parts = _target(cursor)
    if parts is None or statement.references.is_of_spark(parts):
        return spark_write(statement, cursor, "INSERT")
    reference = statement.references.resolve(parts)
    table = reference.writable()
    if cursor.at("AS"):
        raise FeatureUnsupportedError(
            "INSERT: AS is not supported; expected the query, or the names of the columns, after the table, got AS"
        )
    exact = statement.case_sensitive()
    constants = _partition(cursor, case_sensitive=exact) if cursor.accept("PARTITION") else {}
    if cursor.accept("IF", "NOT", "EXISTS"):
        raise FeatureUnsupportedError(
            "INSERT: IF NOT EXISTS is not supported; expected INSERT without it, got IF NOT EXISTS"
        )
    columns, by_name = _named_columns(cursor)
    condition = _replaced(cursor, overwrite=overwrite)
    query = cursor.rest()
    check_insert_clauses(query)

    struct = to_spark_schema(table.schema())
    static = _static_values(statement, struct, constants)
    _check_partition_columns(statement, table, constants)
    frame = _frame_of_rows(statement, query)
    if by_name:
        columns = frame.columns
    elif columns is None:
        columns = [name for name in struct.names if name not in static]
    rows = assigned(frame, struct, columns, "INSERT", by_name=by_name, case_sensitive=exact)
    rows = rows.selectExpr("*", *(f"{value} AS {quoted(name)}" for name, value in static.items()))
    options = {"branch": reference.version["branch"]} if "branch" in reference.version else {}
    mode, more, row_filter = _mode(statement, table, overwrite=overwrite, condition=condition, static=static)
    checked = checked_options(mode, {**options, **more})
    return PlannedInsert(table=table, rows=rows, mode=mode, options=checked, row_filter=row_filter)


def _target(cursor: Cursor) -> tuple[bool, tuple[str, ...] | None]:
    """Return whether OVERWRITE is given, and the name of the table that follows; None for a directory."""
    cursor.expect("INSERT")
    overwrite = cursor.accept("OVERWRITE")
    if not overwrite:
        cursor.expect("INTO")
    start = cursor.index
    if overwrite and (cursor.accept("LOCAL", "DIRECTORY") or cursor.accept("DIRECTORY")):
        after = cursor.peek()
        if after is not None and (after.kind == "string" or after.is_keyword("USING")):
            return overwrite, None
    cursor.index = start
    cursor.accept("TABLE")
    return overwrite, cursor.names()


def _named_columns(cursor: Cursor) -> tuple[list[str] | None, bool]:
    """Return the columns in parentheses, None without them, and whether BY NAME matches the query's columns by name."""
    by_name = cursor.accept("BY", "NAME")
    if not _column_list(cursor):
        return None, by_name
    columns = [_name(item) for item in cursor.items()]
    if by_name or cursor.accept("BY", "NAME"):
        raise ValidationError("INSERT: expected BY NAME or the names of columns, got both: leave one of them out")
    return columns, by_name


def _frame_of_rows(statement: Statement, query: str) -> DataFrame:
    """Return the rows of the query of INSERT; DEFAULT is a column of its tables if they have one of this name, as in Spark."""
    given, edited = (statement.with_named_queries(text) for text in (query, with_null_defaults(query)))
    if edited == given or not _selects_from_tables(query):
        return frame_of_query(statement, edited)
    try:
        frame = frame_of_query(statement, given)
        # Over Spark Connect, reading the schema makes Spark analyse the query.
        _ = frame.schema
    except AnalysisException as error:
        if not _misses_default(error):
            raise
        return frame_of_query(statement, edited)
    return frame


def _selects_from_tables(query: str) -> bool:
    """Return whether a query may read columns: a query of VALUES alone has none."""
    words = words_of(query)
    first = next((word for word in words if not word.is_keyword("(")), None)
    return first is not None and not first.is_keyword("VALUES") and any(word.is_keyword("FROM") for word in words)


def _misses_default(error: AnalysisException) -> bool:
    """Return whether Spark has found no column with the name DEFAULT."""
    name = (error.getMessageParameters() or {}).get("objectName", "")
    return (error.getCondition() or "").startswith("UNRESOLVED_COLUMN") and name.upper() == "`DEFAULT`"


def with_null_defaults(query: str) -> str:
    """Return a query in which each DEFAULT that is a whole value is NULL: columns of writable tables have no other default.

    Such a value is one of VALUES or of the SELECT list, in parentheses around the query or not, and after the FROM clause or before it.

    Examples:
        >>> with_null_defaults("VALUES (1, DEFAULT), (DEFAULT, f(b))")
        'VALUES (1, NULL), (NULL, f(b))'
        >>> with_null_defaults("SELECT DEFAULT, b FROM t WHERE c IN (1, 2)")
        'SELECT NULL, b FROM t WHERE c IN (1, 2)'
        >>> with_null_defaults("FROM (SELECT default FROM t) SELECT DEFAULT")
        'FROM (SELECT default FROM t) SELECT NULL'
    """
    words = words_of(query)
    around = next((index for index, word in enumerate(words) if not word.is_keyword("(")), len(words))
    defaults = _defaults_in_rows(words[around:]) if around < len(words) else []
    for word in reversed(defaults):
        query = f"{query[: word.start]}NULL{query[word.end :]}"
    return query


def _defaults_in_rows(words: list[Word]) -> list[Word]:
    """Return the words DEFAULT that are whole values of VALUES or of the list after SELECT, the first of the words or after FROM."""
    if words[0].is_keyword("FROM"):
        starts = (
            index for index, (word, depth) in enumerate(depths(words)) if depth == 0 and word.is_keyword("SELECT")
        )
        words = words[next(starts, 0) :]
    of_rows = words[0].is_keyword("VALUES")
    if not of_rows and not words[0].is_keyword("SELECT"):
        return []
    within_row: list[bool] = []  # for each open parenthesis, whether it is around a row
    defaults = []
    for before, word, after in zip(words, words[1:], [*words[2:], None], strict=False):
        if not (of_rows or within_row) and word.is_keyword("FROM"):
            break
        ends = after is None or after.is_keyword(",", ")", *_AFTER_SELECT_LIST)
        if word.is_keyword("("):
            within_row.append(of_rows and not within_row and before.is_keyword("VALUES", ","))
        elif word.is_keyword(")"):
            if not within_row:
                break
            within_row.pop()
        elif word.is_keyword("DEFAULT") and ends and before.is_keyword("VALUES", "SELECT", "(", ","):
            defaults += [word] if within_row in ([], [True]) else []
    return defaults


def _static_values(statement: Statement, struct: Any, constants: dict[str, str | None]) -> dict[str, str]:
    """Return the SQL of the value of each column to which PARTITION gives one, in the column's type."""
    exact = statement.case_sensitive()
    fields = {folded(field.name, case_sensitive=exact): field for field in struct.fields}
    unknown = [name for name in constants if name not in fields]
    if unknown:
        raise SchemaMismatchError(
            f"INSERT, PARTITION: the table has no column {unknown[0]!r}; expected one of {', '.join(struct.names)}"
        )
    return {
        fields[
            name
        ].name: f"cast(({with_literals(value, statement.arguments)}) AS {fields[name].dataType.simpleString()})"
        for name, value in constants.items()
        if value is not None
    }


def _check_partition_columns(statement: Statement, table: Table, constants: dict[str, str | None]) -> None:
    """Raise ValidationError if PARTITION names a column that is no identity partition column, as Spark does."""
    exact = statement.case_sensitive()
    names = [
        table.schema().find_column_name(field.source_id) or ""
        for field in table.spec().fields
        if str(field.transform) == "identity"
    ]
    foreign = [name for name in constants if name not in {folded(one, case_sensitive=exact) for one in names}]
    if foreign:
        raise ValidationError(
            f"INSERT, PARTITION: expected identity partition columns ({', '.join(names) or 'the table has none'}), got {foreign[0]}: select "
            "its value in the query, or replace rows with REPLACE WHERE"
        )


def _mode(
    statement: Statement, table: Table, *, overwrite: bool, condition: str | None, static: dict[str, str]
) -> tuple[WriteMode, dict[str, str], BooleanExpression | None]:
    """Return the effect on the rows of the table: the mode, its options and the filter of the replaced partitions."""
    if condition is not None:
        text = without_null_safe_comparisons(with_literals(condition, statement.arguments))
        schema, exact = table.schema(), statement.case_sensitive()
        return "overwrite", {}, where(text, schema, statement.spark, case_sensitive=exact)
    if not overwrite:
        return "append", {}, None
    dynamic = statement.spark.conf.get(_OVERWRITE_MODE, "static").lower() == "dynamic"
    if dynamic:
        return "overwrite-partitions", {}, None
    if not static:
        return "overwrite", {}, None
    values = statement.values(list(static.values()))
    return "overwrite", {}, all_of(*map(functools.partial(_equal, table), static, values))


def _equal(table: Table, name: str, value: Any) -> BooleanExpression:
    """Return the filter of a partition's rows, by a value as Spark returns it."""
    kind = table.schema().find_field(name).field_type
    if value is None:
        return IsNull(name)
    if isinstance(value, datetime):
        value = value.isoformat() if isinstance(kind, TimestampType) else value.astimezone(timezone.utc).isoformat()
    if isinstance(value, bytearray):
        value = bytes(value)
    if isinstance(value, float) and math.isnan(value):
        return IsNaN(name)
    return EqualTo(name, literal(value).to(kind))


def _partition(cursor: Cursor, *, case_sensitive: bool) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for item in cursor.items():
        inner = Cursor(item)
        given = inner.name()
        name = folded(given, case_sensitive=case_sensitive)
        if name in found:
            raise ValidationError(f"INSERT, PARTITION: column {given!r} is given twice; expected it once")
        found[name] = inner.rest() if inner.accept("=") or inner.accept("==") else None
        inner.finish()
    if not found:
        raise cursor.error("a partition column in the parentheses before")
    return found


def _column_list(cursor: Cursor) -> bool:
    """Return whether a list of columns follows, not a query in parentheses."""
    first, second = cursor.peek(), cursor.peek(1)
    if first is None or second is None or not first.is_keyword("("):
        return False
    return not second.is_keyword(*QUERIES, "(") or begins_with_column(second, cursor.peek(2))


def _replaced(cursor: Cursor, *, overwrite: bool) -> str | None:
    """Return the condition of REPLACE WHERE; None without one."""
    if not cursor.accept("REPLACE", "WHERE"):
        return None
    if overwrite:
        raise cursor.error("INSERT INTO before REPLACE WHERE")
    start = cursor.index
    before: Word | None = None
    for word, depth in depths(cursor.words[start:]):
        if depth == 0 and begins_query(before, word, cursor.peek(1)):
            break
        before = word
        cursor.index += 1
    if cursor.index == start or cursor.done:
        raise cursor.error("a query after the condition of REPLACE WHERE")
    return cursor.text[cursor.words[start].start : cursor.words[cursor.index - 1].end]


def _name(item: str) -> str:
    (word,) = words_of(item) if len(words_of(item)) == 1 else (None,)
    if word is None or not word.is_name:
        raise ValidationError(f"INSERT: expected names of columns, got {split_items(item)[0]!r}")
    return word.text
