"""A table in a server's reply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefloe.catalog.rest.masking import public_address
from icefloe.catalog.rest.table_storage import StorageCredential, storage_credentials
from icefloe.exceptions import FeatureUnsupportedError, IcebergError
from icefloe.table.metadata import TableMetadataUtil

if TYPE_CHECKING:
    from icefloe.catalog.rest.replies import Call, Reply
    from icefloe.catalog.rest.requests import Requests
    from icefloe.table.metadata import TableMetadata
    from icefloe.typedef import Identifier


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

    def storage_location(self) -> str:
        """Return the directory whose credentials are used: the one of the metadata file, and of a staged table its location.

        All versions of a table share it, so they share one client.
        """
        location = self.metadata_location.rpartition("/")[0] or self.metadata.location.rstrip("/")
        return f"{location}/"


def loaded_table(requests: Requests, call: Call, endpoint: str, levels: Identifier, reply: Reply) -> LoadedTable:
    """Return the table in a reply.

    Args:
        requests: The requests of the catalog.
        call: The request.
        endpoint: Its endpoint.
        levels: The table.
        reply: The reply.

    Raises:
        CommitStateUnknownException: The request may have changed the table, and the reply is not one of the protocol.
        FeatureUnsupportedError: The request changes nothing, and the metadata has a feature that is not supported.
        RESTError: The request changes nothing, and the reply is not one of the protocol.
    """

    def unreadable(expected: str) -> IcebergError:
        return requests.unreadable(call, endpoint, levels[:-1], levels[-1], expected=expected)

    try:
        table = _table_in(reply.body)
    except FeatureUnsupportedError as error:
        if call.changes:
            raise unreadable(f"metadata of a table that is supported ({error})") from error
        endpoints = requests.connection.endpoints
        address = public_address(endpoints.path(endpoint, levels[:-1], levels[-1]))
        method = endpoint.partition(" ")[0]
        raise FeatureUnsupportedError(
            f"{call.subject}: {error} (catalog {endpoints.catalog!r}, {method} {address})"
        ) from error
    except IcebergError as error:
        raise unreadable(f"valid metadata of a table ({error})") from error
    if table is None:
        raise unreadable("`metadata` of a table")
    return table


def _table_in(body: dict[str, Any]) -> LoadedTable | None:
    metadata, location, config = body.get("metadata"), body.get("metadata-location"), body.get("config")
    credentials = storage_credentials(body.get("storage-credentials"))
    if not isinstance(metadata, dict) or credentials is None:
        return None
    if not (location is None or isinstance(location, str)) or not (config is None or isinstance(config, dict)):
        return None
    texts = {str(name): str(value) for name, value in (config or {}).items() if value is not None}
    return LoadedTable(TableMetadataUtil.parse_obj(metadata), location or "", texts, credentials)
