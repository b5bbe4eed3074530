"""Requests to the endpoints of one catalog, and lists that a server returns in pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.catalog.rest.property_names import PAGE_SIZE, whole_number
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from icefloe.catalog.rest.replies import Call, Reply
    from icefloe.catalog.rest.server_config import Connection
    from icefloe.exceptions import IcebergError
    from icefloe.typedef import Identifier

PAGE_TOKEN = "pageToken"  # noqa: S105 - a name
NEXT_PAGE_TOKEN = "next-page-token"  # noqa: S105 - a name


class Requests:
    """Sends requests by endpoint, namespace and name.

    Args:
        connection: Client, endpoints and properties.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._page_size = whole_number(connection.properties, PAGE_SIZE, None, least=1)

    def offers(self, endpoint: str) -> bool:
        """Return whether the server offers an endpoint."""
        return self.connection.endpoints.offers(endpoint)

    def send(  # noqa: PLR0913 - each is one part of a request
        self,
        call: Call,
        endpoint: str,
        namespace: Identifier = (),
        name: str = "",
        *,
        plan_id: str = "",
        query: Mapping[str, str] = EMPTY_DICT,
        content: str | None = None,
        headers: Mapping[str, str] = EMPTY_DICT,
    ) -> Reply:
        """Send a request to an endpoint.

        Raises:
            FeatureUnsupportedError: The server does not offer the endpoint.
            IcebergError: See `RestClient.send`.
        """
        endpoints = self.connection.endpoints
        endpoints.require(endpoint, call.subject)
        address = endpoints.path(endpoint, namespace, name, plan_id)
        method = endpoint.partition(" ")[0]
        return self.connection.client.send(call, method, address, query=query, content=content, headers=headers)

    def unreadable(
        self, call: Call, endpoint: str, namespace: Identifier, name: str = "", *, expected: str
    ) -> IcebergError:
        """Return the error of a reply whose JSON object does not follow the protocol."""
        address = self.connection.endpoints.path(endpoint, namespace, name)
        return self.connection.client.unreadable(call, endpoint.partition(" ")[0], address, expected)

    def listed(
        self, call: Call, endpoint: str, key: str, namespace: Identifier = (), query: Mapping[str, str] = EMPTY_DICT
    ) -> Iterator[Any]:
        """Yield the items of a list, page by page.

        Args:
            call: The request.
            endpoint: The endpoint of the list.
            key: The key of the items in each page.
            namespace: The namespace in the path.
            query: Query parameters of every page.
        """
        seen: set[str] = set()
        token = ""
        while True:
            size = {"pageSize": str(self._page_size)} if self._page_size is not None else {}
            # An empty token announces that this client reads pages.
            body = self.send(call, endpoint, namespace, query={**query, PAGE_TOKEN: token, **size}).body
            items, following = body.get(key), body.get(NEXT_PAGE_TOKEN)
            if not isinstance(items, list) or not (following is None or isinstance(following, str)):
                raise self.unreadable(call, endpoint, namespace, expected=f"a list `{key}`")
            yield from items
            if following is None or following == "":
                return
            if following in seen:
                raise self.unreadable(call, endpoint, namespace, expected="a new page token in each page")
            seen.add(following)
            token = following
