"""The blobs of a snapshot's statistics file: theta sketches of columns, and blobs of other writers. Spec: Puffin."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe import _core
from icefloe.table.statistics import BlobMetadata, StatisticsFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata

THETA = "apache-datasketches-theta-v1"
NDV = "ndv"
_COMPRESS = "compress"


@dataclass(frozen=True)
class Blob:
    """A blob to write.

    Attributes:
        metadata: Type, snapshot, columns and properties.
        content: The bytes, in the form of `codec`.
        codec: `compress` to compress the bytes with Zstandard; `zstd`, `lz4` or None for bytes of another file.
    """

    metadata: BlobMetadata
    content: bytes
    codec: str | None = None

    def arguments(self) -> tuple[Any, ...]:
        """Return the blob as `_core.encode_puffin` takes it."""
        of = self.metadata
        properties = dict(of.properties or {})
        return of.type, of.fields, of.snapshot_id, of.sequence_number, self.content, self.codec, properties


def theta_blob(field_id: int, snapshot_id: int, sequence_number: int, estimate: float, sketch: bytes) -> Blob:
    """Return the blob of the distinct values of a column; its property `ndv` is the estimate, rounded down."""
    metadata = BlobMetadata(
        type=THETA,
        snapshot_id=snapshot_id,
        sequence_number=sequence_number,
        fields=[field_id],
        properties={NDV: str(int(estimate))},
    )
    return Blob(metadata, sketch, _COMPRESS)


def distinct_count(blob: Blob) -> int:
    """Return the estimate of the distinct values that a blob of `theta_blob` has."""
    return int((blob.metadata.properties or {})[NDV])


def statistics_of(metadata: TableMetadata, snapshot_id: int) -> StatisticsFile | None:
    """Return the statistics file of a snapshot, None if it has none."""
    return next((file for file in metadata.statistics if file.snapshot_id == snapshot_id), None)


def counted_columns(file: StatisticsFile | None) -> set[int]:
    """Return the ids of the columns whose distinct values a statistics file has."""
    blobs: Iterable[BlobMetadata] = () if file is None else file.blob_metadata
    return {blob.fields[0] for blob in blobs if blob.type == THETA and len(blob.fields) == 1}


def other_blobs(io: FileIO, file: StatisticsFile | None, replaced: set[int]) -> list[Blob]:
    """Return the blobs of a statistics file but the distinct values of some columns, their bytes unchanged.

    Raises:
        CorruptFileError: The file is not a Puffin file.
    """
    if file is None:
        return []
    content = io.new_input(file.statistics_path).open().read()
    kept = []
    for entry in json.loads(_core.puffin_footer(content))["blobs"]:
        if entry["type"] == THETA and len(entry["fields"]) == 1 and entry["fields"][0] in replaced:
            continue
        metadata = BlobMetadata(
            type=entry["type"],
            snapshot_id=entry["snapshot-id"],
            sequence_number=entry["sequence-number"],
            fields=entry["fields"],
            properties=entry.get("properties"),
        )
        start = entry["offset"]
        kept.append(Blob(metadata, content[start : start + entry["length"]], entry.get("compression-codec")))
    return kept


def encoded(blobs: Sequence[Blob]) -> tuple[bytes, int]:
    """Return a Puffin file of blobs, and the length of its footer in bytes."""
    return _core.encode_puffin([blob.arguments() for blob in blobs], {"created-by": f"icefloe {_core.__version__}"})
