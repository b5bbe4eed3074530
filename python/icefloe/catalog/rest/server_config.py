"""The configuration that a server sends before anything else, and the client that follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.catalog.rest.authentication_choice import authentication_of, authentication_settings
from icefloe.catalog.rest.endpoints import DEFAULT_SEPARATOR, Endpoints, offered_endpoints
from icefloe.catalog.rest.http_client import RestClient
from icefloe.catalog.rest.property_names import (
    NAMESPACE_SEPARATOR,
    PREFIX,
    URI,
    VIEW_ENDPOINTS_SUPPORTED,
    WAREHOUSE,
    flag,
)
from icefloe.catalog.rest.replies import Call
from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from icefloe.table.environment import Environment


@dataclass(frozen=True)
class Connection:
    """A client and the configuration of its server.

    Attributes:
        client: Sends requests.
        endpoints: Paths and the endpoints that the server offers.
        properties: The server's defaults, the user's properties and the server's overrides; later ones replace earlier ones.
    """

    client: RestClient
    endpoints: Endpoints
    properties: dict[str, str]


def connect(catalog: str, given: dict[str, str], environment: Environment) -> Connection:
    """Load the server's configuration and return a connection that follows it.

    Args:
        catalog: The catalog's name.
        given: The user's properties.
        environment: Clock, sleep and randomness.

    Raises:
        ValidationError: A property is missing or invalid.
        IcebergError: The server did not send a configuration.
    """
    if not given.get(URI, "").lower().startswith(("http://", "https://")):
        raise ValidationError(
            f"catalog {catalog!r}: property {URI}: expected an http:// or https:// address of a REST catalog"
        )
    client = RestClient(catalog, given, environment)
    client.authentication = authentication_of(catalog, given, client, environment)
    address = f"{given[URI].rstrip('/')}/v1/config"
    query = {WAREHOUSE: given[WAREHOUSE]} if WAREHOUSE in given else {}
    call = Call(f"catalog {catalog!r}: configuration")
    body = client.send(call, "GET", address, query=query).body
    defaults, overrides, listed = body.get("defaults", {}), body.get("overrides", {}), body.get("endpoints")
    if not _is_map(defaults) or not _is_map(overrides) or not (listed is None or _is_texts(listed)):
        raise client.unreadable(call, "GET", address, "maps `defaults` and `overrides` and a list `endpoints`")
    return connection_of(catalog, given, _merged(defaults, given, overrides), listed, client, environment)


def connection_of(  # noqa: PLR0913 - each is one part of a connection
    catalog: str,
    given: dict[str, str],
    properties: dict[str, str],
    listed: list[str] | None,
    client: RestClient | None,
    environment: Environment,
) -> Connection:
    """Return the connection of a configuration that was loaded before.

    Args:
        catalog: The catalog's name.
        given: The user's properties, with which `client` was made.
        properties: The merged properties.
        listed: Endpoints that the server lists, None if it lists none.
        client: The client that loaded the configuration; it is used further if the configuration changed nothing for it.
        environment: Clock, sleep and randomness.
    """
    if client is None or properties != given:
        fresh = RestClient(catalog, properties, environment)
        kept = client.authentication if client is not None else None
        if client is not None:
            client.close()
        if kept is None or authentication_settings(given) != authentication_settings(properties):
            kept = authentication_of(catalog, properties, fresh, environment)
        fresh.authentication = kept
        client = fresh
    separator = properties.get(NAMESPACE_SEPARATOR, DEFAULT_SEPARATOR)
    if separator == "":
        raise ValidationError(f"catalog {catalog!r}: property {NAMESPACE_SEPARATOR}: expected text, got an empty one")
    views = flag(properties, VIEW_ENDPOINTS_SUPPORTED, default=False)
    offered = offered_endpoints(listed, with_views=views)
    endpoints = Endpoints(catalog, properties[URI], properties.get(PREFIX, ""), separator, offered)
    return Connection(client, endpoints, properties)


def _merged(defaults: dict[str, Any], given: dict[str, str], overrides: dict[str, Any]) -> dict[str, str]:
    ours = {name: str(value) for name, value in defaults.items() if value is not None}
    return {**ours, **given, **{name: str(value) for name, value in overrides.items() if value is not None}}


def _is_map(value: object) -> bool:
    return isinstance(value, dict)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
