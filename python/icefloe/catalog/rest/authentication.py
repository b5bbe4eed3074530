"""Authentication of requests: without credentials, by a user name and a password, or by a header of the user's."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import httpx

AUTHORIZATION = "Authorization"


class Authentication(Protocol):
    """Adds credentials to requests."""

    def authorize(self, request: httpx.Request) -> None:
        """Set the headers that authenticate a complete request."""

    def renew(self) -> bool:
        """Discard a token that the server rejected; return whether another one can be had."""

    def fixed_headers(self) -> dict[str, str] | None:
        """Return the headers of the present credentials, None if each request has headers of its own."""

    def secrets(self) -> set[str]:
        """Return the secret parts of the present credentials."""


class FixedHeaders:
    """Authentication by headers that are the same in every request.

    Args:
        headers: Header names and values.
    """

    def __init__(self, headers: dict[str, str]) -> None:
        self._headers = headers

    def authorize(self, request: httpx.Request) -> None:  # noqa: D102 - described by the protocol
        request.headers.update(self._headers)

    def renew(self) -> bool:  # noqa: D102
        return False

    def fixed_headers(self) -> dict[str, str]:  # noqa: D102
        return dict(self._headers)

    def secrets(self) -> set[str]:  # noqa: D102
        return {part for value in self._headers.values() for part in (value, value.rpartition(" ")[2])}

    def __repr__(self) -> str:
        return f"FixedHeaders({', '.join(self._headers)})"


def basic(username: str, password: str) -> str:
    """Return the `Authorization` header of a user name and a password.

    Examples:
        >>> basic("user", "password")
        'Basic dXNlcjpwYXNzd29yZA=='
    """
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
