"""MERGE, UPDATE and DELETE with DataFrames: planned here, joined by Spark, committed in one snapshot.

A string is Spark SQL over the two sides ``source`` and ``target``, both as a condition and as a value, as in ``Table.merge``;
``docs/merge.md`` has the rule. Columns are taken as they are, anything else is a literal. The mode is the table's
(``write.merge.mode``, ``write.update.mode``, ``write.delete.mode``): ``merge-on-read`` writes position deletes beside new rows,
``copy-on-write``, the default of the format, rewrites the files that hold changed rows. Others may commit meanwhile: the commit
checks what they did against the snapshot that was read, as strictly as ``write.<operation>.isolation-level`` asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.dml.clauses import Clause
from icefloe.spark.dml.join import MergeSource, merged
from icefloe.spark.dml.target import Target
from icefloe.table.row_level.clauses import Action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame
    from typing_extensions import Self

    from icefloe.table import Table
    from icefloe.table.row_level.results import MergeResult

    Condition = Column | str | None
    Values = Mapping[str, Any] | None


def merge_into(
    table: Table,
    source: DataFrame,
    on: Sequence[str] | Mapping[str, str],
    *,
    branch: str | None = None,
    snapshot_properties: Mapping[str, str] | None = None,
) -> MergeBuilder:
    """Describe a merge of a DataFrame into a table; add clauses, then ``execute()``.

    Args:
        table: Target.
        source: Rows to merge in. It is computed once and kept until the merge is done.
        on: Key columns: names that both sides have, or target name to source name. Rows match when all are equal; null
            equals nothing.
        branch: Branch to read and commit to; main if None.
        snapshot_properties: More keys of the snapshot's summary.

    Example:
        >>> merge = icefloe.spark.merge_into(table, changes, on=["id"])                       # doctest: +SKIP
        >>> merge = merge.when_matched_delete("source.op = 'D'")                              # doctest: +SKIP
        >>> merge.when_matched_update_all().when_not_matched_insert_all().execute()           # doctest: +SKIP
        MergeResult(rows_updated=60012, rows_deleted=0, rows_inserted=60012)
    """
    keys = dict(on) if isinstance(on, Mapping) else {name: name for name in on}
    if not keys or isinstance(on, str):
        raise ValidationError('A merge needs key columns: on=["id"]')
    target = Target(table=table, operation="merge", branch=branch, snapshot_properties=dict(snapshot_properties or {}))
    return MergeBuilder(target, source, keys)


class MergeBuilder:
    """A merge that is being described. Of the clauses of one kind the first whose condition holds applies."""

    def __init__(self, target: Target, source: DataFrame, keys: Mapping[str, str]) -> None:
        self._target = target
        self._source = source
        self._keys = keys
        self._clauses: list[Clause] = []

    def when_matched_update(self, set: Values = None, condition: Condition = None) -> Self:  # noqa: A002  SQL's word
        """Replace target rows that match.

        Args:
            set: Column to SQL text (``"source.n + 1"``, ``"'de'"``), Spark column or literal; columns that are not named keep
                their values. None sets all columns to the source's of the same name.
            condition: When, over ``target`` and ``source``, as SQL text or Spark column; always if None.
        """
        return self._add(Clause.make("matched", Action.UPDATE, condition, set))

    def when_matched_update_all(self, condition: Condition = None) -> Self:
        """Replace target rows that match by the source's row, all columns."""
        return self.when_matched_update(None, condition)

    def when_matched_delete(self, condition: Condition = None) -> Self:
        """Delete target rows that match."""
        return self._add(Clause.make("matched", Action.DELETE, condition, None))

    def when_not_matched_insert(self, values: Values = None, condition: Condition = None) -> Self:
        """Insert source rows that match nothing.

        Args:
            values: Column to SQL text over ``source``, Spark column or literal; columns that are not named become null. None
                takes all columns from the source's of the same name.
            condition: When, over ``source``; always if None.
        """
        return self._add(Clause.make("not matched", Action.INSERT, condition, values))

    def when_not_matched_insert_all(self, condition: Condition = None) -> Self:
        """Insert source rows that match nothing, all columns."""
        return self.when_not_matched_insert(None, condition)

    def when_not_matched_by_source_update(self, set: Mapping[str, Any], condition: Condition = None) -> Self:  # noqa: A002
        """Change target rows that no source row matches; values and condition are over ``target``."""
        return self._add(Clause.make("not matched by source", Action.UPDATE, condition, set))

    def when_not_matched_by_source_delete(self, condition: Condition = None) -> Self:
        """Delete target rows that no source row matches; the condition is over ``target``."""
        return self._add(Clause.make("not matched by source", Action.DELETE, condition, None))

    def execute(self) -> MergeResult:
        """Run the merge and commit it in one snapshot; if it changes nothing, nothing is committed.

        Raises:
            ValidationError: There is no clause, Spark refuses a condition or value, or several source rows match one target row
                that they change.
            ResolveError: A name is no column.
            SchemaMismatchError: A value does not fit its column.
            ValidationException: What others committed meanwhile conflicts.
        """
        if not self._clauses:
            raise ValidationError(
                "The merge has no clause: add when_matched_update_all(), when_not_matched_insert_all(), ..."
            )
        with MergeSource(self._source, self._keys) as source:
            keeps_all = any(clause.kind == "not matched by source" for clause in self._clauses)
            row_filter = None if keeps_all else source.key_range()
            columns = None if any(clause.sees_target() for clause in self._clauses) else tuple(self._keys)
            pinned = self._target.pinned(source.spark, row_filter=row_filter, columns=columns)
            with merged(pinned, source, self._clauses) as changes:
                return changes.commit()

    def _add(self, clause: Clause) -> Self:
        self._clauses.append(clause)
        return self
