"""Distinct counts of columns as theta sketches in the statistics file of a snapshot. Spec: Table Statistics, Puffin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from icefloe import _core
from icefloe.arguments import checked_names, checked_snapshot_id
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.display import count_text
from icefloe.table.maintenance.plan import Result
from icefloe.table.maintenance.statistics.blobs import (
    Blob,
    counted_columns,
    distinct_count,
    encoded,
    other_blobs,
    statistics_of,
    theta_blob,
)
from icefloe.table.maintenance.statistics.commit import (
    StatisticsPlan,
    commit_statistics,
    current_plan,
    new_file,
    planned_snapshot,
    write_file,
)
from icefloe.table.scan import DataScan
from icefloe.table.statistics import StatisticsFile
from icefloe.types import PrimitiveType, StructType, UnknownType

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.schema import Schema
    from icefloe.table.commit.committing_table import CommittingTable
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.snapshots import Snapshot

VERB = "compute_statistics"


@dataclass(frozen=True)
class ComputeStatisticsPlan(StatisticsPlan):
    """The columns of a snapshot whose distinct values are to be counted.

    Attributes:
        table_uuid: The table.
        snapshot_id: The snapshot, None for a table without snapshots.
        columns: Field id and name of each column.
        data_files: Number of data files to read.
        data_bytes: Their bytes.
        replaced: The snapshot's statistics file, whose other blobs are kept; None if it has none.
    """

    verb: ClassVar[str] = VERB

    table_uuid: str
    snapshot_id: int | None
    columns: tuple[tuple[int, str], ...]
    data_files: int
    data_bytes: int
    replaced: str | None

    @property
    def is_empty(self) -> bool:
        """Whether every column has been counted, or there are no rows to count."""
        return not self.columns or self.snapshot_id is None

    @property
    def file_count(self) -> int:
        """The number of data files to read; none is changed."""
        return 0 if self.is_empty else self.data_files

    @property
    def total_bytes(self) -> int:
        """The bytes of these files."""
        return 0 if self.is_empty else self.data_bytes

    def summary(self) -> str:
        """Return one sentence on what the plan does."""
        if self.is_empty:
            return "No distinct values to count: the snapshot has the statistics of these columns."
        return (
            f"Count the distinct values of {count_text(len(self.columns), 'column')} of snapshot {self.snapshot_id} in "
            f"{count_text(self.data_files, 'data file')}."
        )

    def rows(self) -> pa.Table:
        """Return one row for each column: field_id, column, reason."""
        return pa.table(
            {
                "field_id": pa.array([field_id for field_id, _ in self.columns], pa.int32()),
                "column": pa.array([name for _, name in self.columns], pa.string()),
                "reason": pa.array(
                    ["the snapshot has no distinct count of this column"] * len(self.columns), pa.string()
                ),
            }
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "verb": self.verb,
            "snapshot_id": None if self.snapshot_id is None else str(self.snapshot_id),
            "columns": [{"field_id": field_id, "name": name} for field_id, name in self.columns],
            "data_files": self.file_count,
            "total_bytes": self.total_bytes,
        }


@dataclass(frozen=True)
class ComputeStatisticsResult(Result):
    """The statistics file that was committed.

    Attributes:
        statistics_file: The file; None if there was nothing to count.
        distinct_counts: The estimate for each counted column by name: exact for at most 7,680 values, with a standard error of
            1.6 % beyond. Nulls are not counted, nor are empty strings and binaries.
    """

    verb: ClassVar[str] = VERB

    statistics_file: StatisticsFile | None
    distinct_counts: dict[str, int]

    def summary(self) -> str:
        """Return one sentence on what was done."""
        if self.statistics_file is None:
            return "No distinct values were counted."
        counted = count_text(len(self.distinct_counts), "column")
        return f"Counted the distinct values of {counted} in {self.statistics_file.statistics_path}."

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        file = self.statistics_file
        return {
            "verb": self.verb,
            "statistics_file": None if file is None else file.statistics_path,
            "distinct_counts": dict(self.distinct_counts),
        }


@dataclass(frozen=True)
class ComputeStatistics:
    """Builder of distinct counts; setters return a new builder.

    Without settings it counts the top-level primitive columns of the current snapshot. Deletes are applied.

    Examples:
        >>> result = table.maintenance.compute_statistics().columns("id").execute()
        >>> result.distinct_counts
        {'id': 3}
    """

    table: CommittingTable
    names: tuple[str, ...] | None = None
    snapshot_id: int | None = None

    def columns(self, *names: str) -> Self:
        """Count the named columns, dotted for fields of structs.

        Raises:
            ValidationError: There is no name.
        """
        if not names:
            raise ValidationError("columns: expected at least one name; leave the call out to count all columns")
        return replace(self, names=checked_names("columns", names))

    def snapshot(self, snapshot_id: int) -> Self:
        """Count the rows of a snapshot, with its schema."""
        return replace(self, snapshot_id=checked_snapshot_id(snapshot_id))

    def plan(self) -> ComputeStatisticsPlan:
        """Return the columns to count; nothing is read but the manifests.

        Raises:
            ValidationError: The table has no such snapshot, or a column is not primitive or is inside a list or map.
            ResolveError: The snapshot's schema has no such column.
        """
        metadata = self.table.metadata
        snapshot = planned_snapshot(metadata, self.snapshot_id, VERB)
        empty = ComputeStatisticsPlan(str(metadata.table_uuid), None, (), 0, 0, None)
        if snapshot is None:
            return empty
        scan = _scan(self.table, metadata, snapshot)
        known = statistics_of(metadata, snapshot.snapshot_id)
        done = counted_columns(known)
        columns = tuple(one for one in _columns(scan.schema(), self.names) if one[0] not in done)
        files = scan.plan_whole_files().files
        return replace(
            empty,
            snapshot_id=snapshot.snapshot_id,
            columns=columns,
            data_files=files.num_rows,
            data_bytes=sum(files.column("file_size_in_bytes").to_pylist()),
            replaced=None if known is None else known.statistics_path,
        )

    def execute(self, plan: ComputeStatisticsPlan | None = None) -> ComputeStatisticsResult:
        """Count, write the statistics file and commit it.

        Args:
            plan: A plan of this table; a new one if None.

        Raises:
            ValidationError: The snapshot has been expired since the plan.
            ValidationException: The statistics of the snapshot changed since the plan.
        """
        plan = current_plan(self.table, plan, self.plan, ComputeStatisticsPlan)
        metadata = self.table.metadata
        snapshot = planned_snapshot(metadata, plan.snapshot_id, VERB) if plan.snapshot_id is not None else None
        if plan.is_empty or snapshot is None:
            return ComputeStatisticsResult(None, {})
        known = statistics_of(metadata, snapshot.snapshot_id)
        if (None if known is None else known.statistics_path) != plan.replaced:
            raise ValidationException(
                f"{VERB}: the statistics of snapshot {snapshot.snapshot_id} changed since the plan; plan again"
            )
        counts = self._count(plan, snapshot)
        file = self._commit(snapshot, [*other_blobs(self.table.io, known, set(counts)), *counts.values()])
        return ComputeStatisticsResult(
            file, {name: distinct_count(counts[field_id]) for field_id, name in plan.columns}
        )

    def _count(self, plan: ComputeStatisticsPlan, snapshot: Snapshot) -> dict[int, Blob]:
        """Return the blob of each planned column by field id."""
        scan = _scan(self.table, self.table.metadata, snapshot).select(*(name for _, name in plan.columns))
        columns = scan.projection().as_struct()
        ids = [field_id for field_id, _ in plan.columns]
        counted = self._sketches(scan.plan(), [_path(columns, field_id) or [] for field_id in ids])
        sequence_number = snapshot.sequence_number or 0
        return {
            field_id: theta_blob(field_id, snapshot.snapshot_id, sequence_number, estimate, sketch)
            for field_id, (estimate, sketch) in zip(ids, counted, strict=True)
        }

    def _sketches(self, plan: ScanPlan, paths: list[list[int]]) -> list[tuple[float, bytes]]:
        """Return estimate and theta sketch of each column of a plan's rows, given as paths of positions."""
        return _core.distinct_values(plan.stream(string_views=True), paths)

    def _commit(self, snapshot: Snapshot, blobs: list[Blob]) -> StatisticsFile:
        """Write blobs to a statistics file of a snapshot, commit the file and return it."""
        content, footer_size = encoded(blobs)
        environment = getattr(self.table.catalog, "environment", SYSTEM)
        location = new_file(self.table, f"{snapshot.snapshot_id}-{environment.new_uuid()}.stats")
        written = write_file(self.table.io, location, content)
        file = StatisticsFile(
            snapshot_id=snapshot.snapshot_id,
            statistics_path=location,
            file_size_in_bytes=len(content),
            file_footer_size_in_bytes=footer_size,
            blob_metadata=[blob.metadata for blob in blobs],
        )
        commit_statistics(self.table, file, written)
        return file


