"""Providers of the locations of a table's new files. Spec: Table Properties."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING

from icefloe.arguments import checked_mapping, checked_text
from icefloe.exceptions import ValidationError
from icefloe.table.environment import SYSTEM
from icefloe.table.properties.core import BUILT_IN_PROVIDERS
from icefloe.table.properties.definitions import (
    DATA_PATH,
    LOCATION_PROVIDER,
    METADATA_COMPRESSION,
    METADATA_PATH,
    OBJECT_STORAGE,
    PARTITIONED_PATHS,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.partitioning import PartitionKey

# 20 bits of the hash name the directories: three of 4 bits, one of 8.
_HASH_BITS = 20
_DIRECTORY_BITS = (4, 4, 4, 8)


class LocationProvider(ABC):
    """A provider of the locations of new files. A subclass is set with ``write.py-location-provider.impl``.

    Data and delete files are written with the subclasses of this module, and refused with others.

    Args:
        table_location: Location of the table.
        table_properties: Its properties.
    """

    table_location: str
    table_properties: Mapping[str, str]
    data_path: str
    metadata_path: str

    def __init__(self, table_location: str, table_properties: Mapping[str, str]) -> None:
        self.table_location = checked_text("table_location", table_location).rstrip("/")
        self.table_properties = table_properties
        self.data_path = (DATA_PATH.of(table_properties) or f"{self.table_location}/data").rstrip("/")
        self.metadata_path = (METADATA_PATH.of(table_properties) or f"{self.table_location}/metadata").rstrip("/")

    @abstractmethod
    def new_data_location(self, data_file_name: str, partition_key: PartitionKey | None = None) -> str:
        """Return the location of a new data file."""

    def new_metadata_location(self, metadata_file_name: str) -> str:
        """Return the location of a new metadata file, manifest or manifest list."""
        return f"{self.metadata_path}/{metadata_file_name}"

    def new_table_metadata_file_location(self, new_version: int = 0) -> str:
        """Return the location ``<version of five digits>-<uuid>.metadata.json``."""
        if new_version < 0:
            raise ValidationError(f"new_version: expected a whole number, 0 or above, got {new_version}")
        infix = ".gz" if METADATA_COMPRESSION.of(self.table_properties) == "gzip" else ""
        return self.new_metadata_location(f"{new_version:05d}-{SYSTEM.new_uuid()}{infix}.metadata.json")


class SimpleLocationProvider(LocationProvider):
    """The layout ``<data path>/<partition path>/<file name>``."""

    def new_data_location(self, data_file_name: str, partition_key: PartitionKey | None = None) -> str:
        """Return the location of a new data file."""
        prefix = "" if partition_key is None else f"{partition_key.to_path()}/"
        return f"{self.data_path}/{prefix}{data_file_name}"


class ObjectStoreLocationProvider(LocationProvider):
    """The layout ``<data path>/<hash directories>/...``, which spreads files over the key space of an object store."""

    def new_data_location(self, data_file_name: str, partition_key: PartitionKey | None = None) -> str:
        """Return the location of a new data file."""
        partitioned = PARTITIONED_PATHS.of(self.table_properties)
        if partition_key is not None and partitioned:
            data_file_name = f"{partition_key.to_path()}/{data_file_name}"
        directories = _hash_directories(data_file_name)
        if not self.data_path.startswith(self.table_location):
            # Tables may share a data path outside of their locations: database and table name keep their files apart.
            context = "/".join(self.table_location.split("/")[-2:])
            return f"{self.data_path}/{directories}/{context}/{data_file_name}"
        if partitioned:
            return f"{self.data_path}/{directories}/{data_file_name}"
        return f"{self.data_path}/{directories}-{data_file_name}"


def load_location_provider(table_location: str, table_properties: Mapping[str, str]) -> LocationProvider:
    """Return the location provider that a table's properties select.

    >>> load_location_provider("/t", {}).new_data_location("a.parquet")
    '/t/data/a.parquet'
    """
    name = LOCATION_PROVIDER.of(checked_mapping("table_properties", table_properties, "names to values"))
    if name is not None and name not in BUILT_IN_PROVIDERS:
        return _custom(name, table_location, table_properties)
    spread = OBJECT_STORAGE.of(table_properties) if name is None else BUILT_IN_PROVIDERS[name] == "ObjectStore"
    kind = ObjectStoreLocationProvider if spread else SimpleLocationProvider
    return kind(table_location, table_properties)


def _custom(name: str, table_location: str, table_properties: Mapping[str, str]) -> LocationProvider:
    module, _, kind = name.rpartition(".")
    try:
        found = getattr(import_module(module), kind)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValidationError(f"table property {LOCATION_PROVIDER.name}: cannot load {name!r}: {error}") from error
    if not isinstance(found, type) or not issubclass(found, LocationProvider):
        raise ValidationError(
            f"table property {LOCATION_PROVIDER.name}: expected a subclass of LocationProvider, got {name!r}"
        )
    return found(table_location, table_properties)


def _hash_directories(name: str) -> str:
    import pyarrow as pa

    from icefloe import _core

    # The bucket of a power of two is the low bits of the hash.
    low_bits = _core.bucket(pa.array([name]), 1 << _HASH_BITS)[0].as_py()
    bits = f"{low_bits:0{_HASH_BITS}b}"
    directories, start = [], 0
    for length in _DIRECTORY_BITS:
        directories.append(bits[start : start + length])
        start += length
    return "/".join(directories)
