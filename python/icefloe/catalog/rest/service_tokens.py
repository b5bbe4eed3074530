"""Bearer tokens of Google Cloud and of Microsoft Entra ID, obtained by their own libraries."""

from __future__ import annotations

import datetime as dt
import re
import threading
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import httpx

from icefloe.catalog.rest.authentication import AUTHORIZATION
from icefloe.exceptions import NotInstalledError, OAuthError, ValidationError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

ENTRA_SCOPE = "https://storage.azure.com/.default"
"""The scope of Entra tokens unless `auth.entra.scopes` has others."""
_MARGIN_S = 60
_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class ServiceToken:
    """A token and its expiry in seconds since 1970-01-01 UTC, None if unknown."""

    value: str
    expires_at: float | None


class ServiceTokens:
    """Authentication by the bearer tokens of a cloud service.

    Args:
        obtain: Returns a new token.
        now: Seconds since 1970-01-01 UTC.
    """

    def __init__(self, obtain: Callable[[], ServiceToken], now: Callable[[], float]) -> None:
        self._obtain = obtain
        self._now = now
        self._lock = threading.Lock()
        self._token: ServiceToken | None = None

    def authorize(self, request: httpx.Request) -> None:  # noqa: D102 - described by the protocol
        request.headers[AUTHORIZATION] = f"Bearer {self.token()}"

    def renew(self) -> bool:  # noqa: D102
        with self._lock:
            self._token = None
        return True

    def fixed_headers(self) -> dict[str, str]:  # noqa: D102
        return {AUTHORIZATION: f"Bearer {self.token()}"}

    def secrets(self) -> set[str]:  # noqa: D102
        token = self._token
        return {token.value} if token is not None else set()

    def token(self) -> str:
        """Return a token that is valid for at least a minute. Threads that need a new token wait for one request.

        Raises:
            OAuthError: The service issued no token.
        """
        with self._lock:
            token = self._token
            if token is None or (token.expires_at is not None and token.expires_at - _MARGIN_S <= self._now()):
                token = self._token = self._obtain()
            return token.value


def google_tokens(
    catalog: str, settings: Mapping[str, str], verify: ssl.SSLContext | bool, now: Callable[[], float]
) -> ServiceTokens:
    """Return the tokens of Google Cloud: of a credentials file, else of the application default credentials.

    Args:
        catalog: The catalog's name, for errors.
        settings: Properties `auth.google.*` without their prefix: `credentials_path`, `scopes`.
        verify: How token servers are verified.
        now: Seconds since 1970-01-01 UTC.

    Raises:
        NotInstalledError: google-auth is not installed.
        OAuthError: No credentials are found.
    """
    _check_names(catalog, "auth.google", settings, ("credentials_path", "scopes"))
    try:
        import google.auth
        import google.auth.exceptions
    except ModuleNotFoundError as error:
        raise NotInstalledError(
            f"catalog {catalog!r}: auth.type google needs google-auth: pip install 'icefloe[rest-google]'"
        ) from error
    credentials = _google_credentials(catalog, settings)
    request = GoogleRequest(verify)

    def obtain() -> ServiceToken:
        try:
            credentials.refresh(request)
        except google.auth.exceptions.GoogleAuthError as error:
            raise OAuthError(f"catalog {catalog!r}: Google issued no token: {error}") from None
        expiry = credentials.expiry
        # The library's times are UTC without a zone.
        expires_at = None if expiry is None else expiry.replace(tzinfo=dt.timezone.utc).timestamp()
        return ServiceToken(str(credentials.token), expires_at)

    return ServiceTokens(obtain, now)


def _google_credentials(catalog: str, settings: Mapping[str, str]) -> Any:
    import google.auth
    import google.auth.exceptions

    scopes = names_in(settings.get("scopes"))
    path = settings.get("credentials_path")
    try:
        with warnings.catch_warnings():
            # google-auth warns of files from others; this one is configured by the user.
            warnings.simplefilter("ignore", DeprecationWarning)
            credentials, _ = (
                google.auth.load_credentials_from_file(path, scopes=scopes)  # type: ignore[no-untyped-call]
                if path is not None
                else google.auth.default(scopes=scopes)
            )
    except (google.auth.exceptions.GoogleAuthError, OSError, ValueError) as error:
        raise OAuthError(f"catalog {catalog!r}: auth.type google: no credentials: {error}") from error
    return credentials


