"""MERGE INTO, run by the merge of DataFrames: its equalities become keys, its other conditions on the source disable keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.dml.merge import MergeBuilder
from icefloe.spark.lexer import Cursor, split_items
from icefloe.spark.statements.change_rows import counts
from icefloe.spark.statements.literals import with_literals
from icefloe.spark.statements.merge_scope import MergeScope
from icefloe.spark.statements.query import frame_of_query, parsed
from icefloe.spark.types.conform import quoted
from icefloe.table.row_level.join_keys import JoinKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.statements.query import Statement

_KEY = "__icefloe_on_{}"
_ONLY_IF = "__icefloe_on"


def merge(statement: Statement, text: str) -> DataFrame:
    """Run a MERGE statement: one commit."""
    statement, text = replace(statement, arguments=None), with_literals(text, statement.arguments)
    cursor = Cursor(text)
    cursor.expect("MERGE")
    evolves = cursor.accept("WITH", "SCHEMA", "EVOLUTION")
    cursor.expect("INTO")
    if evolves:
        raise FeatureUnsupportedError(
            "MERGE: WITH SCHEMA EVOLUTION is not supported; expected MERGE INTO: add the columns with ALTER TABLE first"
        )
    parts = cursor.names()
    reference = statement.references.resolve(parts)
    table = reference.writable()
    target = _alias(cursor, "USING") or parts[-1]
    cursor.expect("USING")
    source_text, source_alias = _source(cursor)
    cursor.expect("ON")
    condition = _until_when(cursor)
    source = frame_of_query(statement, f"SELECT * FROM {source_text} AS {quoted(source_alias)}")
    scope = MergeScope(target, source_alias, [field.name for field in table.schema().fields], source.columns)
    keyed, keys, only_if = _keyed(statement, source, scope, condition)
    branch = reference.version.get("branch")
    builder = MergeBuilder(table, keyed, keys, branch=branch, snapshot_properties={}).only_if(only_if)
    while not cursor.done:
        cursor.expect("WHEN")
        _clause(cursor, builder, scope)
    return counts(statement, builder.execute())


def _source(cursor: Cursor) -> tuple[str, str]:
    """Return the text and the alias of the source."""
    word = cursor.peek()
    if word is not None and word.is_keyword("("):
        text, name = f"({cursor.group()})", "source"
    else:
        parts = cursor.names()
        text, name = ".".join(quoted(part) for part in parts), parts[-1]
        text += _version(cursor)
    return text, _alias(cursor, "ON") or name


def _version(cursor: Cursor) -> str:
    """Return the text of a version after the name of a source; empty without one."""
    start = cursor.index
    cursor.accept("FOR")
    kinds = ("VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME")
    if not any(cursor.accept(kind, "AS", "OF") for kind in kinds):
        cursor.index = start
        return ""
    last = cursor.next_word("a version")
    return " " + cursor.text[cursor.words[start].start : last.end]


def _keyed(
    statement: Statement, source: DataFrame, scope: MergeScope, condition: str
) -> tuple[DataFrame, list[JoinKey], str | None]:
    """Return the source with a column for each key, the keys, and the column that is true for source rows that may match, if any.

    Raises:
        FeatureUnsupportedError: A part of the condition is no equality with a column of the target, and reads the target.
    """
    tree = parsed(f"SELECT 1 WHERE {condition}").args["where"].this
    keys: dict[str, _Equality] = {}
    restrictions = []
    for part in list(tree.flatten()) if isinstance(tree, exp.And) else [tree]:
        equality = _equality(part, scope)
        if equality is not None:
            first = keys.setdefault(equality.target, equality)
            if first is not equality:
                null_safe = first.null_safe and equality.null_safe
                restrictions.append(f"({first.value}) {'<=>' if null_safe else '='} ({equality.value})")
                keys[equality.target] = replace(first, null_safe=null_safe)
        elif scope.sides(part) <= {"source"}:
            restrictions.append(scope.text_of(part, "source"))
        else:
            raise FeatureUnsupportedError(
                f"MERGE: ON {part.sql('spark')} is not supported; expected equalities between columns of the target and values of the "
                "source, and conditions on the source: move other conditions to WHEN ... AND, or into the source's query"
            )
    if not keys:
        raise FeatureUnsupportedError(
            f"MERGE: ON {condition} has no equality; expected ON target.column = source.column, and further conditions after AND"
        )
    columns = [f"{one.value} AS {_KEY.format(index)}" for index, one in enumerate(keys.values())]
    only_if = " AND ".join(f"({one})" for one in restrictions)
    if only_if:
        columns.append(f"coalesce({only_if}, false) AS {_ONLY_IF}")
    query = f"SELECT *, {', '.join(columns)} FROM icefloe_source AS source"
    rows = frame_of_query(statement, query, {"icefloe_source": source})
    pairs = [JoinKey(one.target, _KEY.format(index), one.null_safe) for index, one in enumerate(keys.values())]
    return rows, pairs, _ONLY_IF if only_if else None


@dataclass(frozen=True)
class _Equality:
    """An equality of a column of the target and a value of the source; `<=>` if it is null-safe."""

    target: str
    value: str
    null_safe: bool


def _equality(part: Any, scope: MergeScope) -> _Equality | None:
    """Return the equality that a part of the condition is."""
    part = part.unnest()
    if not isinstance(part, exp.EQ | exp.NullSafeEQ):
        return None
    for one, other in ((part.left, part.right), (part.right, part.left)):
        column = scope.target_column(one)
        if column is not None and scope.sides(other) <= {"source"}:
            return _Equality(column, scope.text_of(other, "source"), isinstance(part, exp.NullSafeEQ))
    return None


def _clause(cursor: Cursor, builder: MergeBuilder, scope: MergeScope) -> None:
    matched = cursor.accept("MATCHED")
    by_source = False
    if not matched:
        cursor.expect("NOT", "MATCHED")
        by_source = cursor.accept("BY", "SOURCE")
        if not by_source:
            cursor.accept("BY", "TARGET")
    condition = None
    if cursor.accept("AND"):
        condition = scope.rewritten(_until(cursor, "THEN"), _side(matched=matched, by_source=by_source))
    cursor.expect("THEN")
    if matched or by_source:
        _change(cursor, builder, scope, condition, by_source=by_source)
    else:
        _insert(cursor, builder, scope, condition)


def _change(
    cursor: Cursor, builder: MergeBuilder, scope: MergeScope, condition: str | None, *, by_source: bool
) -> None:
    if cursor.accept("DELETE"):
        (builder.when_not_matched_by_source_delete if by_source else builder.when_matched_delete)(condition)
        return
    cursor.expect("UPDATE", "SET")
    if not by_source and cursor.accept("*"):
        builder.when_matched_update_all(condition)
        return
    values: dict[str, Any] = {}
    for item in split_items(_until_when(cursor)):
        inner = Cursor(item)
        name = scope.assigned_column(inner.names())
        if not inner.accept("="):
            raise inner.error("= and a value")
        if name in values:
            raise ValidationError(f"MERGE: column {name!r} is set twice; expected each column once")
        values[name] = scope.rewritten(inner.rest(), "target" if by_source else None)
    (builder.when_not_matched_by_source_update if by_source else builder.when_matched_update)(values, condition)


def _insert(cursor: Cursor, builder: MergeBuilder, scope: MergeScope, condition: str | None) -> None:
    cursor.expect("INSERT")
    if cursor.accept("*"):
        builder.when_not_matched_insert_all(condition)
        return
    names = [scope.assigned_column(Cursor(item).names()) for item in cursor.items()]
    cursor.expect("VALUES")
    items = cursor.items()
    if len(items) != len(names) or len(set(names)) != len(names):
        raise ValidationError(
            f"MERGE: INSERT expects one value for each of {', '.join(names)}, got {len(items)} values"
        )
    values = [scope.rewritten(item, "source") for item in items]
    builder.when_not_matched_insert(dict(zip(names, values, strict=True)), condition)


def _side(*, matched: bool, by_source: bool) -> str | None:
    """Return the only side that a clause reads; None for both."""
    return None if matched else "target" if by_source else "source"


def _until_when(cursor: Cursor) -> str:
    return _until(cursor, "WHEN")


def _until(cursor: Cursor, keyword: str) -> str:
    """Return the text before a keyword outside of parentheses and CASE."""
    first, depth = cursor.peek(), 0
    while not cursor.done:
        word: Any = cursor.peek()
        if depth == 0 and word.is_keyword(keyword):
            break
        depth += word.is_keyword("(", "CASE") - word.is_keyword(")", "END")
        cursor.index += 1
    if first is None or (cursor.done and keyword != "WHEN"):
        raise cursor.error(keyword)
    last = cursor.words[cursor.index - 1]
    return cursor.text[first.start : last.end]


def _alias(cursor: Cursor, following: str) -> str | None:
    if cursor.accept("AS"):
        return cursor.name()
    word = cursor.peek()
    return cursor.name() if word is not None and word.is_name and not word.is_keyword(following) else None
