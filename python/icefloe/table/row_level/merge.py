"""MERGE: one join of a source with the table, any number of clauses, one snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.arguments import checked_integer
from icefloe.table.row_level.change_files import commit_changes
from icefloe.table.row_level.clauses import Action, Clauses, Match
from icefloe.table.row_level.join_condition import JoinCondition
from icefloe.table.row_level.memory_limit import MEMORY_LIMIT
from icefloe.table.row_level.merge_join import MergeJoin
from icefloe.table.row_level.row_commit import RowLevelOperation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    import pyarrow.compute as pc
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.table.row_level.clause_expressions import RowFunction
    from icefloe.table.row_level.join_condition import On
    from icefloe.table.row_level.target import Target

    Condition: TypeAlias = str | BooleanExpression | pc.Expression | RowFunction | None
    Values: TypeAlias = Mapping[str, Any] | None

OPERATION = "merge"


@dataclass(frozen=True)
class MergeResult:
    """The rows that a merge, an update or a delete changed.

    Attributes:
        rows_updated: Number of target rows that were replaced.
        rows_deleted: Number of target rows that were deleted.
        rows_inserted: Number of rows that were added.
    """

    rows_updated: int
    rows_deleted: int
    rows_inserted: int


class Merge:
    """A merge under construction: add clauses, then call `execute()`.

    Rows of the source and of the table match where the condition `on` is true; null equals nothing. For each row, the first clause
    of its kind applies whose condition is true. A string is Spark SQL over `source.<column>` and `target.<column>`, both as a
    condition (`"source.op = 'D'"`) and as a value (`"source.n + 1"`); a literal text is quoted in it (`"'de'"`). Conditions
    may be icefloe or pyarrow expressions instead, values pyarrow expressions or Python objects, which are literals.
    `docs/merge.md` has the rule and the grammar.

    Examples:
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

    def __init__(
        self,
        target: Target,
        source: object,
        on: On,
        *,
        memory_limit: int = MEMORY_LIMIT,
        unique: str | None = None,
    ) -> None:
        self._on = JoinCondition.of(on)
        self._target = target
        self._source = source
        self._memory_limit = checked_integer("memory_limit", memory_limit, least=0)
        self._unique = unique
        self._clauses = Clauses()

    def when_matched_update(self, set: Values = None, condition: Condition = None) -> Self:  # noqa: A002 - SQL's word
        """Update target rows that match a source row.

        Args:
            set: Column name to value (SQL text, pyarrow expression or literal); other columns keep their values. A dotted name such
                as `place.city` sets a field within a struct; a struct that is null becomes one whose other fields are null. None sets
                every column to the source's column of the same name.
            condition: Condition (SQL text, icefloe or pyarrow expression) over both sides; None for every matched row. Null
                counts as false.

        Raises:
            ValidationError: `set` is empty.
        """
        return self._add(Match.MATCHED, Action.UPDATE, condition, set)

    def when_matched_update_all(self, condition: Condition = None) -> Self:
        """Replace target rows that match a source row by it, in every column."""
        return self.when_matched_update(None, condition)

    def when_matched_delete(self, condition: Condition = None) -> Self:
        """Delete target rows that match a source row; `condition` as in `when_matched_update`."""
        return self._add(Match.MATCHED, Action.DELETE, condition, None)

    def when_not_matched_insert(self, values: Values = None, condition: Condition = None) -> Self:
        """Insert source rows that match no target row.

        Args:
            values: Column name to value; other columns become null. None takes every column from the source's column of the same
                name. Fields within structs have no values of their own: their column has.
            condition: Condition over the source alone; None for every row. Null counts as false.

        Raises:
            ValidationError: `values` is empty.
        """
        return self._add(Match.NOT_MATCHED, Action.INSERT, condition, values)

    def when_not_matched_insert_all(self, condition: Condition = None) -> Self:
        """Insert source rows that match no target row, with all columns."""
        return self.when_not_matched_insert(None, condition)

    def when_not_matched_by_source_update(self, set: Values, condition: Condition = None) -> Self:  # noqa: A002 - SQL's word
        """Update target rows that match no source row; values and condition read the target alone.

        Raises:
            ValidationError: `set` is empty or None.
        """
        return self._add(Match.NOT_MATCHED_BY_SOURCE, Action.UPDATE, condition, set)

    def when_not_matched_by_source_delete(self, condition: Condition = None) -> Self:
        """Delete target rows that match no source row; the condition reads the target alone."""
        return self._add(Match.NOT_MATCHED_BY_SOURCE, Action.DELETE, condition, None)

    def execute(self) -> MergeResult:
        """Run the merge and commit it in one snapshot; a merge that changes no row makes no snapshot.

        Raises:
            ValidationError: There is no clause, a condition or value is refused or fails for a row, or several source rows change
                one target row.
            ResolveError: A name is no column.
            SchemaMismatchError: A value does not fit its column or field.
            FeatureUnsupportedError: An insert sets a field within a struct.
            ValidationException: A concurrent commit conflicts.
        """
        self._clauses.require_any()
        with self._target:
            return self._run()

    def _run(self) -> MergeResult:
        needs_all = bool(self._clauses.of(Match.NOT_MATCHED_BY_SOURCE))
        limit = self._memory_limit
        join = MergeJoin(self._target, self._source, self._on, needs_all=needs_all, memory_limit=limit)
        if self._unique is not None:
            join.require_unique(self._unique)
        changes = join.changes(self._clauses)
        operation = RowLevelOperation(target=self._target, name=OPERATION, row_filter=join.row_filter)
        commit_changes(operation, join.plan, changes)
        return MergeResult(changes.updated, changes.deleted, changes.inserted)

    def _add(self, match: Match, action: Action, condition: Condition, values: Values) -> Self:
        self._clauses = self._clauses.added(match, action, condition, values)
        return self
