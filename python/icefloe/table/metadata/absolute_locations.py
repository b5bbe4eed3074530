"""Replacing relative locations in metadata, as DuckDB and old Hadoop tables record them, by absolute ones.

The Rust core resolves locations inside manifest lists and manifests, from the same directory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.table.metadata.entries import MetadataLog, Snapshots
from icefloe.table.properties.definitions import DATA_PATH, METADATA_PATH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from icefloe.io import FileIO
    from icefloe.table.metadata.table_metadata import TableMetadata

_PATH_PROPERTIES = (DATA_PATH.name, METADATA_PATH.name)


def with_absolute_locations(metadata: TableMetadata, io: FileIO) -> TableMetadata:
    """Return the metadata with its relative locations resolved from the working directory of `io`."""
    absolute = io.core.absolute
    changes: dict[str, Any] = {}
    if _may_be_relative(metadata.location):
        changes["location"] = absolute(metadata.location)
    if any(map(_may_be_relative, metadata.metadata_log.column("metadata-file"))):
        changes["metadata_log"] = MetadataLog(
            {**entry, "metadata-file": absolute(entry["metadata-file"])}
            for entry in metadata.metadata_log.json_values()
        )
    if any(map(_may_be_relative, _snapshot_locations(metadata.snapshots))):
        changes["snapshots"] = Snapshots(_absolute_snapshot(it, absolute) for it in metadata.snapshots.json_values())
    for name in ("statistics", "partition_statistics"):
        files = getattr(metadata, name)
        if any(_may_be_relative(file.statistics_path) for file in files):
            changes[name] = tuple(
                file.model_copy(update={"statistics_path": absolute(file.statistics_path)}) for file in files
            )
    paths = {key: path for key in _PATH_PROPERTIES if _may_be_relative(path := metadata.properties.get(key, "/"))}
    if paths:
        changes["properties"] = {**metadata.properties, **{key: absolute(path) for key, path in paths.items()}}
    return metadata.model_copy(update=changes) if changes else metadata


def _may_be_relative(location: str) -> bool:
    return not location.startswith("/") and "://" not in location


def _snapshot_locations(snapshots: Snapshots) -> Iterable[str]:
    yield from snapshots.column("manifest-list", "/")
    for paths in snapshots.column("manifests", ()):
        yield from paths


def _absolute_snapshot(snapshot: dict[str, Any], absolute: Callable[[str], str]) -> dict[str, Any]:
    changed = dict(snapshot)
    if "manifest-list" in changed:
        changed["manifest-list"] = absolute(changed["manifest-list"])
    if "manifests" in changed:
        changed["manifests"] = [absolute(path) for path in changed["manifests"]]
    return changed
