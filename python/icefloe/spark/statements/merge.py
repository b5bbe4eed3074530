"""MERGE INTO, run by the merge of DataFrames: its equalities become keys, its other conditions on the source disable keys."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.dml.clause_columns import refusal
from icefloe.spark.dml.join import FurtherCondition
from icefloe.spark.dml.merge import MergeBuilder
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.brackets import depths
from icefloe.spark.statements.change_rows import counts
from icefloe.spark.statements.literals import with_literals
from icefloe.spark.statements.merge_scope import MergeScope
from icefloe.spark.statements.on_condition import OnCondition
from icefloe.spark.statements.query import frame_of_query, with_alias
from icefloe.spark.statements.scalar_subquery import ScalarSubqueries
from icefloe.spark.statements.set_clause import set_values
from icefloe.spark.types.conform import quoted
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.table.row_level.join_keys import JoinKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from icefloe.spark.statements.query import Statement

_KEY = "__icefloe_on_{}"
_ONLY_IF = "__icefloe_on"


def merge(statement: Statement, text: str) -> DataFrame:
    """Run a MERGE statement: one commit."""
    arguments = statement.arguments
    text, above = with_literals(text, arguments), with_literals(statement.above, arguments)
    statement = replace(statement, arguments=None, above=above)
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
    given = _alias(cursor, "USING")
    target = given or parts[-1]
    cursor.expect("USING")
    source_parts, source_text, source_alias = _source(cursor)
    if source_alias.lower() == target.lower():
        raise ValidationError(
            f"MERGE: target and source have the same name {target!r}; expected an alias for one of them, such as USING ... AS s"
        )
    names = f" ({', '.join(map(quoted, cursor.name_items()))})" if cursor.at("(") else ""
    cursor.expect("ON")
    if not given:
        cursor = Cursor(with_alias(cursor.rest(), parts, target))
    if len(source_parts) > 1:
        cursor = Cursor(with_alias(cursor.rest(), source_parts, source_alias))
    condition = _until_when(cursor)
    source = frame_of_query(statement, f"{above}SELECT * FROM {source_text} AS {quoted(source_alias)}{names}")
    structs = to_spark_schema(table.schema()), source.schema
    with ScalarSubqueries(statement) as subqueries:
        scope = MergeScope(target, source_alias, *structs, statement.spark, subqueries)
        on = OnCondition.of(condition, scope)
        keyed, keys, only_if = _keyed(statement, source, on)
        of_pairs = _all_of(on.of_pairs)
        further = None if of_pairs is None else FurtherCondition(of_pairs, on.source_columns)
        branch = reference.version.get("branch")
        builder = MergeBuilder(table, keyed, keys, branch=branch, snapshot_properties={})
        builder.of_loaded_version().only_if(only_if).only_pairs(further)
        while not cursor.done:
            cursor.expect("WHEN")
            _clause(cursor, builder, scope)
        return counts(statement, builder.execute())


def _source(cursor: Cursor) -> tuple[tuple[str, ...], str, str]:
    """Return the name of the source that stands before its columns if it has no alias, its text, and its alias."""
    parts: tuple[str, ...] = ()
    if cursor.at("("):
        text, name = f"({cursor.group()})", "source"
    else:
        parts = cursor.names()
        text, name = ".".join(quoted(part) for part in parts), parts[-1]
        text += _version(cursor)
    alias = _alias(cursor, "ON")
    return ((), text, alias) if alias else (parts, text, name)


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


def _keyed(statement: Statement, source: DataFrame, on: OnCondition) -> tuple[DataFrame, list[JoinKey], str | None]:
    """Return the source with a column for each key, the keys, and the column that is true for source rows that may match, if any."""
    columns = [f"{one.value} AS {_KEY.format(index)}" for index, one in enumerate(on.equalities)]
    only_if = _all_of(on.of_source)
    if only_if is not None:
        columns.append(f"coalesce({only_if}, false) AS {_ONLY_IF}")
    pairs = [JoinKey(one.target, _KEY.format(index), one.null_safe) for index, one in enumerate(on.equalities)]
    if not columns:
        return source, pairs, None
    query = f"SELECT *, {', '.join(columns)} FROM icefloe_source AS source"
    try:
        rows = frame_of_query(statement, query, {"icefloe_source": source})
        # Over Spark Connect, reading the schema makes Spark analyse the query.
        _ = rows.schema
    except AnalysisException as error:
        raise refusal(error, "MERGE, ON") from error
    return rows, pairs, _ONLY_IF if only_if is not None else None


def _all_of(conditions: Sequence[str]) -> str | None:
    """Return the conjunction of conditions; None for none."""
    return " AND ".join(f"({one})" for one in conditions) if conditions else None


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
        kind = "MATCHED" if matched else "NOT MATCHED BY SOURCE" if by_source else "NOT MATCHED"
        side = _side(matched=matched, by_source=by_source)
        condition = scope.rewritten(_until(cursor, "THEN"), side, f"condition of WHEN {kind}")
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
        builder.when_matched_update(scope.all_values(), condition)
        return
    side = _side(matched=not by_source, by_source=by_source)
    values = set_values(
        _until_when(cursor),
        scope.struct,
        scope.target,
        "target",
        lambda value: scope.value(value, side, "UPDATE SET"),
        "MERGE",
        case_sensitive=scope.case_sensitive,
    )
    values = scope.stored(values)
    (builder.when_not_matched_by_source_update if by_source else builder.when_matched_update)(values, condition)


def _insert(cursor: Cursor, builder: MergeBuilder, scope: MergeScope, condition: str | None) -> None:
    cursor.expect("INSERT")
    if cursor.accept("*"):
        builder.when_not_matched_insert(scope.all_values(), condition)
        return
    names = [scope.inserted_column(Cursor(item).names()) for item in cursor.items()]
    cursor.expect("VALUES")
    items = cursor.items()
    if len(items) != len(names) or len(set(names)) != len(names):
        raise ValidationError(
            f"MERGE: INSERT expects one value for each of {', '.join(names)}, got {len(items)} values"
        )
    # The default of every column is null.
    texts = ["NULL" if item.upper() == "DEFAULT" else item for item in items]
    values = {name: scope.value(text, "source", "INSERT VALUES") for name, text in zip(names, texts, strict=True)}
    builder.when_not_matched_insert(scope.stored(values), condition)


def _side(*, matched: bool, by_source: bool) -> str | None:
    """Return the only side that a clause reads; None for both."""
    return None if matched else "target" if by_source else "source"


def _until_when(cursor: Cursor) -> str:
    return _until(cursor, "WHEN")


def _until(cursor: Cursor, keyword: str) -> str:
    """Return the text before a keyword outside of parentheses and CASE."""
    first = cursor.peek()
    for word, depth in depths(cursor.words[cursor.index :]):
        if depth == 0 and word.is_keyword(keyword):
            break
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
