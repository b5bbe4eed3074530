"""MERGE INTO, run by the merge of DataFrames: its equalities become keys, its other conditions on the source disable keys."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from icefloe.exceptions import ValidationError
from icefloe.expressions import And
from icefloe.spark.dml.candidate_pairs import evaluated_in_pairs
from icefloe.spark.dml.clause_columns import refusal
from icefloe.spark.dml.join import FurtherCondition
from icefloe.spark.dml.merge import MergeBuilder
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.change_rows import condition_filter, counts
from icefloe.spark.statements.literals import with_literals
from icefloe.spark.statements.merge_clause import merge_clauses, until_when
from icefloe.spark.statements.merge_scope import MergeScope
from icefloe.spark.statements.on_condition import OnCondition
from icefloe.spark.statements.qualified_columns import with_alias
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.statements.refused_clause import check_clauses, target_alias
from icefloe.spark.statements.scalar_subquery import ScalarSubqueries
from icefloe.spark.statements.schema_evolution import EvolvedTable, evolved_table
from icefloe.spark.statements.set_clause import set_values
from icefloe.spark.statements.spark_write import change_in_spark
from icefloe.spark.types.conform import quoted
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.table.properties.definitions import AUTO_SCHEMA_EVOLUTION
from icefloe.table.row_level.join_keys import JoinKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from icefloe.expressions import BooleanExpression
    from icefloe.spark.statements.merge_clause import MergeClause
    from icefloe.spark.statements.references import Reference
    from icefloe.spark.statements.statement import Statement
    from icefloe.table import Table
    from icefloe.table.row_level.merge import MergeResult

_KEY = "__icefloe_on_{}"
_ONLY_IF = "__icefloe_on"


def merge(statement: Statement, text: str) -> DataFrame:
    """Run a MERGE statement: one commit."""
    arguments = statement.arguments
    given_text, text, above = text, with_literals(text, arguments), with_literals(statement.above, arguments)
    cursor = Cursor(text)
    cursor.expect("MERGE")
    with_evolution = cursor.accept("WITH", "SCHEMA", "EVOLUTION")
    cursor.expect("INTO")
    parts = cursor.names()
    if statement.references.is_of_spark(parts):
        return change_in_spark(statement, given_text, "MERGE")
    statement = replace(statement, arguments=None, above=above)
    reference = statement.references.resolve(parts)
    table = reference.writable()
    given = target_alias(cursor, "USING", "MERGE")
    target = given or parts[-1]
    cursor.expect("USING")
    source_parts, source_text, source_alias = _source(cursor)
    if source_alias.lower() == target.lower():
        raise ValidationError(
            f"MERGE: target and source have the same name {target!r}; expected an alias for one of them, such as USING ... AS s"
        )
    names = f" ({', '.join(map(quoted, cursor.name_items()))})" if cursor.at("(") else ""
    cursor.expect("ON")
    check_clauses(text[cursor.words[cursor.index - 1].end :], "MERGE")
    if not given:
        cursor = Cursor(with_alias(cursor.rest(), parts, target))
    if len(source_parts) > 1:
        cursor = Cursor(with_alias(cursor.rest(), source_parts, source_alias))
    condition = until_when(cursor)
    clauses = list(merge_clauses(cursor))
    source = frame_of_query(statement, f"{above}SELECT * FROM {source_text} AS {quoted(source_alias)}{names}")
    evolving = with_evolution and AUTO_SCHEMA_EVOLUTION.of(table.properties)
    if evolving:
        exact = statement.case_sensitive()
        table = evolved_table(table, source.schema, clauses, (target, source_alias), case_sensitive=exact)
    structs = to_spark_schema(table.schema()), source.schema
    with ScalarSubqueries(statement) as subqueries:
        scope = MergeScope(target, source_alias, *structs, statement, subqueries)
        on = OnCondition.of(condition, scope)
        if _can_filter_pairs(source, on) and evaluated_in_pairs({one.match for one in clauses}, table.properties):
            on = on.with_source_in_pairs()
        keyed, keys, only_if = _keyed(statement, source, on)
        pairs = _all_of(on.of_pairs)
        further = None if pairs is None else FurtherCondition(pairs, on.source_columns)
        branch = reference.version.get("branch")
        builder = MergeBuilder(table, keyed, keys, branch=branch, snapshot_properties={})
        builder.of_loaded_version().only_if(only_if).only_pairs(further).only_target(
            _target_filter(statement, scope, parts, on)
        )
        for clause in clauses:
            _add_clause(builder, scope, clause, partial=evolving)
        return counts(statement, _executed(builder, table, reference))


def _can_filter_pairs(source: DataFrame, on: OnCondition) -> bool:
    """Return whether the conditions on the source can be conditions on pairs.

    Rows without a match are found by the values that the conditions on pairs read, and Spark compares no maps.
    """
    kinds = [source.schema[name].dataType.simpleString() for name in on.filter_columns]
    return bool(on.of_source) and not any("map<" in kind for kind in kinds)


def _target_filter(
    statement: Statement, scope: MergeScope, parts: tuple[str, ...], on: OnCondition
) -> BooleanExpression | None:
    """Return the filter of the target's rows that meet the conditions on the target alone; None for all rows."""
    found = [condition_filter(statement, parts, scope.target, one) for one in on.of_target]
    return functools.reduce(And, [one.expression for one in found if one is not None]) if any(found) else None


