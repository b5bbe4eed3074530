"""The storage of one table: properties of the catalog and of the server's reply, with credentials that the server lends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefloe.catalog.rest.property_names import HEADER_PREFIX, TOKEN, URI
from icefloe.exceptions import FeatureUnsupportedError
from icefloe.io import load_file_io
from icefloe.io.file_io import CREDENTIALS_LOCATION, STORAGE_PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from icefloe.io import FileIO

REMOTE_SIGNING = "s3.remote-signing-enabled"
_SIGNER = "s3.signer"
_SIGNER_URI = "s3.signer.uri"
_SIGNER_ENDPOINT = "s3.signer.endpoint"
# Names of the newer servers for the same two properties.
_SIGNER_NAMES = {"signer.uri": _SIGNER_URI, "signer.endpoint": _SIGNER_ENDPOINT}
# The properties with the address that renews credentials, by a property that only lent credentials have.
_REFRESH_ENDPOINTS = {
    "s3.session-token-expires-at-ms": "client.refresh-credentials-endpoint",
    "gcs.oauth2.token-expires-at": "gcs.oauth2.refresh-credentials-endpoint",
    "adls.sas-token-expires-at-ms.": "adls.refresh-credentials-endpoint",
}
_LENT = ("s3.session-token", "gcs.oauth2.token", "adls.sas-token.")


@dataclass(frozen=True)
class StorageCredential:
    """Credentials that a server lends for the locations below a prefix."""

    prefix: str
    config: dict[str, str] = field(repr=False)


def storage_credentials(value: Any) -> tuple[StorageCredential, ...] | None:
    """Return the credentials in a reply; None if the value does not follow the protocol."""
    if value is None:
        return ()
    if not isinstance(value, list):
        return None
    found = []
    for item in value:
        config = item.get("config") if isinstance(item, dict) else None
        if not isinstance(config, dict) or not isinstance(item.get("prefix"), str):
            return None
        found.append(StorageCredential(item["prefix"], {str(name): str(text) for name, text in config.items()}))
    return tuple(found)


def covering(credentials: Iterable[StorageCredential], location: str) -> dict[str, str]:
    """Return the credentials with the longest prefix of a location, empty without any.

    Examples:
        >>> covering([StorageCredential("s3", {"a": "1"}), StorageCredential("s3://b/t", {"a": "2"})], "s3://b/t/f")
        {'a': '2'}
    """
    fitting = [credential for credential in credentials if location.startswith(credential.prefix)]
    return dict(max(fitting, key=lambda credential: len(credential.prefix)).config) if fitting else {}


def table_file_io(  # noqa: PLR0913 - each is one source of properties
    table: str,
    catalog: Mapping[str, str],
    config: Mapping[str, str],
    credentials: Iterable[StorageCredential],
    location: str,
    *,
    endpoint: str | None,
    headers: Mapping[str, str] | None,
    working_directory: str | None,
) -> FileIO:
    """Return the storage of a table.

    Args:
        table: The table's name, for errors.
        catalog: Properties of the catalog.
        config: Properties in the server's reply, which replace those of the catalog.
        credentials: Credentials in the server's reply, which replace both.
        location: The location whose credentials are used, also after they are renewed.
        endpoint: The address that renews lent credentials, None if the server has none.
        headers: Headers that authenticate requests to that address, None if they differ in each request.
        working_directory: The directory that relative locations start from.

    Raises:
        FeatureUnsupportedError: The server must sign storage requests, and requests to the signer cannot be authenticated.
    """
    properties = {name: value for name, value in catalog.items() if name.startswith((*STORAGE_PREFIXES, "py-io-impl"))}
    lent = {**config, **covering(credentials, location)}
    properties |= {name: value for name, value in lent.items() if name.startswith(STORAGE_PREFIXES)}
    signs = _signs_remotely(table, catalog, lent, properties, authenticated=headers is not None)
    for expiry, refresh in _REFRESH_ENDPOINTS.items():
        expires = any(name.startswith(expiry) for name in lent)
        if headers is None:
            # Requests of the storage client cannot be signed: credentials end with their expiry.
            properties.pop(refresh, None)
        elif refresh not in properties and expires and endpoint is not None:
            properties[refresh] = endpoint
    renews = any(name in properties for name in _REFRESH_ENDPOINTS.values())
    if renews:
        properties[CREDENTIALS_LOCATION] = location
    if headers is not None and (signs or renews):
        properties[URI] = catalog[URI]
        properties |= {f"{HEADER_PREFIX}{name.lower()}": value for name, value in headers.items()}
        properties.pop(TOKEN, None)
    return load_file_io(properties, location, working_directory)


def lends(config: Mapping[str, str], credentials: Iterable[StorageCredential]) -> bool:
    """Return whether a reply has credentials that expire."""
    names = [*config, *(name for credential in credentials for name in credential.config)]
    return any(name.startswith(_LENT) for name in names)


def _signs_remotely(
    table: str,
    catalog: Mapping[str, str],
    lent: Mapping[str, str],
    properties: dict[str, str],
    *,
    authenticated: bool,
) -> bool:
    """Return whether the catalog signs storage requests, and set the signer's properties accordingly.

    Keys of the user or of the server are used instead of the signer: they need no request for each request.
    """
    flag = properties.pop(REMOTE_SIGNING, "").lower() == "true"
    signs = properties.pop(_SIGNER, None) is not None or flag
    for new, old in _SIGNER_NAMES.items():
        given = lent.get(new, catalog.get(new))
        if given is not None:
            properties.setdefault(old, given)
    if not signs or "s3.access-key-id" in properties:
        for name in (_SIGNER_URI, _SIGNER_ENDPOINT):
            properties.pop(name, None)
        return False
    if not authenticated:
        raise FeatureUnsupportedError(
            f"table {table}: the catalog signs storage requests (s3.remote-signing-enabled), and with AWS signatures of the catalog "
            "the storage client cannot ask it; let the catalog lend credentials (vended-credentials), or set s3.access-key-id and "
            "s3.secret-access-key"
        )
    properties[REMOTE_SIGNING] = "true"
    return True
