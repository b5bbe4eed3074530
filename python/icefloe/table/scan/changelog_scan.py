"""Scans of the rows that snapshots changed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue, And, BooleanExpression
from icefloe.expressions.filter import Filter, to_expression
from icefloe.expressions.predicates import column_names
from icefloe.table.read_context import schema_json
from icefloe.table.scan.change_rows import CHANGE_COLUMNS, ChangeGroup, ChangeRows
from icefloe.table.scan.changelog_explain import ChangelogExplanation, explained_changes
from icefloe.table.scan.changelog_plan import appended, difference
from icefloe.table.scan.incremental import IncrementalScan
from icefloe.table.scan.metadata_columns import DELETED, check_names
from icefloe.table.scan.origin import read_from
from icefloe.table.scan.plan import PASSING_BYTES
from icefloe.table.scan.results import count_planned
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.scan.changelog_plan import ChangelogScanTask, SnapshotChanges
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.scan.results import RowStream
    from icefloe.table.snapshots import Snapshot


@dataclass(frozen=True)
class IncrementalChangelogScan(IncrementalScan):
    """The rows that each snapshot of a range inserted and deleted, oldest snapshot first, deletions before insertions.

    Beside the wanted columns there are `_change_type` (`INSERT`, `DELETE`, and with updates `UPDATE_BEFORE`, `UPDATE_AFTER`),
    `_change_ordinal` (number of the snapshot in the range, from 0) and `_commit_snapshot_id`. Rows that a snapshot moved to another
    file, as copy-on-write and compaction do, are no changes; rows are compared by all columns, whichever are wanted. Rows that
    delete files delete are told by the snapshot that deleted them.

    A filter is about the rows that are told: of an update that makes a row satisfy it, `UPDATE_AFTER` is told alone.

    All is streamed. Changed files of partitions in which a snapshot both deleted and inserted are read twice, and 24 bytes for each of
    their rows are kept meanwhile, with updates 40: in memory up to 64 MiB, then in a temporary file.

    Attributes:
        compute_updates: Whether a deletion and an insertion of the same row in one snapshot are an update.
        identifier_columns: What tells which row that is; the schema's identifier fields if None.
        net_changes: Whether changes of different snapshots that undo each other are left out too: all changed files are read twice.
            What is left is told as the Java reference tells it: by the snapshot that wrote the row last, copy-on-write included; of several
            equal rows by the first that did.
    """

    compute_updates: bool = False
    identifier_columns: tuple[str, ...] | None = None
    net_changes: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.identifier_columns, str):
            raise ValidationError(
                f"identifier_columns must be several names, as ('id',), got {self.identifier_columns!r}"
            )
        own = {field.name for field in self.schema().fields}
        selected = tuple(name for name in self.selected_fields if name in own or name not in CHANGE_COLUMNS.names)
        if self.selected_fields and not selected:
            raise ValidationError(
                f"{', '.join(self.selected_fields)}: always there; select columns of the table beside them"
            )
        object.__setattr__(self, "selected_fields", selected)

    def changes(self) -> Iterator[SnapshotChanges]:
        """Yield what each snapshot changed, planned one by one. `replace` snapshots change no rows."""
        planned: tuple[Snapshot | None, ScanPlan] | None = None
        ordinal = 0
        for snapshot in self.snapshots():
            if snapshot.operation == Operation.REPLACE:
                continue
            if snapshot.operation == Operation.APPEND:
                yield appended(ordinal, snapshot, self._plan_snapshot(snapshot, added_only=True))
            else:
                parent = self._parent(snapshot)
                before = planned[1] if planned is not None and planned[0] == parent else self._plan_snapshot(parent)
                after = self._plan_snapshot(snapshot)
                planned = (snapshot, after)
                yield difference(ordinal, snapshot, before, after)
            ordinal += 1

    def plan_files(self) -> Iterator[ChangelogScanTask]:
        """Yield the tasks of all changes, one per changed data file and kind of change.

        Example:
            >>> [(task.change_type, task.task.record_count) for task in table.incremental_changelog_scan().plan_files()]
            [('INSERT', 3)]
        """
        for changes in self.changes():
            yield from changes.tasks()

    def plan_tasks(self) -> list[ChangeGroup]:
        """Return the changes in groups that can be read apart, which pickle, for readers elsewhere.

        With `net_changes` there is one group. Otherwise there is one for each snapshot, or where it both deletes and inserts and no
        updates are told, for each of its partitions.
        """
        rows = self._rows()
        if self.net_changes:
            changes = tuple(one for one in self.changes() if one.sides())
            return [ChangeGroup(rows, changes, net=True)] if changes else []
        parts = (part for one in self.changes() for part in ([one] if rows.identifiers else one.by_partition()))
        return [ChangeGroup(rows, (part,), net=False) for part in parts if part.sides()]

    def count(self) -> int:
        """Return how many changes there are. Snapshots that only append or only delete whole files are counted from metadata.

        Example:
            >>> table.incremental_changelog_scan().count()
            3
        """
        if self.limit is not None:
            return sum(batch.num_rows for batch in self._batches())
        rows = self._rows()
        if self.net_changes:
            return rows.count(list(self.changes()))
        total = 0
        for changes in self.changes():
            for part in [changes] if rows.identifiers else changes.by_pairing():
                paired = rows.pairs(part)
                total += rows.count([part]) if paired else sum(count_planned(plan, None) for _, plan in part.sides())
        return total

    def explain(self) -> ChangelogExplanation:
        """Return what the scan will read: snapshots of the range, files for inserted and deleted rows, delete files, bytes.

        Example:
            >>> table.incremental_changelog_scan().explain().bytes_to_read > 0
            True
        """
        snapshot_ids = tuple(snapshot.snapshot_id for snapshot in self.snapshots())
        columns = tuple(one["name"] for one in json.loads(self.changes_json())["fields"])
        return explained_changes(self.changes(), self.table_name, snapshot_ids, str(self.row_filter), columns)

    def changes_json(self) -> str:
        """Return the schema of the rows as JSON, with the columns that tell the change."""
        rows = json.loads(self.projection_json())
        rows["fields"] += [
            {"id": 2147483543, "name": "_change_type", "required": True, "type": "string"},
            {"id": 2147483542, "name": "_change_ordinal", "required": True, "type": "int"},
            {"id": 2147483541, "name": "_commit_snapshot_id", "required": True, "type": "long"},
        ]
        return json.dumps(rows)

    def _parent(self, snapshot: Snapshot) -> Snapshot | None:
        parent_id = snapshot.parent_snapshot_id
        if parent_id is None:
            return None
        parent = self.table_metadata.snapshot_by_id(parent_id)
        if parent is None:
            raise ValidationError(
                f"what snapshot {snapshot.snapshot_id} changed is not known any more: its parent {parent_id} has been expired; "
                f"begin after snapshot {snapshot.snapshot_id} or later"
            )
        return parent

    def _rows(self) -> ChangeRows:
        check_names(self._names(), self.schema(), CHANGE_COLUMNS.names)
        if DELETED in self.selected_fields:
            raise ValidationError(f"{DELETED}: in a changelog _change_type tells which rows were deleted")
        whole = schema_json(self.schema())
        projection = whole if "*" in self.selected_fields and len(self.selected_fields) == 1 else self.projection_json()
        identifiers = self._identifiers()
        later = (self.resolved_filter().json, self.case_sensitive) if self._asked()[1] else None
        return ChangeRows(whole, projection, identifiers, self._batch_size(), later)

    def _read_filter(self) -> Filter:
        """Return the filter that rows are read by."""
        return replace(self.resolved_filter(), expression=self._asked()[0])

    def _asked(self) -> tuple[BooleanExpression, bool]:
        """Return the part of the filter that both halves of an update satisfy or neither, and whether there is more of it.

        Where no updates are told it is all of it.
        """
        asked = to_expression(self.row_filter, allow_empty=False)
        identifiers = self._identifiers()
        if not identifiers:
            return asked, False
        schema = self.schema()
        known = {schema.find_field(".".join(path)).field_id for path in identifiers}
        early: BooleanExpression = AlwaysTrue()
        more = False
        for part in _conjuncts(asked):
            fields = {schema.find_field(name, self.case_sensitive).field_id for name in column_names(part)}
            early, more = (And(early, part), more) if fields <= known else (early, True)
        return early, more

    def _names(self) -> list[str]:
        return [field.name for field in self.projection().fields]

    def _identifiers(self) -> tuple[tuple[str, ...], ...]:
        if not self.compute_updates and self.identifier_columns is None:
            return ()
        schema = self.schema()
        if self.identifier_columns is None:
            names = [schema.find_column_name(one) or "" for one in schema.identifier_field_ids]
        else:
            fields = [schema.find_field(one, self.case_sensitive) for one in self.identifier_columns]
            names = [schema.find_column_name(field.field_id) or "" for field in fields]
        if not names:
            raise ValidationError(
                "compute_updates: the schema has no identifier fields; name the columns that identify a row with identifier_columns"
            )
        return tuple(tuple(name.split(".")) for name in names)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        rows = self._rows()
        if self.net_changes:
            found = rows.net(list(self.changes()))
        else:
            found = (batch for changes in self.changes() for batch in rows.of_snapshot(changes))
        return found if self.limit is None else _limited(found, self.limit)

    def _opened(self, *, string_views: bool = False, batch_bytes: int = PASSING_BYTES) -> tuple[RowStream, int | None]:
        del string_views  # Rows are compared and filtered on the way, which views cannot be everywhere.
        return ChangeStream(self), None


class ChangeStream:
    """A changelog as an Arrow stream, read anew by every consumer."""

    def __init__(self, scan: IncrementalChangelogScan) -> None:
        self._scan = scan
        projected = scan._plan_snapshot(None).stream(extension_types=True).schema  # noqa: SLF001  a part of the scan
        self.schema = pa.schema([*projected, *CHANGE_COLUMNS])

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._scan._batches()  # noqa: SLF001

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        origin = self._scan._origin()  # noqa: SLF001
        reader = pa.RecordBatchReader.from_batches(self.schema, read_from(origin, iter(self)))
        return reader.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()


def _conjuncts(expression: BooleanExpression) -> Iterator[BooleanExpression]:
    if isinstance(expression, And):
        yield from _conjuncts(expression.left)
        yield from _conjuncts(expression.right)
    else:
        yield expression


def _limited(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.RecordBatch]:
    left = limit
    while left > 0 and (batch := next(islice(batches, 1), None)) is not None:
        yield batch.slice(0, left)
        left -= min(left, batch.num_rows)
