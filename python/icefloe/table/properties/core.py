"""The table properties that cross to the core, checked before files are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.table.properties.definitions import (
    DATA_PATH,
    DELETE_FORMAT,
    DELETE_GRANULARITY,
    DELETE_TARGET_FILE_SIZE,
    MANIFEST_COMPRESSION,
    MANIFEST_COMPRESSION_LEVEL,
    METRICS,
    OBJECT_STORAGE,
    PARTITIONED_PATHS,
    TARGET_FILE_SIZE,
    WRITE_FORMAT,
    WRITE_MEMORY,
)
from icefloe.table.properties.file_formats import (
    AVRO,
    BLOOM_FILTERS,
    DELETE_AVRO,
    DELETE_ORC,
    DELETE_PARQUET,
    ORC,
    ORC_BLOOM_FILTERS,
    PARQUET,
    PARQUET_COLUMNS,
)
from icefloe.table.properties.reading import checked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table.properties.reading import TableProperty

_LAYOUT = (DATA_PATH, OBJECT_STORAGE, PARTITIONED_PATHS)
_DATA_FILES: tuple[TableProperty[Any], ...] = (
    *_LAYOUT,
    WRITE_FORMAT,
    TARGET_FILE_SIZE,
    WRITE_MEMORY,
    *PARQUET,
    *BLOOM_FILTERS,
    *PARQUET_COLUMNS,
    *AVRO,
    *ORC,
    *ORC_BLOOM_FILTERS,
    *METRICS,
)
_DELETE_FILES: tuple[TableProperty[Any], ...] = (
    *_LAYOUT,
    WRITE_FORMAT,
    DELETE_FORMAT,
    DELETE_TARGET_FILE_SIZE,
    WRITE_MEMORY,
    *PARQUET,
    *DELETE_PARQUET,
    *AVRO,
    *DELETE_AVRO,
    *ORC,
    *DELETE_ORC,
    DELETE_GRANULARITY,
)
# The core refuses a table that sets one of these.
UNSUPPORTED = (
    "write.object-storage.path",
    "write.folder-storage.path",
    "write.location-provider.impl",
    "encryption.key-id",
)


def data_file_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that the core reads to write data files, each checked.

    Raises:
        ValidationError: A value has the wrong type or is out of range.
    """
    return checked(_DATA_FILES, properties) | _unsupported(properties)


def delete_file_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that the core reads to write position delete files, each checked.

    Raises:
        ValidationError: A value has the wrong type or is out of range.
    """
    return checked(_DELETE_FILES, properties) | _unsupported(properties)


def equality_delete_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that the core reads to write equality delete files, each checked.

    Raises:
        ValidationError: A value has the wrong type or is out of range.
    """
    return checked((*_DELETE_FILES, *METRICS), properties) | _unsupported(properties)


def manifest_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that the core reads to write manifests, each checked.

    Raises:
        ValidationError: A value has the wrong type or is out of range.
    """
    return checked((MANIFEST_COMPRESSION, MANIFEST_COMPRESSION_LEVEL), properties)


def _unsupported(properties: Mapping[str, str]) -> dict[str, str]:
    return {name: properties[name] for name in UNSUPPORTED if name in properties}
