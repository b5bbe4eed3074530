"""Scans of the rows that snapshots changed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from icefloe.arguments import checked_flag, checked_names
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue, And, BooleanExpression
from icefloe.expressions.predicates import column_names
from icefloe.table.read_context import schema_json
from icefloe.table.scan.change_rows import CHANGE_COLUMNS, ChangeGroup, ChangelogPlan, ChangeRows
from icefloe.table.scan.changelog_explain import ChangelogExplanation, explained_changes
from icefloe.table.scan.changelog_plan import appended, difference
from icefloe.table.scan.incremental_scan import IncrementalScan
from icefloe.table.scan.metadata_columns import DELETED, check_names
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.expressions.filter import Filter
    from icefloe.schema import Schema
    from icefloe.table.scan.changelog_plan import ChangelogScanTask, SnapshotChanges
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.snapshots import Snapshot

_CHANGE_FIELDS = (
    {"id": 2147483543, "name": "_change_type", "required": True, "type": "string"},
    {"id": 2147483542, "name": "_change_ordinal", "required": True, "type": "int"},
    {"id": 2147483541, "name": "_commit_snapshot_id", "required": True, "type": "long"},
)


@dataclass(frozen=True)
class IncrementalChangelogScan(IncrementalScan):
    """A scan of the rows that each snapshot of a range inserted and deleted, oldest snapshot first, deletions before insertions.

    Rows have the selected columns and after them `_change_type` (`INSERT` or `DELETE`, with updates also `UPDATE_BEFORE` and
    `UPDATE_AFTER`), `_change_ordinal` (number of the snapshot in the range, from 0) and `_commit_snapshot_id`. Rows that a
    snapshot only moved to another file, as copy-on-write and compaction do, are no changes: rows are compared by all columns of
    the table, whichever are selected. Rows that a delete file removes are changes of the snapshot that added the delete file.

    The filter applies to the emitted change rows: if an update makes a row match, only its `UPDATE_AFTER` is emitted.

    Results are streamed. Data files of partitions in which a snapshot both deleted and inserted rows are read twice, to find rows that
    a rewrite only moved. Each of their rows takes 24 bytes until then, with updates 40 bytes: in memory up to 64 MiB, then in a
    temporary file.

    Attributes:
        compute_updates: Report a delete and an insert of the same key in one snapshot as an update.
        identifier_columns: Key columns of updates; the schema's identifier fields if None.
        net_changes: Omit changes of different snapshots that cancel each other. All changed files are read twice. The remaining
            changes are reported as the Java reference reports them: a row with the snapshot that wrote it last, copy-on-write
            included, and of several equal rows with the first such snapshot.
    """

    compute_updates: bool = False
    identifier_columns: tuple[str, ...] | None = None
    net_changes: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_flag("compute_updates", self.compute_updates)
        checked_flag("net_changes", self.net_changes)
        if self.identifier_columns is not None:
            names = checked_names("identifier_columns", self.identifier_columns)
            object.__setattr__(self, "identifier_columns", names)
        own = {field.name for field in self.schema().fields}
        selected = tuple(name for name in self.selected_fields if name in own or name not in CHANGE_COLUMNS.names)
        if self.selected_fields and not selected:
            raise ValidationError(
                f"selected_fields: expected columns of the table, got {', '.join(self.selected_fields)}, "
                "which a changelog always has"
            )
        object.__setattr__(self, "selected_fields", selected)

    # ---- plans

    def changes(self) -> Iterator[SnapshotChanges]:
        """Yield the changes of each snapshot, planned one by one. `replace` snapshots change no rows."""
        selection, read_filter = self._selection(), self._read_filter()

        def planned(snapshot: Snapshot | None, *, added_only: bool = False) -> ScanPlan:
            return selection.plan(snapshot, read_filter=read_filter, added_only=added_only)

        previous: tuple[Snapshot | None, ScanPlan] | None = None
        changing = (one for one in self.snapshots() if one.operation != Operation.REPLACE)
        for ordinal, snapshot in enumerate(changing):
            if snapshot.operation == Operation.APPEND:
                yield appended(ordinal, snapshot, planned(snapshot, added_only=True))
                continue
            parent = self._parent(snapshot)
            before = previous[1] if previous is not None and previous[0] == parent else planned(parent)
            after = planned(snapshot)
            previous = (snapshot, after)
            yield difference(ordinal, snapshot, before, after)

    def plan_files(self) -> Iterator[ChangelogScanTask]:
        """Yield one task per changed data file and kind of change.

        Examples:
            >>> [(task.change_type, task.task.record_count) for task in table.incremental_changelog_scan().plan_files()]
            [('INSERT', 3)]
        """
        for changes in self.changes():
            yield from changes.tasks()

    def plan_tasks(self) -> list[ChangeGroup]:
        """Return groups of changes that are read independently. Groups pickle, for readers elsewhere.

        With `net_changes` there is one group. Otherwise there is one group for each snapshot, or, for a snapshot that both
        deletes and inserts and without updates, one for each of its partitions.
        """
        rows = self.change_rows()
        if self.net_changes:
            changes = tuple(one for one in self.changes() if one.sides())
            return [ChangeGroup(rows, changes, net=True)] if changes else []
        parts = (part for one in self.changes() for part in ([one] if rows.identifiers else one.by_partition()))
        return [ChangeGroup(rows, (part,), net=False) for part in parts if part.sides()]

    def change_rows(self) -> ChangeRows:
        """Return the rules that turn changed files into the selected rows."""
        names = [field.name for field in self.projection().fields]
        check_names(names, self.schema(), CHANGE_COLUMNS.names)
        if DELETED in self.selected_fields:
            raise ValidationError(f"{DELETED}: not a column of a changelog, whose _change_type marks deleted rows")
        whole = schema_json(self.schema())
        projection = whole if "*" in self.selected_fields and len(self.selected_fields) == 1 else self.projection_json()
        _, has_rest = self._split_filter()
        row_filter = (self.resolved_filter().json, self.case_sensitive) if has_rest else None
        return ChangeRows(whole, projection, self._identifiers(), self._options().batch_size(), row_filter)

    def explain(self) -> ChangelogExplanation:
        """Return what the scan will read: snapshots of the range, files for inserted and deleted rows, delete files, bytes.

        Examples:
            >>> table.incremental_changelog_scan().explain().bytes_to_read > 0
            True
        """
        snapshot_ids = tuple(snapshot.snapshot_id for snapshot in self.snapshots())
        columns = (*self._selection().column_names(), *CHANGE_COLUMNS.names)
        return explained_changes(self.changes(), self.table_name, snapshot_ids, str(self.row_filter), columns)

    def changes_json(self) -> str:
        """Return the schema of the rows as JSON, the columns that describe the change last."""
        rows = json.loads(self.projection_json())
        rows["fields"] += _CHANGE_FIELDS
        return json.dumps(rows)

    # ---- rows

    def count(self) -> int:
        """Return the number of changes. Snapshots that only append, or only delete whole files, are counted from metadata.

        Examples:
            >>> table.incremental_changelog_scan().count()
            3
        """
        if self.limit is not None:
            return sum(batch.num_rows for batch in self._row_source().batches())
        rows = self.change_rows()
        if self.net_changes:
            return rows.count(list(self.changes()))
        total = 0
        for changes in self.changes():
            for part in [changes] if rows.identifiers else changes.by_pairing():
                paired = rows.pairs(part)
                total += rows.count([part]) if paired else sum(plan.count_rows() for _, plan in part.sides())
        return total

    # ---- parts

    def _row_source(self) -> ChangelogPlan:
        empty = self._selection().plan(None, read_filter=self._read_filter())
        return ChangelogPlan(self.changes, empty, self.change_rows(), net=self.net_changes, limit=self.limit)

    def _parent(self, snapshot: Snapshot) -> Snapshot | None:
        parent_id = snapshot.parent_snapshot_id
        if parent_id is None:
            return None
        parent = self.table_metadata.snapshot_by_id(parent_id)
        if parent is None:
            raise ValidationError(
                f"changes of snapshot {snapshot.snapshot_id}: its parent {parent_id} has been expired; begin after "
                f"snapshot {snapshot.snapshot_id} or later"
            )
        return parent

    def _read_filter(self) -> Filter:
        """Return the filter that rows are planned and read by."""
        return replace(self.resolved_filter(), expression=self._split_filter()[0])

    def _split_filter(self) -> tuple[BooleanExpression, bool]:
        """Return the part of the filter that depends on key columns alone, and whether the filter has other parts.

        Both halves of an update match that part or neither does. Without updates that part is the whole filter.
        """
        row_filter = self.resolved_filter().expression
        identifiers = self._identifiers()
        if not identifiers:
            return row_filter, False
        schema = self.schema()
        keys = {schema.find_field(".".join(path)).field_id for path in identifiers}
        on_keys: BooleanExpression = AlwaysTrue()
        has_rest = False
        for part in _conjuncts(row_filter):
            fields = {schema.find_field(name, self.case_sensitive).field_id for name in column_names(part)}
            on_keys, has_rest = (And(on_keys, part), has_rest) if fields <= keys else (on_keys, True)
        return on_keys, has_rest

    def _identifiers(self) -> tuple[tuple[str, ...], ...]:
        if not self.compute_updates and self.identifier_columns is None:
            return ()
        schema = self.schema()
        if self.identifier_columns is None:
            ids = schema.identifier_field_ids
        else:
            ids = [schema.find_field(one, self.case_sensitive).field_id for one in self.identifier_columns]
        if not ids:
            raise ValidationError(
                "compute_updates: expected key columns, and the schema has no identifier fields; pass identifier_columns"
            )
        return tuple(_path_of(schema, one) for one in ids)


def _path_of(schema: Schema, field_id: int) -> tuple[str, ...]:
    """Return the name of a field after those of the structs around it; a name may have dots."""
    field = schema.find_field(field_id)
    parent = schema.parent_ids.get(field.field_id)
    return (field.name,) if parent is None else (*_path_of(schema, parent), field.name)


def _conjuncts(expression: BooleanExpression) -> Iterator[BooleanExpression]:
    if isinstance(expression, And):
        yield from _conjuncts(expression.left)
        yield from _conjuncts(expression.right)
    else:
        yield expression
