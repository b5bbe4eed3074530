"""Statistics files of snapshots. Spec: Table Statistics, Partition Statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import StrictStr

from icefloe.typedef import JsonInt, JsonLong, JsonModel

if TYPE_CHECKING:
    from collections.abc import Sequence


class BlobMetadata(JsonModel):
    """Metadata of one blob of a Puffin file: type, columns and properties."""

    type: StrictStr
    snapshot_id: JsonLong
    sequence_number: JsonLong
    fields: list[JsonInt]
    properties: dict[str, str] | None = None


class StatisticsFile(JsonModel):
    """A Puffin file with statistics of a snapshot."""

    snapshot_id: JsonLong
    statistics_path: StrictStr
    file_size_in_bytes: JsonLong
    file_footer_size_in_bytes: JsonLong
    key_metadata: StrictStr | None = None
    blob_metadata: list[BlobMetadata]


class PartitionStatisticsFile(JsonModel):
    """A file with statistics of every partition of a snapshot."""

    snapshot_id: JsonLong
    statistics_path: StrictStr
    file_size_in_bytes: JsonLong


AnyStatistics = TypeVar("AnyStatistics", StatisticsFile, PartitionStatisticsFile)


def filter_statistics_by_snapshot_id(
    statistics: Sequence[AnyStatistics], reject_snapshot_id: int
) -> list[AnyStatistics]:
    """Return the statistics of all snapshots but one."""
    return [file for file in statistics if file.snapshot_id != reject_snapshot_id]