def _executed(builder: MergeBuilder, table: Table, reference: Reference) -> MergeResult:
    result = builder.execute()
    if isinstance(table, EvolvedTable):
        # A merge that changes no row has committed nothing.
        table.transaction().commit_transaction()
        reference.lake.follow_tables(reference.identifier)
    return result


def _source(cursor: Cursor) -> tuple[tuple[str, ...], str, str]:
    """Return the name of the source that stands before its columns if it has no alias, its text, and its alias."""
    parts: tuple[str, ...] = ()
    if cursor.at("("):
        text, name = f"({cursor.group()})", "source"
    else:
        parts = cursor.names()
        text, name = ".".join(quoted(part) for part in parts), parts[-1]
        text += _version(cursor)
    alias = target_alias(cursor, "ON", "MERGE")
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


def _add_clause(builder: MergeBuilder, scope: MergeScope, clause: MergeClause, *, partial: bool) -> None:
    """Add a clause to a merge; with `partial`, the source may lack columns that `*` takes."""
    all_values = scope.all_values(partial=partial) if clause.takes_all else None
    condition = clause.condition
    if condition is not None:
        condition = scope.condition(condition, clause.side, f"condition of WHEN {clause.kind}")
    if clause.inserts:
        builder.when_not_matched_insert(all_values if clause.takes_all else _inserted(scope, clause), condition)
    elif clause.deletes:
        (builder.when_not_matched_by_source_delete if clause.by_source else builder.when_matched_delete)(condition)
    elif clause.by_source:
        builder.when_not_matched_by_source_update(_set(scope, clause), condition)
    else:
        builder.when_matched_update(all_values if clause.takes_all else _set(scope, clause), condition)


def _set(scope: MergeScope, clause: MergeClause) -> dict[str, Any]:
    values = set_values(
        clause.assignments or "",
        scope.struct,
        scope.target,
        "target",
        lambda value: scope.value(value, clause.side, "UPDATE SET"),
        "MERGE",
        case_sensitive=scope.case_sensitive,
    )
    return scope.stored(values)


def _inserted(scope: MergeScope, clause: MergeClause) -> dict[str, Any]:
    pairs = clause.inserted or ()
    names = [scope.inserted_column(parts) for parts, _ in pairs]
    if len(set(names)) != len(names):
        raise ValidationError(f"MERGE: INSERT expects each column once, got {', '.join(names)}")
    # The default of every column is null.
    texts = ["NULL" if value.upper() == "DEFAULT" else value for _, value in pairs]
    values = {name: scope.value(text, "source", "INSERT VALUES") for name, text in zip(names, texts, strict=True)}
    return scope.stored(values)
