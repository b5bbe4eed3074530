"""The names of a MERGE statement: columns of its two tables, under whatever aliases."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql import types as spark_types
from sqlglot import exp

from icefloe.exceptions import FeatureUnsupportedError, ResolveError, SchemaMismatchError
from icefloe.spark.dml.determinism import calls_function, check_deterministic_pairs
from icefloe.spark.statements.assignment import stored
from icefloe.spark.statements.catalog_functions import with_catalog_functions
from icefloe.spark.statements.column_names import column_named, folded
from icefloe.spark.statements.parsed_query import parsed
from icefloe.spark.types.conform import fits, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from icefloe.spark.statements.function_call import FunctionCall
    from icefloe.spark.statements.scalar_subquery import ScalarSubqueries
    from icefloe.spark.statements.statement import Statement


class MergeScope:
    """The names of a MERGE statement.

    Args:
        target: Alias of the target.
        source: Alias of the source.
        struct: Spark schema of the target.
        source_struct: Spark schema of the source.
        statement: The statement.
        subqueries: Scalar subqueries of the statement.
    """

    def __init__(  # noqa: PLR0913 - the parts of one statement
        self,
        target: str,
        source: str,
        struct: Any,
        source_struct: Any,
        statement: Statement,
        subqueries: ScalarSubqueries,
    ) -> None:
        self.struct = struct
        self.target = target
        self._source_struct = source_struct
        self._statement = statement
        self._subqueries = subqueries
        self.case_sensitive = statement.case_sensitive()
        self._aliases = {self._folded(target): "target", self._folded(source): "source"}
        self._columns = {"target": list(struct.names), "source": list(source_struct.names)}

    def rewritten(self, text: str, side: str | None, clause: str) -> str:
        """Return an expression with every column qualified by ``target`` or ``source``.

        Args:
            text: SQL text.
            side: The only side that it may read; None for both.
            clause: The clause of the expression, for errors.

        Raises:
            ResolveError: A column does not exist, or both sides have it.
            FeatureUnsupportedError: The expression has a subquery.
        """
        start = len("SELECT ")
        tree = parsed(f"SELECT {text}")
        if (
            tree.find(exp.Subquery)
            or any(map(_is_query, tree.find_all(exp.Exists)))
            or list(tree.find_all(exp.Select))[1:]
        ):
            raise FeatureUnsupportedError(
                f"MERGE, {clause}: subqueries are not supported here; expected columns of both tables, got {text}: compute the subquery in "
                "the query of USING, as a column of the source"
            )
        spliced = _spliced(text, [(begin - start, end - start, new) for begin, end, new in self._edits(tree, side)])
        return with_catalog_functions(self._statement, spliced, self._kinds_of)

    def condition(self, text: str, side: str | None, clause: str) -> str:
        """Return a condition as :meth:`rewritten` does.

        Raises:
            ValidationError: The condition is not deterministic.
        """
        rewritten = self.rewritten(text, side, clause)
        if calls_function(text):
            check_deterministic_pairs(self._no_pairs, rewritten, text, f"MERGE, {clause}")
        return rewritten

    def value(self, text: str, side: str | None, clause: str) -> str:
        """Return a value as :meth:`rewritten` does, with a view of one row in the place of each scalar subquery."""
        return self._subqueries.value(text, lambda one: self.rewritten(one, side, clause), clause)

    def columns(self, text: str) -> list[tuple[str, str]]:
        """Return side and name of each column that an expression reads."""
        found = (self._resolved(column, None) for column in parsed(f"SELECT {text}").find_all(exp.Column))
        return list(dict.fromkeys((side, name) for side, name, _, _ in found))

    def target_column(self, text: str) -> str | None:
        """Return the column of the target that an expression is; None for other expressions and nested fields."""
        tree = parsed(f"SELECT {text}")
        part = tree.expressions[0].unnest() if len(tree.expressions) == 1 else None
        if not isinstance(part, exp.Column) or isinstance(part.this, exp.Star):
            return None
        side, name, nested, _ = self._resolved(part, None)
        return name if side == "target" and not nested else None

    def inserted_column(self, parts: tuple[str, ...]) -> str:
        """Return the column of the target in the column list of an INSERT.

        Raises:
            ResolveError: The target has no such column.
            FeatureUnsupportedError: A field within a struct is named.
        """
        if len(parts) == 2 and self._aliases.get(self._folded(parts[0])) == "target":
            parts = parts[1:]
        if len(parts) != 1:
            raise FeatureUnsupportedError(
                f"MERGE: INSERT of {'.'.join(parts)} is not supported; expected a column of the target: insert the whole struct with "
                "named_struct(...)"
            )
        return self._named("target", parts[0]) or parts[0]

    def _kinds_of(self, _: str, __: Sequence[FunctionCall], arguments: Sequence[str]) -> list[str]:
        """Return Spark's names of the types of expressions over both sides."""
        schema = self._no_pairs.select(*map(F.expr, arguments)).schema
        return [field.dataType.simpleString().lower() for field in schema.fields]

    @cached_property
    def _no_pairs(self) -> DataFrame:
        """A frame of no rows with both sides as structs, over which Spark finds the types of values."""
        sides = {"target": self.struct, "source": self._source_struct}
        pairs = spark_types.StructType([spark_types.StructField(name, struct) for name, struct in sides.items()])
        frame: DataFrame = self._statement.spark.createDataFrame([], pairs)
        return frame

    def stored(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return new values, in the SQL of :meth:`rewritten`, as values that Spark stores in the columns.

        Raises:
            SchemaMismatchError: Spark stores no values of this type in the column.
        """
        known = {name: value for name, value in values.items() if name in self.struct.names}
        label = "MERGE"
        try:
            found = self._no_pairs.select(*[F.expr(value) for value in known.values()])
            kinds = [field.dataType for field in found.schema.fields]
        except AnalysisException:
            # The merge reports the clause and the value.
            return dict(values)
        columns = {
            name: stored(F.expr(value), kind, self.struct[name], label)
            for (name, value), kind in zip(known.items(), kinds, strict=True)
        }
        return {**values, **columns}

    def all_values(self, *, partial: bool = False) -> dict[str, Any] | None:
        """Return the values of `UPDATE SET *` and `INSERT *`; None if the merge takes the columns of the source as they are.

        Args:
            partial: Leave out columns that the source lacks.

        Raises:
            SchemaMismatchError: Spark stores no values of a source column's type in the table's column, or in a session that
                distinguishes case, the source lacks a column.
        """
        names = {field.name: self._named("source", field.name) for field in self.struct.fields}
        found = {name: source for name, source in names.items() if source is not None}
        missing = [name for name, source in names.items() if source is None]
        if missing and partial:
            return self.stored({name: f"source.{quoted(source)}" for name, source in found.items()})
        if missing and self.case_sensitive:
            raise SchemaMismatchError(
                f"MERGE, *: the source has no column {missing[0]!r}; expected all columns of the table, got "
                f"{', '.join(self._columns['source'])}: name the columns to set"
            )
        if missing or all(
            fits(self._source_struct[source].dataType, self.struct[name].dataType) for name, source in found.items()
        ):
            return None
        return self.stored({name: f"source.{quoted(source)}" for name, source in found.items()})

    def _edits(self, tree: Any, side: str | None) -> list[tuple[int, int, str]]:
        edits = []
        for column in tree.find_all(exp.Column):
            if isinstance(column.this, exp.Star):
                raise ResolveError("MERGE: expected columns by name, got *")
            found, name, _, parts = self._resolved(column, side)
            first, last = column.parts[0].meta, column.parts[parts - 1].meta
            edits.append((first["start"], last["end"] + 1, f"{found}.{quoted(name)}"))
        return edits

    def _resolved(self, column: exp.Column, side: str | None) -> tuple[str, str, bool, int]:
        """Return side and name of a column, whether a nested field follows, and how many parts of the text are the column's name."""
        parts = [part.name for part in column.parts]
        alias = self._aliases.get(self._folded(parts[0])) if len(parts) > 1 else None
        if alias is not None:
            if side is not None and alias != side:
                raise ResolveError(
                    f"MERGE: this clause reads the {side} alone; expected its columns, got {'.'.join(parts)}"
                )
            name = self._named(alias, parts[1])
            if name is None:
                raise ResolveError(
                    f"MERGE: the {alias} has no column {parts[1]!r}; expected one of {', '.join(self._columns[alias])}"
                )
            return alias, name, len(parts) > 2, 2
        found = [(one, self._named(one, parts[0])) for one in ("target", "source") if side in (None, one)]
        known = [(one, name) for one, name in found if name is not None]
        if len(known) != 1:
            problem = "is in both tables" if known else "is in neither table"
            raise ResolveError(
                f"MERGE: column {parts[0]!r} {problem}; expected target or source before it, or another name"
            )
        return known[0][0], known[0][1], len(parts) > 1, 1

    def _named(self, side: str, name: str) -> str | None:
        return column_named(name, self._columns[side], case_sensitive=self.case_sensitive)

    def _folded(self, name: str) -> str:
        return folded(name, case_sensitive=self.case_sensitive)


def _is_query(exists: exp.Exists) -> bool:
    """Return whether EXISTS is of a query, not the function of an array and a lambda."""
    return isinstance(exists.this, exp.Query) or exists.args.get("expression") is None


def _spliced(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
