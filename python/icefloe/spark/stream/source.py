"""``spark.readStream.format("icefloe")``: the rows that snapshots append, or their changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.types import StructType

from icefloe.exceptions import ValidationError
from icefloe.spark.reader.changes import ChangeTask
from icefloe.spark.reader.read_task import ReadTask
from icefloe.spark.stream.admission import ignores_limits, read_limit, support_available_now
from icefloe.spark.stream.appends import AppendedRows
from icefloe.spark.stream.changelog import ChangedRows
from icefloe.spark.stream.limits import Limits
from icefloe.spark.stream.offset import StreamOffset
from icefloe.spark.stream.table_view import TableView
from icefloe.spark.types.to_spark import to_arrow_schema
from icefloe.table.scan.change_rows import CHANGE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql.datasource import InputPartition

    from icefloe.spark.stream.options import SourceOptions
    from icefloe.table.snapshots import Snapshot


@support_available_now
class IcefloeStreamReader(DataSourceStreamReader):
    """The reader of a stream. One instance plans all micro-batches of a query; others read their tasks.

    Args:
        options: Checked options.
        struct: Schema of the stream, a Spark ``StructType``.
    """

    def __init__(self, options: SourceOptions, struct: Any) -> None:
        names = CHANGE_COLUMNS.names if options.changes else ()
        self._view = TableView(options, StructType([field for field in struct.fields if field.name not in names]))
        self._struct = struct
        self._rows = ChangedRows(self._view) if options.changes else AppendedRows(self._view)
        self._options = options
        self._first: StreamOffset | None = None
        self._is_first_batch = False
        self._newest_snapshot: int | None = None
        self._ends_at_newest = False

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802  Spark's name
        """Return the offset that a new query begins after. Spark calls this method for the first micro-batch alone."""
        self._is_first_batch = True
        return self._first_offset().to_json()

    def latestOffset(self, start: dict[str, Any] | None = None, limit: Any = None) -> dict[str, Any]:  # noqa: N802
        """Return the end of the next micro-batch.

        Args:
            start: End of the rows that were read; None before Spark 4.2.
            limit: Read limit of Spark; None before Spark 4.2.
        """
        if start is None and self._options.start == "latest":
            self._first_offset()  # Spark before 4.2 may ask for it later, and it must not be after this offset.
        self._view.refreshed()
        lineage = self._view.lineage()
        if start is None:
            return lineage.end.to_json()
        begin = self._offset(start)
        limits = Limits() if ignores_limits(limit) else self._options.limits
        return self._rows.advance(begin, self._recent(self._readable(lineage.after(begin))), limits).to_json()

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        """Return the read limit that Spark passes to ``latestOffset``, except where a trigger reads everything."""
        return read_limit(self._options.limits)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Fix the last snapshot that the query reads."""
        self._view.refreshed()
        head = self._view.lineage().head
        self._ends_at_newest = True
        self._newest_snapshot = None if head is None else head.snapshot_id

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Plan the micro-batch between two offsets and return its tasks."""
        if start == end:
            return []
        begin, last = self._offset(start), self._offset(end)
        self._view.refreshed()
        lineage = self._view.lineage()
        unread = lineage.after(begin)
        ids = [snapshot.snapshot_id for snapshot in unread]
        if last.snapshot_id not in ids and lineage.is_read(last, begin):
            if self._is_first_batch:
                return []  # Spark repeats this micro-batch after a crash, and a stream from the latest snapshot begins later now.
            raise ValidationError(_ends_before_its_start(lineage.name, begin, last))
        if last.snapshot_id not in ids:
            raise ValidationError(
                f"checkpoint: table {lineage.name} was rolled back; expected snapshot {last.snapshot_id} after snapshot "
                f"{begin.snapshot_id} in its history, got {ids[-1] if ids else 'no snapshot'} as the newest: roll the table forward, or "
                "start the query with a new checkpoint location"
            )
        batch = self._recent(unread[: ids.index(last.snapshot_id) + 1])
        return list(self._rows.tasks(begin, last, batch))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one task."""
        if not isinstance(partition, (ReadTask, ChangeTask)):
            raise ValidationError(
                f"partition: expected a ReadTask or ChangeTask of this reader, got a {type(partition).__name__}"
            )
        return partition.batches(to_arrow_schema(self._struct))

    def commit(self, end: dict[str, Any]) -> None:
        """Forget the plans of snapshots that have been read."""
        self._rows.forget(self._offset(end))

    def stop(self) -> None:
        """Do nothing: the process of a reader ends with its query."""

    def _first_offset(self) -> StreamOffset:
        if self._first is None:
            self._view.refreshed()
            self._first = self._view.lineage().first_offset(self._options)
        return self._first

    def _readable(self, unread: Sequence[Snapshot]) -> Sequence[Snapshot]:
        """Return the unread snapshots that the query may read; none if the table was rolled back behind the last of them."""
        if not self._ends_at_newest:
            return unread
        ids = [snapshot.snapshot_id for snapshot in unread]
        return unread[: ids.index(self._newest_snapshot) + 1] if self._newest_snapshot in ids else []

    def _recent(self, snapshots: Sequence[Snapshot]) -> Sequence[Snapshot]:
        """Return the snapshots that are not older than ``stream-from-timestamp``, which may be in the future."""
        oldest = self._options.start_timestamp
        return [one for one in snapshots if oldest is None or one.timestamp_ms >= oldest]

    def _offset(self, value: dict[str, Any]) -> StreamOffset:
        return StreamOffset.from_json(value, changes=self._options.changes)


def _ends_before_its_start(name: str, begin: StreamOffset, last: StreamOffset) -> str:
    """Return the message for a micro-batch of Spark before 4.2, which records the end of a micro-batch before it is checked.

    An empty micro-batch in its place would end there, and the next micro-batch would read the rows after it a second time.
    """
    return (
        f"checkpoint: its last micro-batch was planned while table {name} was rolled back; expected an end after snapshot "
        f"{begin.snapshot_id}, got its ancestor {last.snapshot_id}: start the query with a new checkpoint location and "
        f"start-snapshot-id={begin.snapshot_id}, which reads the snapshots after it"
    )
