"""Names that an HTTP server may refuse in the path of a request, found before a table or a namespace has such a name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from icefloe.catalog.identifiers import dotted
from icefloe.catalog.rest import endpoints
from icefloe.catalog.rest.replies import Call
from icefloe.exceptions import (
    BadRequestError,
    ForbiddenError,
    InvalidIdentifierError,
    NoSuchNamespaceError,
    NoSuchTableError,
)

if TYPE_CHECKING:
    from icefloe.catalog.rest.requests import Requests
    from icefloe.typedef import Identifier

# Servers refuse paths with these characters, percent-encoded or not, because proxies and servers decode them differently.
_AMBIGUOUS = re.compile(r"[/\\%\x00-\x1f\x7f]|^\.{1,2}$")


def check_table_name(requests: Requests, namespace: Identifier, name: str) -> None:
    """Raise InvalidIdentifierError if the server refuses a table's name in paths: the table could be neither loaded nor dropped.

    Only a name with ambiguous characters costs a request.
    """
    if any(map(_AMBIGUOUS.search, (*namespace, name))):
        _check(requests, f"table {dotted((*namespace, name))}", endpoints.LOAD_TABLE, namespace, name)


def check_namespace_name(requests: Requests, namespace: Identifier) -> None:
    """Raise InvalidIdentifierError if the server refuses a namespace's name in paths: the namespace could not be dropped.

    Only a name with ambiguous characters costs a request.
    """
    if any(map(_AMBIGUOUS.search, namespace)):
        _check(requests, f"namespace {dotted(namespace)}", endpoints.LOAD_NAMESPACE, namespace)


def _check(requests: Requests, subject: str, endpoint: str, namespace: Identifier, name: str = "") -> None:
    call = Call(subject, missing=NoSuchTableError if name != "" else NoSuchNamespaceError)
    try:
        requests.send(call, endpoint, namespace, name)
    except BadRequestError as error:
        raise InvalidIdentifierError(
            f"{subject}: the server of catalog {requests.connection.endpoints.catalog!r} refuses this name in the path of a request; "
            r"expected a name other than '.' and '..', without '/', '\', '%' and control characters"
        ) from error
    # The server read the path.
    except (NoSuchTableError, NoSuchNamespaceError, ForbiddenError):
        return
