"""The client of AWS Glue, and the outcome of a change that each of its errors implies."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ProxyConnectionError,
)

from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.exceptions import StorageError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.exceptions import IcebergError
    from icefloe.typedef import Properties

MISSING = "EntityNotFoundException"
EXISTS = "AlreadyExistsException"
CONFLICT = "ConcurrentModificationException"
TIMED_OUT = "OperationTimeoutException"
NOT_CONNECTED = (EndpointConnectionError, ConnectTimeoutError, ProxyConnectionError)
_RETRY_MODES = ("legacy", "standard", "adaptive")


def glue_client(name: str, properties: Properties) -> Any:
    """Return a client with PyIceberg's properties, `glue.*` before `client.*`.

    Raises:
        ValidationError: A property is not valid.
    """

    def own(key: str) -> str | None:
        return properties.get(f"glue.{key}", properties.get(f"client.{key}"))

    mode = properties.get("glue.retry-mode", "standard")
    attempts = properties.get("glue.max-retries", "10")
    if mode not in _RETRY_MODES or not (attempts.isascii() and attempts.isdigit()):
        raise ValidationError(
            f"catalog {name!r}: expected glue.retry-mode of {', '.join(_RETRY_MODES)} and glue.max-retries of a number, got "
            f"{mode!r} and {attempts!r}"
        )
    try:
        session = boto3.Session(
            profile_name=own("profile-name"),
            region_name=own("region"),
            aws_access_key_id=own("access-key-id"),
            aws_secret_access_key=own("secret-access-key"),
            aws_session_token=own("session-token"),
        )
        return session.client(
            "glue",
            endpoint_url=properties.get("glue.endpoint"),
            config=Config(retries={"max_attempts": int(attempts), "mode": mode}),
        )
    except (BotoCoreError, ValueError) as error:
        raise ValidationError(f"catalog {name!r}: cannot make a client of AWS Glue: {error}") from error


class Glue:
    """Calls of AWS Glue, each repeated by the client's own rules.

    A call that is repeated after a lost reply meets its own effect. So the attempts before the last are recorded: once an attempt
    may have taken effect, no error of a later one proves that nothing changed.

    Args:
        client: A client of boto3.
        catalog_id: The account whose catalog is used; None uses the account of the credentials.
    """

    def __init__(self, client: Any, catalog_id: str | None) -> None:
        self._client = client
        self._scope = {"CatalogId": catalog_id} if catalog_id is not None else {}
        self._attempts = threading.local()
        client.meta.events.register_first("needs-retry.glue", self._record)

    def read(self, operation: str, key: str, **arguments: Any) -> Any:
        """Make a call that changes nothing; return None if the object does not exist.

        Args:
            operation: The name of the call.
            key: The member of the reply that has the result. The client of boto3 makes a reply without members of a body that ends early.
            arguments: The arguments of the call.

        Raises:
            StorageError: The call failed, or its reply is incomplete.
        """
        try:
            reply = getattr(self._client, operation)(**self._scope, **arguments)
        except ClientError as error:
            if _code(error) == MISSING:
                return None
            raise StorageError(f"AWS Glue, {operation}: {error}") from error
        except BotoCoreError as error:
            raise StorageError(f"AWS Glue, {operation}: {error}") from error
        if key not in reply:
            raise StorageError(
                f"AWS Glue, {operation}: expected a reply with {key!r}, got a reply that is incomplete or no JSON; nothing has changed, repeat it"
            )
        return reply

    def pages(self, operation: str, key: str, **arguments: Any) -> list[Any]:
        """Return the elements of all pages of a list."""
        found: list[Any] = []
        token: dict[str, str] = {}
        while True:
            page = self.read(operation, key, **arguments, **token)
            found.extend(page[key] if page is not None else [])
            if page is None or not page.get("NextToken"):
                return found
            token = {"NextToken": page["NextToken"]}

    def change(self, operation: str, refused: Mapping[str, IcebergError], **arguments: Any) -> None:
        """Make a call that changes the catalog; `refused` maps codes of errors that change nothing to errors.

        Raises:
            StorageError: The call failed, and nothing has changed.
            OutcomeUnknownError: It is unknown whether the change took effect.
        """
        self._attempts.may_have_taken_effect = False
        try:
            getattr(self._client, operation)(**self._scope, **arguments)
        except Exception as error:
            if self._attempts.may_have_taken_effect or not _is_definite(error):
                raise OutcomeUnknownError(f"AWS Glue, {operation}: {error}") from error
            code = _code(error)
            if code in refused:
                raise refused[code] from error
            raise StorageError(f"AWS Glue, {operation}: {error}") from error

    def _record(
        self, response: Any = None, caught_exception: Exception | None = None, attempts: int = 1, **_: Any
    ) -> None:
        """Record whether one attempt may have taken effect; called by the client after each."""
        if caught_exception is not None:
            is_unknown = not isinstance(caught_exception, NOT_CONNECTED)
        else:
            is_unknown = response is not None and response[0].status_code >= 500
        if is_unknown:
            self._attempts.may_have_taken_effect = True


def _is_definite(error: Exception) -> bool:
    """Return whether an error proves that the attempt that raised it changed nothing."""
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
        return bool(400 <= status < 500) and _code(error) != TIMED_OUT
    if isinstance(error, NOT_CONNECTED):
        return True
    # Other errors of the library, such as missing credentials, are raised before a request is sent.
    return isinstance(error, BotoCoreError) and not isinstance(error, HTTPClientError)


def _code(error: Exception) -> str:
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""
