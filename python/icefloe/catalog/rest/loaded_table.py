"""A table in a server's reply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefloe.catalog.rest.table_storage import StorageCredential, storage_credentials
from icefloe.table.metadata import TableMetadataUtil

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata


@dataclass(frozen=True)
class LoadedTable:
    """A version of a table, and how its files are reached.

    Attributes:
        metadata: The table's metadata.
        metadata_location: The location of its file; empty for a staged table, which has none.
        config: Properties of the table's storage and of its handle.
        credentials: Credentials that the server lends.
    """

    metadata: TableMetadata
    metadata_location: str
    config: dict[str, str] = field(default_factory=dict, repr=False)
    credentials: tuple[StorageCredential, ...] = field(default=(), repr=False)


def loaded_table(body: dict[str, Any]) -> LoadedTable | None:
    """Return the table in a reply, None if the reply does not have the protocol's keys.

    Raises:
        CorruptFileError: The metadata is not valid.
        FeatureUnsupportedError: The metadata has a format version that is not supported.
    """
    metadata, location, config = body.get("metadata"), body.get("metadata-location"), body.get("config")
    credentials = storage_credentials(body.get("storage-credentials"))
    if not isinstance(metadata, dict) or credentials is None:
        return None
    if not (location is None or isinstance(location, str)) or not (config is None or isinstance(config, dict)):
        return None
    texts = {str(name): str(value) for name, value in (config or {}).items() if value is not None}
    return LoadedTable(TableMetadataUtil.parse_obj(metadata), location or "", texts, credentials)
