"""Conditions of DELETE, UPDATE and MERGE, which must have the same value whenever Spark evaluates them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

_NO_FUNCTIONS = (
    *("ALL", "AND", "ANY", "AS", "BETWEEN", "BY", "CASE", "ELSE", "EXISTS", "FROM", "IN", "LIKE", "NOT", "ON", "OR"),
    *("SELECT", "SOME", "THEN", "VALUES", "WHEN", "WHERE"),
)
# A name that is no column of a table, so that names in conditions stay unambiguous beside it.
_BESIDE = "__icefloe_beside"
_REFUSED = "INVALID_NON_DETERMINISTIC_EXPRESSIONS"


def calls_function(condition: str) -> bool:
    """Return whether a condition calls a function, without which its value is always the same."""
    return any(
        after.is_keyword("(") and word.is_name and not word.is_keyword(*_NO_FUNCTIONS)
        for word, after in itertools.pairwise(words_of(condition))
    )


def check_deterministic(joined: Callable[[], DataFrame], condition: str | Column, label: str) -> None:
    """Check that a condition has the same value at each evaluation; no job runs.

    Args:
        joined: Returns rows that are joined by the condition: Spark joins by deterministic conditions alone.
        condition: The condition.
        label: The statement and the clause, for errors.

    Raises:
        ValidationError: The condition calls a function such as `rand`.
    """
    if isinstance(condition, str) and not calls_function(condition):
        return
    try:
        # Over Spark Connect, reading the schema makes Spark analyse the condition.
        _ = joined().schema
    except AnalysisException as error:
        # Spark refuses some subqueries in conditions of joins that it accepts in WHERE.
        if (error.getCondition() or "") != _REFUSED:
            return
        raise ValidationError(
            f"{label}: the condition is not deterministic; expected a condition with the same value at each evaluation, got {condition}: "
            "compute the values in a query, and write them to a table or cache them with CACHE TABLE ... AS"
        ) from error


def check_deterministic_rows(rows: DataFrame, column: Column, condition: str | Column, label: str) -> None:
    """Check a condition on the rows of a frame; see :func:`check_deterministic`.

    Args:
        rows: Rows.
        column: The condition as a column of the rows.
        condition: The condition as it is given, for errors.
        label: The operation and the clause, for errors.
    """
    check_deterministic(
        lambda: rows.join(rows.sparkSession.range(1).toDF(_BESIDE), column), condition, f"{label}, condition"
    )


def check_deterministic_pairs(pairs: DataFrame, rewritten: str, condition: str, label: str) -> None:
    """Check a condition, whose names are rewritten for the columns of a frame; see :func:`check_deterministic`."""
    check_deterministic(lambda: pairs.join(pairs.sparkSession.range(1), F.expr(rewritten)), condition, label)
