"""MERGE with DataFrames: planned here, joined by Spark, committed in one snapshot.

A string is Spark SQL over the two sides ``source`` and ``target``, both as a condition and as a value, as in ``Table.merge``;
``docs/merge.md`` has the rule. Spark columns are used unchanged; any other value is a literal. The table property
``write.merge.mode`` decides how rows change: ``merge-on-read`` writes position deletes beside new rows, ``copy-on-write``, the
default of the format, rewrites data files with changed rows. The commit checks concurrent commits against the snapshot that the
merge read, as ``write.merge.isolation-level`` requires.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import And
from icefloe.spark.arguments import checked_frame, checked_summary, checked_table
from icefloe.spark.dml.candidate_pairs import evaluated_in_pairs, of_pairs
from icefloe.spark.dml.change_commit import commit_changes
from icefloe.spark.dml.join import FurtherCondition, MergeSource, merged
from icefloe.spark.dml.target import plan_target
from icefloe.table.row_level.clause_sql.scope import named
from icefloe.table.row_level.clauses import Action, Clauses, Match
from icefloe.table.row_level.join_condition import JoinCondition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.table import Table
    from icefloe.table.commit.change import Change
    from icefloe.table.row_level.join_keys import JoinKey
    from icefloe.table.row_level.merge import MergeResult

    Condition = Column | str | None
    Values = Mapping[str, Any] | None


def merge_into(
    table: Table,
    source: DataFrame,
    on: Sequence[str] | Mapping[str, str] | str,
    *,
    branch: str | None = None,
    snapshot_properties: Mapping[str, str] | None = None,
) -> MergeBuilder:
    """Return a merge of a DataFrame into a table: add clauses to it, then call ``execute()``.

    Args:
        table: Target. It shows the new version after the merge.
        source: Rows to merge. Spark computes them once and caches them until the merge is done.
        on: Key columns, names that both sides have or a mapping of target name to source name, or any condition as Spark SQL over
            `source` and `target`, such as `"target.id = source.key and source.at > target.at"`. Rows match where it is true. Null
            equals nothing, but null under `<=>`. Spark joins by the equalities of two columns.
        branch: Branch to read and commit to; main if None.
        snapshot_properties: Additional keys of the snapshot's summary.

    Raises:
        ValidationError: There are no key columns, the text is not an SQL expression, or an argument has the wrong type.

    Examples:
        >>> changes = spark.createDataFrame([(1, "D", "a"), (2, "U", "B"), (4, "U", "d")], "id long, op string, name string")
        >>> merge = icefloe.spark.merge_into(table, changes, on=["id"])
        >>> merge = merge.when_matched_delete("source.op = 'D'")
        >>> merge.when_matched_update_all().when_not_matched_insert_all().execute()
        MergeResult(rows_updated=1, rows_deleted=1, rows_inserted=1)
    """
    checked_table("merge", table)
    checked_frame("merge, source", source)
    condition = JoinCondition.of(on, any_function=True)
    if condition.expressions:
        raise ValidationError(
            f"merge, on: expected names of columns or SQL text, got {type(condition.expressions[0]).__name__}: write the condition as SQL text"
        )
    keys, terms = condition.terms()
    builder = MergeBuilder(table, source, keys, branch=branch, snapshot_properties=checked_summary(snapshot_properties))
    if condition.text is None or not terms:
        return builder
    # Spark evaluates the whole text: its parts, as the parser here writes them, may have another meaning.
    columns = [_source_columns(term, source.columns) for term in terms]
    read = dict.fromkeys(name for of_term in columns for name in of_term if name is not None)
    on_source = any(of_term and None not in of_term for of_term in columns)
    return builder.only_pairs(FurtherCondition(condition.text, tuple(read), on_source))


def _source_columns(term: Any, names: Sequence[str]) -> list[str | None]:
    """Return the column of the source for each column in a syntax tree; None for columns of the target."""
    found: list[str | None] = []
    for column in (one for one in term.walk() if type(one).__name__ == "Column"):
        parts = [part.name for part in column.parts]
        side = parts[0].lower() if len(parts) > 1 else ""
        found.append(None if side == "target" else named(parts[1] if side == "source" else parts[0], names))
    return found


class MergeBuilder:
    """A merge under construction; :func:`merge_into` returns it.

    For each row, the first clause of its kind applies whose condition is true.

    Examples:
        >>> merge = icefloe.spark.merge_into(table, spark.range(2, 5), on=["id"])
        >>> merge = merge.when_matched_update({"name": "concat(target.name, '!')"}, "source.id < 3")
        >>> merge.when_not_matched_by_source_delete().execute()
        MergeResult(rows_updated=1, rows_deleted=1, rows_inserted=0)
    """

    def __init__(
        self,
        table: Table,
        source: DataFrame,
        keys: Sequence[JoinKey],
        *,
        branch: str | None,
        snapshot_properties: Mapping[str, str],
    ) -> None:
        self._table = table
        self._source = source
        self._keys = keys
        self._only_if: str | None = None
        self._further: FurtherCondition | None = None
        self._of_target: BooleanExpression | None = None
        self._branch = branch
        self._snapshot_properties = snapshot_properties
        self._clauses = Clauses()
        self._checks: tuple[Change, ...] = ()
        self._loaded = False

    def when_matched_update(self, set: Values = None, condition: Condition = None) -> Self:  # noqa: A002  SQL's word
        """Update target rows that match a source row.

        Args:
            set: Column name to SQL text (``"source.n + 1"``, ``"'de'"``), Spark column or literal; other columns keep their
                values. A dotted name such as ``place.city`` sets a field within a struct. None sets every column to the source's column of
                the same name.
            condition: Condition over ``target`` and ``source``, as SQL text or Spark column; None for every matched row. Null
                counts as false.

        Raises:
            ValidationError: ``set`` is empty.
        """
        return self._add(Match.MATCHED, Action.UPDATE, condition, set)

    def when_matched_update_all(self, condition: Condition = None) -> Self:
        """Replace target rows that match a source row by it, in every column."""
        return self.when_matched_update(None, condition)

    def when_matched_delete(self, condition: Condition = None) -> Self:
        """Delete target rows that match a source row; ``condition`` as in :meth:`when_matched_update`."""
        return self._add(Match.MATCHED, Action.DELETE, condition, None)

    def when_not_matched_insert(self, values: Values = None, condition: Condition = None) -> Self:
        """Insert source rows that match no target row.

        Args:
            values: Column name to SQL text over ``source``, Spark column or literal; other columns become null. None takes every
                column from the source's column of the same name.
            condition: Condition over ``source``; None for every row. Null counts as false.

        Raises:
            ValidationError: ``values`` is empty.
        """
        return self._add(Match.NOT_MATCHED, Action.INSERT, condition, values)

    def when_not_matched_insert_all(self, condition: Condition = None) -> Self:
        """Insert source rows that match no target row, with all columns."""
        return self.when_not_matched_insert(None, condition)

    def when_not_matched_by_source_update(self, set: Mapping[str, Any], condition: Condition = None) -> Self:  # noqa: A002
        """Update target rows that match no source row; values and condition are over ``target``.

        Raises:
            ValidationError: ``set`` is empty or None.
        """
        return self._add(Match.NOT_MATCHED_BY_SOURCE, Action.UPDATE, condition, set)

    def when_not_matched_by_source_delete(self, condition: Condition = None) -> Self:
        """Delete target rows that match no source row; the condition is over ``target``."""
        return self._add(Match.NOT_MATCHED_BY_SOURCE, Action.DELETE, condition, None)

    def checked_by(self, check: Change) -> Self:
        """Add a change to the transaction of the merge, such as a check of the version that the merge commits to."""
        self._checks += (check,)
        return self

    def only_if(self, column: str | None) -> Self:
        """Let source rows match nothing where a boolean column of the source is not true; None lets all rows match."""
        self._only_if = column
        return self

    def only_pairs(self, further: FurtherCondition | None) -> Self:
        """Let rows match only if a pair of them meets a condition beside equal keys; None for no condition."""
        self._further = further
        return self

    def only_target(self, row_filter: BooleanExpression | None) -> Self:
        """Let a filter prune the target's files: the condition on pairs is true for no row outside of it; None for no filter."""
        self._of_target = row_filter
        return self

    def of_loaded_version(self) -> Self:
        """Merge into the loaded version of the table, which the source may have read, instead of the current one."""
        self._loaded = True
        return self

    def execute(self) -> MergeResult:
        """Run the merge and commit it in one snapshot; a merge that changes no row makes no snapshot.

        Returns:
            The numbers of rows that were updated, deleted and inserted.

        Raises:
            ValidationError: There is no clause, Spark refuses a condition or value, or several source rows change one target row.
            ResolveError: A name is no column.
            SchemaMismatchError: A value does not fit its column.
            ValidationException: A concurrent commit conflicts.
        """
        self._clauses.require_any()
        # A source may read the target: commits after this version conflict with the merge.
        table = self._table if self._loaded else self._table.refresh()
        needs_all = bool(self._clauses.of(Match.NOT_MATCHED_BY_SOURCE))
        reads_target = self._further is not None or any(clause.reads_target() for clause in self._clauses.in_order)
        schema = table.schema()
        names = [field.name for field in schema.fields]
        keys = [key if key.exact else replace(key, target=named(key.target, names) or key.target) for key in self._keys]
        missing = [key.target for key in keys if key.target not in names]
        if missing:
            raise ResolveError(f"merge: the table has no key column {missing[0]!r}; expected one of {', '.join(names)}")
        with MergeSource(self._source, keys, self._only_if, self._further_condition(table)) as source:
            target = plan_target(
                source.spark,
                table,
                "merge",
                branch=self._branch,
                snapshot_properties=self._snapshot_properties,
                row_filter=None if needs_all else _both(source.key_range(schema), self._of_target),
                columns=None if reads_target else tuple(dict.fromkeys(key.target for key in keys)),
                refresh=False,
                filters_again=True,
            )
            for check in self._checks:
                target.target.transaction.apply(check)
            with merged(target, source, self._clauses) as changes:
                return commit_changes(changes)

    def _further_condition(self, table: Table) -> FurtherCondition | None:
        """Return the further condition, which Spark evaluates before the join where it reads the source alone, unless Java does not."""
        further = self._further
        matches = {clause.match for clause in self._clauses.in_order}
        if further is None or not further.on_source or not evaluated_in_pairs(matches, table.properties):
            return further
        return replace(further, text=of_pairs(further.text))

    def _add(self, match: Match, action: Action, condition: Condition, values: Values) -> Self:
        self._clauses = self._clauses.added(match, action, condition, values)
        return self


def _both(one: BooleanExpression | None, other: BooleanExpression | None) -> BooleanExpression | None:
    """Return the conjunction of two filters, None being true for all rows."""
    return And(one, other) if one is not None and other is not None else one or other
