"""Rewriting position delete files: one for each data file, without positions of removed data files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.expressions import AlwaysTrue
from icefloe.table.environment import SYSTEM
from icefloe.table.inspect import InspectTable
from icefloe.table.maintenance.branch_plan import branch_head, whole_files
from icefloe.table.maintenance.deletes.delete_files_change import DeleteFilesChange
from icefloe.table.maintenance.deletes.delete_files_plan import live_delete_files
from icefloe.table.maintenance.deletes.position_delete_groups import chosen_files
from icefloe.table.maintenance.deletes.position_delete_plan import (
    RewritePositionDeletesPlan,
    RewritePositionDeletesResult,
)
from icefloe.table.maintenance.deletes.position_delete_run import PositionDeleteRun
from icefloe.table.maintenance.groups.options import OF_DATA_FILES, RewriteOptions
from icefloe.table.properties.definitions import DELETE_GRANULARITY, DELETE_TARGET_FILE_SIZE

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression

_VERB = "rewrite_position_deletes"
_POSITIONS = 1


class RewritePositionDeletes(DeleteFilesChange[RewritePositionDeletesPlan, RewritePositionDeletesResult]):
    """Rewrites position delete files.

    With `write.delete.granularity` `file`, each data file gets one delete file: a delete file of several data files is split, delete
    files of one data file are merged. With `partition`, small files of a partition are merged. Positions of data files that are
    not part of the branch any more are dropped. With partial progress, which is on for more than 10 partitions, partitions are
    committed in several commits.

    Examples:
        >>> table.maintenance.rewrite_position_deletes().plan().is_empty
        True
    """

    _plan_kind = RewritePositionDeletesPlan

    def __init__(self, table: Any) -> None:
        super().__init__(table)
        self._options = RewriteOptions()
        self._row_filter: str | BooleanExpression = AlwaysTrue()

    def filter(self, row_filter: str | BooleanExpression) -> Self:
        """Rewrite only delete files of partitions that may have rows of a filter on the table's columns."""
        self._row_filter = row_filter
        return self

    def options(self, **options: Any) -> Self:
        """Set options, by the names of the Java reference with underscores; see `RewriteOptions`. Options that are about data files are refused.

        Raises:
            ValidationError: An option does not exist or its value is not valid.
        """
        self._options = RewriteOptions.of(_VERB, options, OF_DATA_FILES)
        return self

    def plan(self) -> RewritePositionDeletesPlan:
        """Return the position delete files to rewrite; nothing is changed.

        Raises:
            ValidationError: The branch does not exist, sizes contradict each other, or the filter does not fit the table.
        """
        metadata = self._table.metadata
        head = branch_head(metadata, self._branch, _VERB)
        sizes = self._options.sizes(_VERB, metadata.properties, DELETE_TARGET_FILE_SIZE)
        files = live_delete_files(self._table, head)
        files = files.filter(pc.equal(files.column("content"), _POSITIONS))
        if head is not None and not isinstance(self._row_filter, AlwaysTrue):
            # Statistics of a delete file do not describe the deleted rows: its partition alone decides.
            chosen = InspectTable(self._table).delete_files(head.snapshot_id, row_filter=self._row_filter)
            files = files.filter(pc.is_in(files.column("file_path"), value_set=chosen.column("file_path")))
        live = pa.array([], pa.string())
        if files.num_rows > 0 and head is not None:
            live = whole_files(self._table, metadata, head.snapshot_id).files.column("file_path")
        by_file = DELETE_GRANULARITY.of(metadata.properties) == "file"
        return RewritePositionDeletesPlan(
            **self._target(head),
            plan_id=getattr(self._table.catalog, "environment", SYSTEM).new_uuid(),
            files=chosen_files(files, live, sizes, self._options, by_file=by_file),
            options=self._options,
        )

    def _carry_out(self, plan: RewritePositionDeletesPlan) -> RewritePositionDeletesResult:
        return PositionDeleteRun(self._table, plan).execute()
