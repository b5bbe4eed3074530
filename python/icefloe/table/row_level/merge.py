"""MERGE: one join of a source with the table, any number of clauses, one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.row_level.clauses import Action, Clause
from icefloe.table.row_level.merge_commit import commit_merge
from icefloe.table.row_level.merge_join import MergeJoin
from icefloe.table.row_level.results import MergeResult
from icefloe.table.write.arrow_input import to_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from icefloe.table.row_level.clauses import Condition, Values
    from icefloe.table.row_level.target import Target


class Merge:
    """A merge that is being described; `execute()` runs it.

    Rows of the source and of the table match when all key columns are equal; null equals nothing. Of the clauses of one kind
    the first whose condition is true applies. A string is Spark SQL over `source.<column>` and `target.<column>`, both as a
    condition (`"source.op = 'D'"`) and as a value (`"source.n + 1"`); a literal text is quoted in it (`"'de'"`). Conditions
    may be icefloe or pyarrow expressions instead, values pyarrow expressions or Python objects, which are literals.
    `docs/merge.md` has the rule and the grammar.

    Example:
        >>> import pyarrow as pa
        >>> from icefloe.catalog import load_catalog
        >>> catalog = load_catalog("scratch", type="memory")
        >>> catalog.create_namespace("db")
        >>> table = catalog.create_table("db.stock", pa.schema([("id", pa.int64()), ("n", pa.int64())]))
        >>> table.append(pa.table({"id": [1, 2], "n": [10, 20]}))
        >>> changes = pa.table({"id": [2, 3], "n": [0, 30]})
        >>> merge = table.merge(changes, on=["id"])
        >>> merge.when_matched_delete("source.n == 0").when_matched_update().when_not_matched_insert().execute()
        MergeResult(rows_updated=0, rows_deleted=1, rows_inserted=1)
        >>> table.scan().to_arrow().sort_by("id").to_pydict()
        {'id': [1, 3], 'n': [10, 30]}
    """

    def __init__(self, target: Target, source: object, on: Sequence[str]) -> None:
        if not on:
            raise ValidationError("merge needs key columns: on=['id']")
        self._target = target
        self._source = source
        self._on = tuple(on)
        self._matched: list[Clause] = []
        self._not_matched: list[Clause] = []
        self._by_source: list[Clause] = []

    def when_matched_update(self, set: Values = None, condition: Condition = None) -> Self:  # noqa: A002 - SQL's word
        """Replace target rows that match.

        Args:
            set: Column to value (SQL text, pyarrow expression or literal); columns that are not named keep theirs. All columns
                of the source when None.
            condition: When (SQL text, icefloe or pyarrow expression); always when None.
        """
        return self._add(self._matched, Action.UPDATE, condition, set, "when_matched_update")

    def when_matched_delete(self, condition: Condition = None) -> Self:
        """Delete target rows that match."""
        return self._add(self._matched, Action.DELETE, condition, None, "when_matched_delete")

    def when_not_matched_insert(self, values: Values = None, condition: Condition = None) -> Self:
        """Insert source rows that match nothing.

        Args:
            values: Column to value; columns that are not named get null. All columns of the source when None.
            condition: When; always when None. It sees the source alone.
        """
        return self._add(self._not_matched, Action.INSERT, condition, values, "when_not_matched_insert")

    def when_not_matched_by_source_update(self, set: Values, condition: Condition = None) -> Self:  # noqa: A002 - SQL's word
        """Change target rows that nothing of the source matches. Values and condition see the target alone."""
        if set is None:
            raise ValidationError(
                "merge: rows that the source does not match can only be set to given values: set={...}"
            )
        return self._add(self._by_source, Action.UPDATE, condition, set, "when_not_matched_by_source_update")

    def when_not_matched_by_source_delete(self, condition: Condition = None) -> Self:
        """Delete target rows that nothing of the source matches. The condition sees the target alone."""
        return self._add(self._by_source, Action.DELETE, condition, None, "when_not_matched_by_source_delete")

    def execute(self) -> MergeResult:
        """Run the merge and commit it as one snapshot; when it changes nothing, nothing is committed.

        Raises:
            ValidationError: There is no clause, a condition or value is refused or fails for a row, or several source rows match
                one target row.
            ResolveError: A name is no column.
            SchemaMismatchError: A value does not fit its column.
            ValidationException: A concurrent commit conflicts.
        """
        if not (self._matched or self._not_matched or self._by_source):
            raise ValidationError("merge has no clause: add when_matched_update(), when_not_matched_insert(), ...")
        join = MergeJoin(self._target, to_table(self._source), self._on, needs_all=bool(self._by_source))
        changes = join.changes(self._matched, self._not_matched, self._by_source)
        commit_merge(self._target, join, changes)
        return MergeResult(changes.updated, changes.deleted, changes.inserted)

    def _add(self, clauses: list[Clause], action: Action, condition: Condition, values: Values, name: str) -> Self:
        number = 1 + len(self._matched) + len(self._not_matched) + len(self._by_source)
        clauses.append(Clause(action, condition, values, f"merge, clause {number} ({name})"))
        return self
