"""INSERT INTO and INSERT OVERWRITE."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, SchemaMismatchError, ValidationError
from icefloe.expressions import EqualTo, IsNaN, IsNull, literal
from icefloe.expressions.tree import all_of
from icefloe.spark.lexer import Cursor, split_items, words_of
from icefloe.spark.statements.assignment import assigned
from icefloe.spark.statements.literals import literal_text, with_literals
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.types.conform import quoted
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.spark.writer.options import checked_options
from icefloe.spark.writer.write import file_change, write_in_transaction
from icefloe.types import TimestampType

if TYPE_CHECKING:
    from icefloe.expressions import BooleanExpression
    from icefloe.spark.statements.query import Statement
    from icefloe.spark.writer.commit import WriteMode
    from icefloe.table import Table

_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"


def insert(statement: Statement, text: str) -> None:
    """Run an INSERT statement: one commit."""
    cursor = Cursor(text)
    cursor.expect("INSERT")
    overwrite = cursor.accept("OVERWRITE")
    if not overwrite:
        cursor.expect("INTO")
    cursor.accept("TABLE")
    reference = statement.references.resolve(cursor.names())
    table = reference.writable()
    constants = _partition(cursor) if cursor.accept("PARTITION") else {}
    if cursor.accept("IF", "NOT", "EXISTS"):
        raise FeatureUnsupportedError(
            "INSERT: IF NOT EXISTS is not supported; expected INSERT without it, got IF NOT EXISTS"
        )
    by_name = cursor.accept("BY", "NAME")
    columns = None
    if _column_list(cursor):
        columns = [_name(item) for item in cursor.items()]
        by_name = cursor.accept("BY", "NAME") or by_name
    condition = _replaced(cursor, overwrite=overwrite)
    query = statement.above + with_null_defaults(cursor.rest())

    struct = to_spark_schema(table.schema())
    static = _static_values(statement, struct, constants)
    frame = frame_of_query(statement, query)
    if by_name:
        columns = frame.columns
    elif columns is None:
        columns = [name for name in struct.names if name not in static]
    rows = assigned(frame, struct, columns, "INSERT", by_name=by_name)
    rows = rows.selectExpr("*", *(f"{value} AS {quoted(name)}" for name, value in static.items()))
    options = {"branch": reference.version["branch"]} if "branch" in reference.version else {}
    mode, more, row_filter = _mode(statement, table, overwrite=overwrite, condition=condition, static=static)
    checked = checked_options(mode, {**options, **more})
    change = replace(file_change(statement.spark, table, mode, checked), row_filter=row_filter)
    with table.transaction() as transaction:
        write_in_transaction(rows, transaction, change)


def with_null_defaults(query: str) -> str:
    """Return a query in which each DEFAULT that is a whole value of VALUES is NULL: columns of writable tables have no other default.

    Examples:
        >>> with_null_defaults("VALUES (1, DEFAULT), (DEFAULT, f(b))")
        'VALUES (1, NULL), (NULL, f(b))'
    """
    words = words_of(query)
    if not words or not words[0].is_keyword("VALUES"):
        return query
    within_row: list[bool] = []  # for each open parenthesis, whether it is around a row
    defaults = []
    for before, word in itertools.pairwise(words):
        if word.is_keyword("("):
            within_row.append(not within_row and before.is_keyword("VALUES", ","))
        elif word.is_keyword(")") and within_row:
            within_row.pop()
        elif word.is_keyword("DEFAULT") and before.is_keyword("VALUES", "(", ",") and within_row in ([], [True]):
            defaults.append(word)
    for word in reversed(defaults):
        query = f"{query[: word.start]}NULL{query[word.end :]}"
    return query


def _static_values(statement: Statement, struct: Any, constants: dict[str, str | None]) -> dict[str, str]:
    """Return the SQL of the value of each column to which PARTITION gives one, in the column's type."""
    fields = {field.name.lower(): field for field in struct.fields}
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


def _mode(
    statement: Statement, table: Table, *, overwrite: bool, condition: str | None, static: dict[str, str]
) -> tuple[WriteMode, dict[str, str], BooleanExpression | None]:
    """Return the effect on the rows of the table: the mode, its options and the filter of the replaced partitions."""
    if condition is not None:
        return "overwrite", {"overwrite-filter": with_literals(condition, statement.arguments, _filter_literal)}, None
    if not overwrite:
        return "append", {}, None
    dynamic = statement.spark.conf.get(_OVERWRITE_MODE, "static").lower() == "dynamic"
    if dynamic:
        return "overwrite-partitions", {}, None
    if not static:
        return "overwrite", {}, None
    identities = {
        table.schema().find_column_name(field.source_id)
        for field in table.spec().fields
        if str(field.transform) == "identity"
    }
    foreign = [name for name in static if name not in identities]
    if foreign:
        raise ValidationError(
            f"INSERT OVERWRITE: PARTITION expects identity partition columns ({', '.join(sorted(map(str, identities))) or 'none'}), got "
            f"{foreign[0]}: use REPLACE WHERE"
        )
    values = statement.values(list(static.values()))
    return "overwrite", {}, all_of(*map(functools.partial(_equal, table), static, values))


def _filter_literal(value: Any) -> str:
    """Return a literal of the grammar of filters, whose texts have no escapes but doubled quotes."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else literal_text(value)


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


def _partition(cursor: Cursor) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for item in cursor.items():
        inner = Cursor(item)
        name = inner.name()
        found[name.lower()] = inner.rest() if inner.accept("=") else None
    return found


def _column_list(cursor: Cursor) -> bool:
    """Return whether a list of columns follows, not a query in parentheses."""
    first, second = cursor.peek(), cursor.peek(1)
    if first is None or second is None or not first.is_keyword("("):
        return False
    return not second.is_keyword("SELECT", "WITH", "VALUES", "FROM", "TABLE", "(")


def _replaced(cursor: Cursor, *, overwrite: bool) -> str | None:
    """Return the condition of REPLACE WHERE; None without one."""
    if not cursor.accept("REPLACE", "WHERE"):
        return None
    if overwrite:
        raise cursor.error("INSERT INTO before REPLACE WHERE")
    depth, first = 0, cursor.peek()
    while not cursor.done:
        word: Any = cursor.peek()
        if depth == 0 and word.is_keyword("SELECT", "WITH", "VALUES", "FROM", "TABLE"):
            break
        depth += word.is_keyword("(") - word.is_keyword(")")
        cursor.index += 1
    if first is None or cursor.done:
        raise cursor.error("a query after the condition of REPLACE WHERE")
    following: Any = cursor.peek()
    return cursor.text[first.start : following.start].strip()


def _name(item: str) -> str:
    (word,) = words_of(item) if len(words_of(item)) == 1 else (None,)
    if word is None or not word.is_name:
        raise ValidationError(f"INSERT: expected names of columns, got {split_items(item)[0]!r}")
    return word.text
