"""The condition of a DELETE or UPDATE: a filter that prunes files, or a condition that Spark evaluates on every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import BooleanExpression
from icefloe.expressions.filter import Filter
from icefloe.spark.dml.clause_columns import check_condition
from icefloe.spark.dml.determinism import check_deterministic_rows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from icefloe.schema import Schema


@dataclass(frozen=True, kw_only=True)
class RowCondition:
    """The rows that an operation changes.

    Args:
        row_filter: Filter of the format's grammar, which prunes files; None for all rows.
        column: Condition over the rows of the filter, evaluated by Spark; None for all of them.
    """

    row_filter: str | BooleanExpression | None = None
    column: Column | None = None

    @staticmethod
    def of(where: str | BooleanExpression | Column | None, schema: Schema) -> RowCondition:
        """Return the condition of an argument ``where``.

        Text that is a filter of the format's grammar prunes files; other text is Spark SQL.

        Args:
            where: Filter, Spark SQL or Spark column; None for all rows.
            schema: The table's schema.

        Raises:
            ValidationError: The text is neither a filter nor Spark SQL.
        """
        if where is None or isinstance(where, BooleanExpression):
            return RowCondition(row_filter=where)
        if not isinstance(where, str):
            return RowCondition(column=where)
        try:
            Filter.of(where, schema).bound  # noqa: B018 - raises for literals that do not fit
        except ResolveError:
            raise
        except ValidationError as error:
            if not where.strip():
                raise
            try:
                return RowCondition(column=F.expr(where))
            except PySparkException:
                raise error from None
        return RowCondition(row_filter=where)

    def of_rows(self, located: DataFrame, label: str) -> DataFrame:
        """Return the rows of a scan of the filter that meet the condition; rows for which it is null do not.

        Args:
            located: Rows.
            label: Name of the operation, for errors.

        Raises:
            ResolveError: The condition names an unknown column.
            ValidationError: The condition is not boolean, or not deterministic.
        """
        if self.column is None:
            return located
        check_condition(located, self.column, f"{label}, condition")
        check_deterministic_rows(located, self.column, self.column, label)
        return located.where(self.column)
