"""Merges of micro-batches for ``foreachBatch``, each executed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.arguments import check_callable
from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationError
from icefloe.spark.arguments import checked_summary, checked_table
from icefloe.spark.dml.merge import MergeBuilder, merge_into
from icefloe.spark.stream.epoch import QUERY_ID_PROPERTY, Epoch, EpochCommittedError, epoch_branch
from icefloe.spark.writer.wap import AuditSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from icefloe.table import Table


def merge_batches(  # noqa: PLR0913  all but the first two have defaults
    table: Table,
    on: Sequence[str] | Mapping[str, str],
    clauses: Callable[[MergeBuilder], MergeBuilder] | None = None,
    *,
    branch: str | None = None,
    query_id: str | None = None,
    snapshot_properties: Mapping[str, str] | None = None,
) -> MergeBatches:
    """Return a function for ``foreachBatch`` that merges each micro-batch into a table once.

    The summary of each snapshot records the query and the number of the micro-batch. A micro-batch that Spark repeats after a crash
    is left out if the branch has it.

    Args:
        table: Target.
        on: Key columns, as for :func:`icefloe.spark.merge_into`. A micro-batch must have a key once: deduplicate the stream's rows first.
        clauses: Function that adds clauses to the merge; None updates all columns of matched rows and inserts the others.
        branch: Branch to read and commit to; if None, the session's ``spark.wap.branch`` where the table has ``write.wap.enabled``, else
            main.
        query_id: Stable id of the query. None takes the id that Spark keeps in the checkpoint, which Spark Connect does not pass on.
            Several merges of one micro-batch into the same table need different ids.
        snapshot_properties: Additional keys of each snapshot's summary.

    Raises:
        ValidationError: There are no key columns.

    Examples:
        >>> merge = icefloe.spark.stream.merge_batches(table, ["id"], query_id="names")
        >>> merge(spark.createDataFrame([(1, "A"), (4, "d")], "id long, name string"), 0)
        >>> merge(spark.createDataFrame([(1, "Z")], "id long, name string"), 0)  # repeated: left out
        >>> [row["name"] for row in icefloe.spark.read(table).orderBy("id").collect()]
        ['A', 'b', 'c', 'd']
    """
    checked_table("merge_batches", table)
    if clauses is not None:
        check_callable("clauses", clauses, "a function of a merge that returns it, or None")
    if not on or isinstance(on, str):
        raise ValidationError(f"merge: no key columns; expected on=['id', ...] or on={{'id': 'source_id'}}, got {on!r}")
    return MergeBatches(table, on, clauses, branch, query_id, dict(checked_summary(snapshot_properties)))


class MergeBatches:
    """A function of a micro-batch and its number; :func:`merge_batches` returns it. It pickles, for Spark Connect."""

    def __init__(  # noqa: PLR0913  merge_batches has the defaults
        self,
        table: Table,
        on: Sequence[str] | Mapping[str, str],
        clauses: Callable[[MergeBuilder], MergeBuilder] | None,
        branch: str | None,
        query_id: str | None,
        snapshot_properties: Mapping[str, str],
    ) -> None:
        self._table = table
        self._on = on
        self._clauses = clauses
        self._branch = branch
        self._query_id = query_id
        self._snapshot_properties = snapshot_properties

    def __call__(self, rows: DataFrame, batch_id: int) -> None:
        """Merge a micro-batch.

        Args:
            rows: Rows of the micro-batch.
            batch_id: Number of the micro-batch.

        Raises:
            ValidationError: The query's id is unknown, several rows of the micro-batch change one target row, or the session stages
                its snapshots of the table.
            ValidationException: A concurrent commit conflicts.
        """
        query_id = self._query_id or _query_id(rows)
        table = self._table.refresh()
        epoch = Epoch(query_id, batch_id, epoch_branch(AuditSettings.of(rows.sparkSession), table, self._branch))
        if epoch.is_committed(table.metadata):
            return
        summary = {**self._snapshot_properties, **epoch.summary()}
        merge = merge_into(self._table, rows, self._on, branch=self._branch, snapshot_properties=summary)
        if self._clauses is None:
            merge = merge.when_matched_update_all().when_not_matched_insert_all()
        else:
            merge = _returned(self._clauses(merge))
        try:
            merge.checked_by(epoch).execute()
        except EpochCommittedError:
            return

    def __getstate__(self) -> dict[str, Any]:
        catalog = self._table.catalog
        properties = dict(getattr(catalog, "properties", {}))
        uuid = self._table.metadata.table_uuid
        return {**self.__dict__, "_table": (catalog.name, properties, self._table.name(), uuid)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        name, properties, identifier, uuid = state["_table"]
        table = load_catalog(name, **properties).load_table(identifier)
        if table.metadata.table_uuid != uuid:
            raise ValidationError(
                f"merge_batches: table {'.'.join(identifier)} was dropped and created again; expected uuid {uuid}, got "
                f"{table.metadata.table_uuid}: load the table and start the query with a new checkpoint location"
            )
        self.__dict__ = {**state, "_table": table}


def _returned(merge: Any) -> MergeBuilder:
    """Return the result of `clauses`, which is the merge."""
    if not isinstance(merge, MergeBuilder):
        raise ValidationError(
            f"merge_batches, clauses: expected a function that returns the merge, got {merge!r} from it"
        )
    return merge


def _query_id(rows: DataFrame) -> str:
    """Return the id of the query that runs ``foreachBatch`` in this thread.

    Raises:
        ValidationError: There is no such query, or the session is one of Spark Connect.
    """
    context = getattr(rows.sparkSession, "_jsc", None)
    found: str | None = None if context is None else context.getLocalProperty(QUERY_ID_PROPERTY)
    if found is None:
        raise ValidationError(
            "merge_batches: the id of the query is unknown; expected a call by foreachBatch of a classic session, got another: pass "
            "query_id='...', the same at every start of the query"
        )
    return found
