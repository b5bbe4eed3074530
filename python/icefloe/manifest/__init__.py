"""Data files, manifest entries and manifests as Python objects. Spec: Manifests."""

from __future__ import annotations

from icefloe.manifest.content import DataFileContent, FileFormat, ManifestContent, ManifestEntryStatus
from icefloe.manifest.data_file import (
    DEFAULT_BLOCK_SIZE,
    DEFAULT_READ_VERSION,
    INITIAL_SEQUENCE_NUMBER,
    UNASSIGNED_SEQ,
    DataFile,
    ManifestEntry,
    partition_of,
)
from icefloe.manifest.manifest_file import (
    ManifestFile,
    PartitionFieldSummary,
    clear_manifest_cache,
    read_manifest_list,
)

__all__ = [
    "DEFAULT_BLOCK_SIZE",
    "DEFAULT_READ_VERSION",
    "INITIAL_SEQUENCE_NUMBER",
    "UNASSIGNED_SEQ",
    "DataFile",
    "DataFileContent",
    "FileFormat",
    "ManifestContent",
    "ManifestEntry",
    "ManifestEntryStatus",
    "ManifestFile",
    "PartitionFieldSummary",
    "clear_manifest_cache",
    "partition_of",
    "read_manifest_list",
]