def _scan(table: CommittingTable, metadata: TableMetadata, snapshot: Snapshot) -> DataScan:
    return DataScan(metadata, table.io, snapshot_id=snapshot.snapshot_id, table_name=".".join(table.name()))


def _columns(schema: Schema, names: tuple[str, ...] | None) -> list[tuple[int, str]]:
    """Return field id and name of each column to count."""
    if names is None:
        fields = [(field.field_id, field.name, field.field_type) for field in schema.fields]
        return [(field_id, name) for field_id, name, kind in fields if _is_counted(kind)]
    columns = []
    for name in dict.fromkeys(names):
        field = schema.find_field(name)
        if not _is_counted(field.field_type) or _path(schema.as_struct(), field.field_id) is None:
            raise ValidationError(
                f"{VERB}: column {name}: expected a primitive column outside lists and maps, got {field.field_type}; choose "
                "other columns"
            )
        columns.append((field.field_id, name))
    return columns


def _is_counted(kind: object) -> bool:
    return isinstance(kind, PrimitiveType) and not isinstance(kind, UnknownType)


def _path(struct: StructType, field_id: int) -> list[int] | None:
    """Return the positions of a field and of the structs around it; None for a field inside a list or map."""
    for position, field in enumerate(struct.fields):
        if field.field_id == field_id:
            return [position]
        if isinstance(field.field_type, StructType):
            below = _path(field.field_type, field_id)
            if below is not None:
                return [position, *below]
    return None
