"""UPDATE, DELETE and TRUNCATE: Spark evaluates the condition and the values as a query over the rows and their positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from icefloe.exceptions import FeatureUnsupportedError, ResolveError, ValidationError
from icefloe.expressions import AlwaysTrue
from icefloe.spark.dml.delete import delete_from
from icefloe.spark.dml.determinism import check_deterministic
from icefloe.spark.dml.located_rows import delete_located, update_located
from icefloe.spark.dml.target import plan_target
from icefloe.spark.lexer import Cursor, words_of
from icefloe.spark.reader.frame import located_frame
from icefloe.spark.reader.row_location import FILE, POSITION
from icefloe.spark.statements.assignment import stored
from icefloe.spark.statements.qualified_columns import with_alias
from icefloe.spark.statements.query import frame_of_query, pushdown_of, single_table
from icefloe.spark.statements.refused_clause import check_clauses, target_alias
from icefloe.spark.statements.set_clause import set_values
from icefloe.spark.statements.spark_write import change_in_spark
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.dml.target import PlannedTarget
    from icefloe.spark.statements.literal_filter import Filter
    from icefloe.spark.statements.references import Reference
    from icefloe.spark.statements.statement import Statement
    from icefloe.table.row_level.merge import MergeResult

TARGET = "__icefloe_target"


def update(statement: Statement, text: str) -> DataFrame:
    """Run ``UPDATE table [AS alias] SET column = value, ... [WHERE condition]``."""
    cursor = Cursor(text)
    cursor.expect("UPDATE")
    parts = cursor.names()
    if statement.references.is_of_spark(parts):
        return change_in_spark(statement, text, "UPDATE")
    reference = statement.references.resolve(parts)
    reference.writable()
    given = target_alias(cursor, "SET", "UPDATE")
    alias = given or parts[-1]
    cursor.expect("SET")
    changes = cursor.rest()
    check_clauses(changes, "UPDATE")
    assignments, condition = _split_where(changes if given else with_alias(changes, parts, alias))
    target = _planned(statement, reference, parts, alias, condition, "update")
    struct = target.struct
    qualifier = quoted(alias)
    exact = statement.case_sensitive()
    values = set_values(assignments, struct, alias, qualifier, str, "UPDATE", case_sensitive=exact)
    selected = [
        f"({values[field.name]}) AS c{index}"
        if field.name in values
        else f"{qualifier}.{quoted(field.name)} AS c{index}"
        for index, field in enumerate(struct.fields)
    ]
    rows = _rows(statement, target, alias, condition, [f"{qualifier}.{FILE}", f"{qualifier}.{POSITION}", *selected])
    columns = [
        stored(rows[f"c{index}"], rows.schema[f"c{index}"].dataType, field, "UPDATE").alias(field.name)
        for index, field in enumerate(struct.fields)
    ]
    return counts(statement, update_located(target, rows.select(FILE, POSITION, *columns), values))


def delete(statement: Statement, text: str) -> DataFrame:
    """Run ``DELETE FROM table [AS alias] [WHERE condition]``; files whose rows all match are dropped without being read."""
    cursor = Cursor(text)
    cursor.expect("DELETE", "FROM")
    parts = cursor.names()
    if statement.references.is_of_spark(parts):
        return change_in_spark(statement, text, "DELETE")
    reference = statement.references.resolve(parts)
    table = reference.writable()
    given = target_alias(cursor, "WHERE", "DELETE")
    alias = given or parts[-1]
    condition = None
    if not cursor.done:
        cursor.expect("WHERE")
        if cursor.done:
            raise cursor.error("a condition after WHERE")
        rest = cursor.rest()
        check_clauses(rest, "DELETE")
        condition = rest if given else with_alias(rest, parts, alias)
    branch = reference.version.get("branch")
    if condition is None:
        return counts(statement, delete_from(table, AlwaysTrue(), spark=statement.spark, branch=branch))
    found = condition_filter(statement, parts, alias, condition)
    if found is not None and found.exact:
        return counts(statement, delete_from(table, found.expression, spark=statement.spark, branch=branch))
    target = _planned(statement, reference, parts, alias, condition, "delete")
    qualifier = quoted(alias)
    rows = _rows(statement, target, alias, condition, [f"{qualifier}.{FILE}", f"{qualifier}.{POSITION}"])
    return counts(statement, delete_located(target, rows))


def truncate(statement: Statement, text: str) -> None:
    """Run TRUNCATE TABLE."""
    cursor = Cursor(text)
    cursor.expect("TRUNCATE", "TABLE")
    reference = statement.references.resolve(cursor.names())
    if cursor.at("PARTITION"):
        raise FeatureUnsupportedError(
            "TRUNCATE TABLE: PARTITION is not supported; expected DELETE FROM table WHERE with the values of the partition, got PARTITION"
        )
    cursor.finish()
    delete_from(reference.writable(), AlwaysTrue(), spark=statement.spark, branch=reference.version.get("branch"))


def counts(statement: Statement, result: MergeResult) -> DataFrame:
    """Return the numbers of changed rows as a row."""
    row = (result.rows_updated, result.rows_deleted, result.rows_inserted)
    frame: DataFrame = statement.spark.createDataFrame(
        [row], "rows_updated bigint, rows_deleted bigint, rows_inserted bigint"
    )
    return frame


def _planned(  # noqa: PLR0913 - the parts of one statement
    statement: Statement,
    reference: Reference,
    parts: tuple[str, ...],
    alias: str,
    condition: str | None,
    operation: str,
) -> PlannedTarget:
    found = None if condition is None else condition_filter(statement, parts, alias, condition)
    return plan_target(
        statement.spark,
        reference.table,
        operation,
        branch=reference.version.get("branch"),
        row_filter=None if found is None else found.expression,
        filters_again=True,
    )


def condition_filter(statement: Statement, parts: tuple[str, ...], alias: str, condition: str) -> Filter | None:
    """Return the filter of a table's rows that a condition on them may select; None for all rows.

    Args:
        statement: The statement.
        parts: Name of the table.
        alias: Name of the table in the condition.
        condition: SQL text.
    """
    name = ".".join(quoted(part) for part in parts)
    table, columns = single_table(
        statement, f"{statement.above}SELECT 1 FROM {name} AS {quoted(alias)} WHERE ({condition})"
    )
    return pushdown_of(statement, table, columns).row_filter


def _rows(
    statement: Statement, target: PlannedTarget, alias: str, condition: str | None, selected: list[str]
) -> DataFrame:
    """Return columns of the rows that a condition selects.

    Raises:
        ResolveError: The condition or a value names an unknown column.
        ValidationError: Spark refuses the condition or a value for another reason.
    """
    frame = located_frame(statement.spark, target.planned)
    # In parentheses, Spark accepts no clause after the condition, such as LIMIT.
    where = "" if condition is None else f" WHERE ({condition})"
    text = f"{statement.above}SELECT {', '.join(selected)} FROM {TARGET} AS {quoted(alias)}{where}"
    try:
        rows = frame_of_query(statement, text, {TARGET: frame})
        # Over Spark Connect, reading the schema makes Spark analyse the query.
        _ = rows.schema
    except AnalysisException as error:
        # Spark suggests names of the rows with their positions, and counts characters of another text.
        problem = str(error).strip().splitlines()[0].split(" Did you mean")[0].split(" SQLSTATE")[0].rstrip(".;")
        label = f"{target.operation.upper()} {'.'.join(target.table.name())}"
        if (error.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
            names = ", ".join(target.struct.names)
            raise ResolveError(f"{label}: {problem}; expected one of {names}, or a text in quotes") from error
        raise ValidationError(f"{label}: {problem}; expected a condition and values that Spark accepts") from error
    if condition is not None:
        _check_deterministic(statement, target, alias, condition)
    return rows


def _check_deterministic(statement: Statement, target: PlannedTarget, alias: str, condition: str) -> None:
    def joined() -> DataFrame:
        no_rows = statement.spark.createDataFrame([], target.struct)
        text = f"{statement.above}SELECT 1 FROM {TARGET} AS {quoted(alias)} JOIN (SELECT 1) ON ({condition})"
        return frame_of_query(statement, text, {TARGET: no_rows})

    check_deterministic(joined, condition, f"{target.operation.upper()} {'.'.join(target.table.name())}")


def _split_where(text: str) -> tuple[str, str | None]:
    depth = 0
    for word in words_of(text):
        depth += word.is_keyword("(") - word.is_keyword(")")
        if depth == 0 and word.is_keyword("WHERE"):
            return text[: word.start].strip(), text[word.end :].strip()
    return text.strip(), None
