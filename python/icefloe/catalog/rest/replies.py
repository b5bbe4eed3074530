"""Replies of a catalog server, and the errors for failures and missing replies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
from pydantic_core import from_json

from icefloe.catalog.rest.masking import masked, public_address
from icefloe.exceptions import (
    AuthorizationExpiredError,
    BadRequestError,
    CommitStateUnknownException,
    FeatureUnsupportedError,
    ForbiddenError,
    IcebergError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    RESTError,
    ServerError,
    ServiceUnavailableError,
    StorageError,
    TooManyRequestsError,
    UnauthorizedError,
)
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_SHOWN = 400
"""Most characters of a server's message in an error."""

_BY_STATUS: dict[int, type[IcebergError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    406: FeatureUnsupportedError,
    419: AuthorizationExpiredError,
    422: BadRequestError,
    429: TooManyRequestsError,
    501: FeatureUnsupportedError,
    503: ServiceUnavailableError,
}
# The status of 500 and above that states that the server did not process the request. By 503 a proxy may report a failure of its own.
_NOT_PROCESSED = 501
_MISSING: dict[str, type[IcebergError]] = {
    "NoSuchNamespaceException": NoSuchNamespaceError,
    "NoSuchTableException": NoSuchTableError,
    "NoSuchIcebergTableException": NoSuchTableError,
    "NoSuchViewException": NoSuchViewError,
}
_ADVICE: dict[int, str] = {
    401: "check the catalog's token or credential",
    403: "check the permissions of the catalog's token or credential",
    419: "check the catalog's token or credential",
    429: "repeat it later, or raise rest.client.max-retries",
    503: "repeat it later, or raise rest.client.max-retries",
}
_UNKNOWN = "unknown whether the change took effect, nothing was cleaned up. Refresh and check for the change before you repeat it"


class RepeatedConflictError(CommitStateUnknownException):
    """A request was repeated and conflicts, with another change or with its own effect. Internal to the REST catalog.

    Attributes:
        conflict: The message if the conflict is with another change.
    """

    def __init__(self, message: str, conflict: str) -> None:
        super().__init__(message)
        self.conflict = conflict


@dataclass(frozen=True)
class Call:
    """A request, as far as errors describe it.

    Attributes:
        subject: What the request is for, such as `table db.events: commit`.
        changes: Whether the request changes the catalog.
        missing: The error of status 404 when the reply does not name another.
        errors: Errors of further statuses: of 409, for example.
        is_best_effort: Whether the request is sent once, with a short timeout, because nothing depends on its reply.
    """

    subject: str
    changes: bool = False
    missing: type[IcebergError] = RESTError
    errors: Mapping[int, type[IcebergError]] = field(default_factory=lambda: EMPTY_DICT)
    is_best_effort: bool = False


@dataclass(frozen=True)
class Reply:
    """A reply with a status of success.

    Attributes:
        status: HTTP status.
        body: The JSON object, empty for a reply without a body.
        etag: The version of what the reply contains; None if the server does not state one.
        content: The bytes of the body.
    """

    status: int
    body: dict[str, Any]
    etag: str | None = None
    content: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class Failures:
    """Makes the errors of one catalog, with its name and its address and without secrets.

    Attributes:
        catalog: The catalog's name.
        secrets: Texts that no message contains.
    """

    catalog: str
    secrets: frozenset[str] = field(default=frozenset(), repr=False)

    def of_reply(self, call: Call, response: httpx.Response, *, repeated: bool) -> IcebergError:
        """Return the error of a reply that is not a success.

        Args:
            call: The request.
            response: Its reply.
            repeated: Whether the request was sent before and may have been processed: a conflict may be with its own effect then, and
                other replies do not decide the outcome of the earlier request.
        """
        status = response.status_code
        kind, message = _stated(response)
        what = f"got status {status}" + (f", {kind}" if kind != "" else "") + (f": {message}" if message != "" else "")
        if 300 <= status < 400:
            what = f"expected a reply of the catalog, got status {status}, a redirect to {_target(response)}; redirects are not followed"
        if call.changes and (repeated or _may_have_taken_effect(status)):
            unknown = self.unknown(call, response.request, what)
            if status == 503:
                return ServiceUnavailableError(str(unknown))
            if status != 409:
                return unknown
            return RepeatedConflictError(str(unknown), self._with_state(call, self._text(call, response.request, what)))
        error = self._kind(call, response, kind)
        advice = _ADVICE.get(status)
        text = self._text(call, response.request, what) + (f"; {advice}" if advice is not None else "")
        return error(self._with_state(call, text))

    def of_unreadable(self, call: Call, response: httpx.Response, reason: str) -> IcebergError:
        """Return the error of a reply with a status of success that does not follow the protocol."""
        what = f"expected {reason}, got status {response.status_code} with {_described(response)}"
        if call.changes:
            return self.unknown(call, response.request, what)
        return RESTError(
            self._text(
                call, response.request, f"{what}; check that the catalog's uri is that of an Iceberg REST catalog"
            )
        )

    def of_lost_reply(self, call: Call, request: httpx.Request, error: Exception) -> IcebergError:
        """Return the error of a request that was sent and got no complete reply."""
        what = f"got no complete reply: {_reason(error)}"
        if call.changes:
            return self.unknown(call, request, what)
        return StorageError(self._text(call, request, what))

    def of_unsent(
        self, call: Call, request: httpx.Request, error: Exception, *, repeated: bool = False
    ) -> IcebergError:
        """Return the error of a request that did not reach the server; with `repeated`, an earlier one may have been processed."""
        what = f"cannot reach the server: {_reason(error)}"
        if call.changes and repeated:
            return self.unknown(call, request, what)
        return StorageError(self._with_state(call, self._text(call, request, what)))

    def of_unrepeated(self, call: Call, error: IcebergError) -> IcebergError:
        """Return the error of a change that may have been processed, and for whose repetition there are no credentials."""
        return CommitStateUnknownException(
            self.masked(f"{call.subject}: cannot repeat the request: {error}; {_UNKNOWN}")
        )

    def unknown(self, call: Call, request: httpx.Request, what: str) -> CommitStateUnknownException:
        """Return the error of a change whose outcome the server did not report."""
        return CommitStateUnknownException(f"{self._text(call, request, what)}; {_UNKNOWN}")

    def masked(self, text: str) -> str:
        """Return text without the catalog's secrets."""
        return masked(text, self.secrets)

    def _kind(self, call: Call, response: httpx.Response, kind: str) -> type[IcebergError]:
        status = response.status_code
        if status == 404:
            # A page of another server is not the catalog's word that something is missing; replies to HEAD have no body.
            is_of_catalog = kind != "" or response.request.method == "HEAD"
            return _MISSING.get(kind, call.missing) if is_of_catalog else RESTError
        if status in call.errors:
            return call.errors[status]
        return _BY_STATUS.get(status, ServerError if status >= 500 else RESTError)

    def _text(self, call: Call, request: httpx.Request, what: str) -> str:
        address = public_address(str(request.url))
        return self.masked(f"{call.subject}: {what} (catalog {self.catalog!r}, {request.method} {address})")

    def _with_state(self, call: Call, text: str) -> str:
        return f"{text}; nothing has changed" if call.changes else text


def json_object(response: httpx.Response) -> dict[str, Any] | None:
    """Return the JSON object of a body, None if the body is something else."""
    try:
        value = from_json(response.content, cache_strings="keys", allow_inf_nan=False)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _stated(response: httpx.Response) -> tuple[str, str]:
    """Return the type and the message of an error in the form of the protocol, or of an OAuth error; else a description."""
    value = json_object(response) if response.content else None
    if value is None:
        return "", _described(response) if response.content else ""
    error = value.get("error")
    if isinstance(error, dict):
        return _short(error.get("type")) or "an error without a type", _short(error.get("message"))
    if isinstance(error, str):
        return _short(error), _short(value.get("error_description"))
    return "", _described(response)


def _described(response: httpx.Response) -> str:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not response.content and "html" not in kind:
        return "an empty body"
    if "html" in kind or response.content.lstrip()[:1] == b"<":
        return "an HTML page"
    value = json_object(response)
    if value is not None:
        error = value.get("error")
        if isinstance(error, dict):
            return f"the error {_short(error.get('type'))}: {_short(error.get('message'))}"
        return "a JSON object of another form"
    return f"a body of {len(response.content)} bytes that is not a JSON object"


def _may_have_taken_effect(status: int) -> bool:
    return 300 <= status < 400 or (status >= 500 and status != _NOT_PROCESSED) or status == 408


def _target(response: httpx.Response) -> str:
    return public_address(response.headers.get("location", "")) or "an unknown address"


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.LocalProtocolError):
        # The text shows the header, which may be a token.
        return "LocalProtocolError: a header is not valid"
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text != "" else type(error).__name__


def _short(value: object) -> str:
    text = " ".join(str(value).split()) if value is not None else ""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def joined_secrets(parts: Iterable[set[str]]) -> frozenset[str]:
    """Return the secrets of several sources, without values too short to be one."""
    return frozenset(secret for part in parts for secret in part if len(secret) >= 4)