def entra_tokens(catalog: str, settings: Mapping[str, str], now: Callable[[], float]) -> ServiceTokens:
    """Return the tokens of Microsoft Entra ID, by the default chain of azure-identity.

    Args:
        catalog: The catalog's name, for errors.
        settings: Properties `auth.entra.*` without their prefix: `scopes`, and arguments of `DefaultAzureCredential`.
        now: Seconds since 1970-01-01 UTC.

    Raises:
        NotInstalledError: azure-identity is not installed.
        ValidationError: An argument is not valid.
    """
    try:
        from azure.core.exceptions import AzureError
        from azure.identity import DefaultAzureCredential
    except ModuleNotFoundError as error:
        raise NotInstalledError(
            f"catalog {catalog!r}: auth.type entra needs azure-identity: pip install 'icefloe[rest-entra]'"
        ) from error
    scopes = names_in(settings.get("scopes")) or [ENTRA_SCOPE]
    arguments = {name: _typed(value) for name, value in settings.items() if name != "scopes"}
    try:
        credential = DefaultAzureCredential(**arguments)
    except (TypeError, ValueError) as error:
        raise ValidationError(f"catalog {catalog!r}: properties auth.entra.*: {error}") from error

    def obtain() -> ServiceToken:
        try:
            token = credential.get_token(*scopes)
        except AzureError as error:
            raise OAuthError(f"catalog {catalog!r}: Microsoft Entra ID issued no token: {error}") from None
        return ServiceToken(token.token, float(token.expires_on))

    return ServiceTokens(obtain, now)


class AuthManager(Protocol):
    """An authentication of the user's own, as PyIceberg defines it.

    `auth.type` is `custom` and `auth.impl` names the class; properties `auth.custom.*` are the arguments of its constructor.
    """

    def auth_header(self) -> str | None:
        """Return the value of the `Authorization` header, None for a request without one."""


class CustomAuthentication:
    """Authentication by a class of the user's.

    Args:
        manager: An instance of the class.
    """

    def __init__(self, manager: AuthManager) -> None:
        self._manager = manager
        self._last: str | None = None

    def authorize(self, request: httpx.Request) -> None:  # noqa: D102 - described by the protocol
        request.headers.update(self.fixed_headers())

    def renew(self) -> bool:  # noqa: D102
        return False

    def fixed_headers(self) -> dict[str, str]:  # noqa: D102
        self._last = self._manager.auth_header()
        return {} if self._last is None else {AUTHORIZATION: self._last}

    def secrets(self) -> set[str]:  # noqa: D102
        return set() if self._last is None else {self._last, self._last.rpartition(" ")[2]}


class GoogleRequest:
    """The HTTP transport of google-auth, by httpx.

    Args:
        verify: How servers are verified.
    """

    def __init__(self, verify: ssl.SSLContext | bool) -> None:
        self._verify = verify

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> GoogleResponse:
        """Send a request.

        Raises:
            google.auth.exceptions.TransportError: There is no reply.
        """
        from google.auth.exceptions import TransportError

        with httpx.Client(verify=self._verify, timeout=timeout or _TIMEOUT_S) as client:
            try:
                response = client.request(method, url, content=body, headers=dict(headers or {}))
            except httpx.HTTPError as error:
                raise TransportError(f"{type(error).__name__}: {error}") from error  # type: ignore[no-untyped-call]
        return GoogleResponse(response.status_code, dict(response.headers), response.content)


@dataclass(frozen=True)
class GoogleResponse:
    """A reply as google-auth reads it."""

    status: int
    headers: dict[str, str]
    data: bytes


def names_in(text: str | None) -> list[str] | None:
    """Return the items of a list in a property: separated by commas or spaces, in brackets and quotes or without.

    Examples:
        >>> names_in("['https://a/.default', 'b']"), names_in("a b"), names_in(None)
        (['https://a/.default', 'b'], ['a', 'b'], None)
    """
    found = re.findall(r"[^\s,'\"\[\]]+", text) if text is not None else []
    return found or None


def _typed(value: str) -> object:
    return {"true": True, "false": False}.get(value.lower(), value)


def _check_names(catalog: str, prefix: str, settings: Mapping[str, str], known: tuple[str, ...]) -> None:
    for name in settings:
        if name not in known:
            raise ValidationError(
                f"catalog {catalog!r}: unknown property {prefix}.{name}; expected "
                + ", ".join(f"{prefix}.{one}" for one in known)
            )
