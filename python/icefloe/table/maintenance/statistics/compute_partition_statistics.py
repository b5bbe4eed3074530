"""The statistics of every partition of a snapshot, in a Parquet file. Spec: Partition Statistics."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from icefloe.arguments import checked_snapshot_id
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.expressions import AlwaysTrue
from icefloe.expressions.filter import Filter
from icefloe.table.environment import SYSTEM
from icefloe.table.inspect.inspected_table import InspectedTable
from icefloe.table.inspect.row_sources import partition_rows
from icefloe.table.maintenance.display import count_text
from icefloe.table.maintenance.plan import Result
from icefloe.table.maintenance.statistics.commit import (
    StatisticsPlan,
    commit_statistics,
    current_plan,
    new_file,
    planned_snapshot,
    write_file,
)
from icefloe.table.scan.metadata_columns import partition_struct
from icefloe.table.statistics import PartitionStatisticsFile
from icefloe.types import IntegerType, LongType, NestedField
from icefloe.types.arrow import field_to_arrow, storage_schema

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.commit.committing_table import CommittingTable
    from icefloe.table.metadata import TableMetadata

VERB = "compute_partition_statistics"
_OF_PARTITIONS = {"data_record_count": "record_count", "data_file_count": "file_count"}


@dataclass(frozen=True)
class ComputePartitionStatisticsPlan(StatisticsPlan):
    """The snapshot whose partitions are to be added up.

    Attributes:
        table_uuid: The table.
        snapshot_id: The snapshot; None if there is nothing to do.
        manifests: Number of manifests to read.
        manifest_bytes: Their bytes.
    """

    verb: ClassVar[str] = VERB

    table_uuid: str
    snapshot_id: int | None
    manifests: int
    manifest_bytes: int

    @property
    def is_empty(self) -> bool:
        """Whether the snapshot has partition statistics, or there is no snapshot."""
        return self.snapshot_id is None

    @property
    def file_count(self) -> int:
        """The number of manifests to read; none is changed."""
        return self.manifests

    @property
    def total_bytes(self) -> int:
        """The bytes of these manifests."""
        return self.manifest_bytes

    def summary(self) -> str:
        """Return one sentence on what the plan does."""
        if self.is_empty:
            return "No partitions to add up: the snapshot has partition statistics."
        return f"Add up the partitions of snapshot {self.snapshot_id} from {count_text(self.manifests, 'manifest')}."

    def rows(self) -> pa.Table:
        """Return one row for the snapshot: snapshot_id, manifests, reason."""
        ids = [] if self.snapshot_id is None else [self.snapshot_id]
        return pa.table(
            {
                "snapshot_id": pa.array(ids, pa.int64()),
                "manifests": pa.array([self.manifests] * len(ids), pa.int64()),
                "reason": pa.array(["the snapshot has no partition statistics"] * len(ids), pa.string()),
            }
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "verb": self.verb,
            "snapshot_id": None if self.snapshot_id is None else str(self.snapshot_id),
            "manifests": self.manifests,
            "total_bytes": self.total_bytes,
        }


@dataclass(frozen=True)
class ComputePartitionStatisticsResult(Result):
    """The partition statistics file that was committed.

    Attributes:
        statistics_file: The file; None if there was nothing to do.
        partitions: Number of its rows.
    """

    verb: ClassVar[str] = VERB

    statistics_file: PartitionStatisticsFile | None
    partitions: int

    def summary(self) -> str:
        """Return one sentence on what was done."""
        if self.statistics_file is None:
            return "No partition statistics were written."
        return f"Wrote the statistics of {self.partitions} partitions to {self.statistics_file.statistics_path}."

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        file = self.statistics_file
        path = None if file is None else file.statistics_path
        return {"verb": self.verb, "statistics_file": path, "partitions": self.partitions}


@dataclass(frozen=True)
class ComputePartitionStatistics:
    """Builder of partition statistics; setters return a new builder.

    Every manifest of the snapshot is read: adding the changes since an older file would merge rows of different specs.
    """

    table: CommittingTable
    snapshot_id: int | None = None

    def snapshot(self, snapshot_id: int) -> Self:
        """Add up the partitions of a snapshot instead of the current one."""
        return replace(self, snapshot_id=checked_snapshot_id(snapshot_id))

    def plan(self) -> ComputePartitionStatisticsPlan:
        """Return the snapshot to add up.

        Raises:
            ValidationError: The table has no such snapshot, or was never partitioned.
        """
        metadata = self.table.metadata
        if not partition_struct(metadata).fields:
            raise ValidationError(
                f"{VERB}: {'.'.join(self.table.name())} is not partitioned; it has no partition statistics"
            )
        snapshot = planned_snapshot(metadata, self.snapshot_id, VERB)
        done = {file.snapshot_id for file in metadata.partition_statistics}
        if snapshot is None or snapshot.snapshot_id in done:
            return ComputePartitionStatisticsPlan(str(metadata.table_uuid), None, 0, 0)
        manifests = snapshot.manifest_rows(self.table.io)
        size = sum(manifests.column("manifest_length").to_pylist())
        return ComputePartitionStatisticsPlan(str(metadata.table_uuid), snapshot.snapshot_id, manifests.num_rows, size)

    def execute(self, plan: ComputePartitionStatisticsPlan | None = None) -> ComputePartitionStatisticsResult:
        """Add up the partitions, write the file and commit it.

        Args:
            plan: A plan of this table; a new one if None.

        Raises:
            ValidationError: The snapshot has been expired since the plan.
            ValidationException: The snapshot has got partition statistics since the plan.
        """
        plan = current_plan(self.table, plan, self.plan, ComputePartitionStatisticsPlan)
        metadata = self.table.metadata
        if plan.snapshot_id is None:
            return ComputePartitionStatisticsResult(None, 0)
        planned_snapshot(metadata, plan.snapshot_id, VERB)
        if any(file.snapshot_id == plan.snapshot_id for file in metadata.partition_statistics):
            raise ValidationException(
                f"{VERB}: snapshot {plan.snapshot_id} has partition statistics since the plan; plan again"
            )
        rows = statistics_rows(self.table, metadata, plan.snapshot_id)
        content = io.BytesIO()
        pq.write_table(rows, content, compression="zstd")
        environment = getattr(self.table.catalog, "environment", SYSTEM)
        name = f"partition-stats-{plan.snapshot_id}-{environment.new_uuid()}.parquet"
        location = new_file(self.table, name)
        written = write_file(self.table.io, location, content.getvalue())
        file = PartitionStatisticsFile(
            snapshot_id=plan.snapshot_id, statistics_path=location, file_size_in_bytes=len(content.getvalue())
        )
        commit_statistics(self.table, file, written)
        return ComputePartitionStatisticsResult(file, rows.num_rows)


def statistics_fields(metadata: TableMetadata) -> list[NestedField]:
    """Return the columns of a partition statistics file."""
    counts = [
        NestedField(3, "data_record_count", LongType(), required=True),
        NestedField(4, "data_file_count", IntegerType(), required=True),
        NestedField(5, "total_data_file_size_in_bytes", LongType(), required=True),
        NestedField(6, "position_delete_record_count", LongType()),
        NestedField(7, "position_delete_file_count", IntegerType()),
        NestedField(8, "equality_delete_record_count", LongType()),
        NestedField(9, "equality_delete_file_count", IntegerType()),
        NestedField(10, "total_record_count", LongType()),
        NestedField(11, "last_updated_at", LongType()),
        NestedField(12, "last_updated_snapshot_id", LongType()),
    ]
    partition = NestedField(1, "partition", partition_struct(metadata), required=True)
    return [partition, NestedField(2, "spec_id", IntegerType(), required=True), *counts]


def statistics_rows(table: CommittingTable, metadata: TableMetadata, snapshot_id: int) -> pa.Table:
    """Return the rows of a partition statistics file, sorted by partition with nulls first.

    `last_updated_at` is in milliseconds since 1970-01-01 UTC. `total_record_count` is null: counts of deletes do not say which
    rows they share. `last_updated_at` and `last_updated_snapshot_id` are of the newest snapshot that added a live file, or deleted a
    file whose manifest entry still exists, as in the Java reference: a partition of deleted entries alone has a row without files.
    """
    every_row = Filter.of(AlwaysTrue(), metadata.schema())
    found = partition_rows(InspectedTable.of(table), snapshot_id, every_row, keep="all")
    fields = statistics_fields(metadata)
    columns: list[Any] = []
    for field in fields:
        if field.name == "total_record_count":
            columns.append(pa.nulls(found.num_rows, pa.int64()))
        elif field.name == "last_updated_at":
            columns.append(found.column("last_updated_at").cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64()))
        else:
            columns.append(found.column(_OF_PARTITIONS.get(field.name, field.name)))
    return pa.table(columns, schema=storage_schema(pa.schema([field_to_arrow(field) for field in fields])))
