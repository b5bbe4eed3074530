"""The table properties that cross to the core, checked before files are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.table.properties.definitions import (
    DATA_PATH,
    DELETE_FORMAT,
    DELETE_GRANULARITY,
    DELETE_TARGET_FILE_SIZE,
    LOCATION_PROVIDER,
    MANIFEST_COMPRESSION,
    MANIFEST_COMPRESSION_LEVEL,
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
from icefloe.table.properties.metrics_modes import metrics_properties
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
BUILT_IN_PROVIDERS = {
    f"{package}.table.locations.{kind}LocationProvider": kind
    for package in ("icefloe", "pyiceberg")
    for kind in ("Simple", "ObjectStore")
}
"""Location providers whose layouts the core writes, by the names that tables have them by."""
# The core refuses a table that sets one of these.
UNSUPPORTED = (
    "write.object-storage.path",
    "write.folder-storage.path",
    "write.location-provider.impl",
    "encryption.key-id",
)


def data_file_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that the core reads to write data files, each checked; warn of texts that are no metrics mode.

    Raises:
        ValidationError: A value has the wrong type or is out of range.
        FeatureUnsupportedError: The table has a location provider of its own.
    """
    metrics = metrics_properties(properties)
    return checked(_DATA_FILES, properties) | metrics | _layout(properties) | _unsupported(properties)


def delete_file_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that the core reads to write position delete files, each checked.

    Raises:
        ValidationError: A value has the wrong type or is out of range.
        FeatureUnsupportedError: The table has a location provider of its own.
    """
    return checked(_DELETE_FILES, properties) | _layout(properties) | _unsupported(properties)


def equality_delete_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that the core reads to write equality delete files, each checked; warn of texts that are no metrics mode.

    Raises:
        ValidationError: A value has the wrong type or is out of range.
        FeatureUnsupportedError: The table has a location provider of its own.
    """
    metrics = metrics_properties(properties)
    return checked(_DELETE_FILES, properties) | metrics | _layout(properties) | _unsupported(properties)


def manifest_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that the core reads to write manifests, each checked.

    Raises:
        ValidationError: A value has the wrong type or is out of range.
    """
    return checked((MANIFEST_COMPRESSION, MANIFEST_COMPRESSION_LEVEL), properties)


def _layout(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the property of the core that stands for the table's location provider; empty without one."""
    name = LOCATION_PROVIDER.of(properties)
    if name is None:
        return {}
    if name not in BUILT_IN_PROVIDERS:
        raise FeatureUnsupportedError(
            f"table property {LOCATION_PROVIDER.name}: files cannot be written to the locations of {name}; expected "
            f"{' or '.join(BUILT_IN_PROVIDERS)}, or no such property"
        )
    return {OBJECT_STORAGE.name: "true" if BUILT_IN_PROVIDERS[name] == "ObjectStore" else "false"}


def _unsupported(properties: Mapping[str, str]) -> dict[str, str]:
    return {name: properties[name] for name in UNSUPPORTED if name in properties}
