"""Table metadata with the paths of another location."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

from icefloe.table.properties.definitions import DATA_PATH, METADATA_PATH

if TYPE_CHECKING:
    from icefloe.table.maintenance.path_rewrite.prefixes import Prefixes

_PROPERTIES = (
    DATA_PATH.name,
    METADATA_PATH.name,
    "write.object-storage.path",
    "write.folder-storage.path",
)
_GZIP_MAGIC = b"\x1f\x8b"


def with_paths(content: bytes, prefixes: Prefixes) -> bytes:
    """Return a metadata file whose paths have another prefix; a compressed file is compressed again.

    Keys that the specification does not have stay as they are.

    Args:
        content: The metadata file.
        prefixes: The source and the target prefix.

    Raises:
        ValidationError: A path is not below the source prefix.
    """
    compressed = content.startswith(_GZIP_MAGIC)
    metadata: dict[str, Any] = json.loads(gzip.decompress(content) if compressed else content)
    _replace(metadata, "location", prefixes)
    for snapshot in metadata.get("snapshots") or ():
        _replace(snapshot, "manifest-list", prefixes)
        if snapshot.get("manifests"):
            snapshot["manifests"] = [prefixes.of_location(path) for path in snapshot["manifests"]]
    for entry in metadata.get("metadata-log") or ():
        _replace(entry, "metadata-file", prefixes)
    for key in ("statistics", "partition-statistics"):
        for file in metadata.get(key) or ():
            _replace(file, "statistics-path", prefixes)
    for name in _PROPERTIES:
        _replace(metadata.get("properties") or {}, name, prefixes)
    data = json.dumps(metadata, separators=(",", ":"), ensure_ascii=False).encode()
    return gzip.compress(data, mtime=0) if compressed else data


def _replace(values: dict[str, Any], key: str, prefixes: Prefixes) -> None:
    if values.get(key) is not None:
        values[key] = prefixes.of_location(values[key])
