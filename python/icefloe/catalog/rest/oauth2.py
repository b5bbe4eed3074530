"""OAuth 2 tokens: obtained by client credentials or token exchange, and renewed before they expire."""

from __future__ import annotations

import base64
import binascii
import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefloe.catalog.rest.authentication import AUTHORIZATION, basic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx

TOKEN_TYPE = "urn:ietf:params:oauth:token-type:"  # noqa: S105 - a name
ACCESS_TOKEN = f"{TOKEN_TYPE}access_token"
EXCHANGED_TYPES = tuple(f"{TOKEN_TYPE}{kind}" for kind in ("id_token", "access_token", "jwt", "saml2", "saml1"))
"""Properties with a token of another service, which is exchanged for a token of the catalog; the first that is set is used."""
_EXCHANGE = f"{TOKEN_TYPE.removesuffix('token-type:')}grant-type:token-exchange"
# A token is renewed this long before it expires, or after nine tenths of a shorter life.
_MARGIN_S = 300.0
_PART_OF_LIFE = 0.1


@dataclass(frozen=True)
class OAuth2Settings:
    """The way to obtain tokens.

    Attributes:
        server: Address of the token endpoint.
        credential: `client_id:client_secret`, or a secret alone; None without one.
        parameters: Further parameters of token requests: scope, audience, resource.
        token: A token to begin with; None without one.
        token_life_s: Seconds for which `token` is valid, None if unknown; a JWT's own expiry takes precedence.
        subject: Type and value of a token of another service to exchange.
        renews: Whether tokens are renewed before they expire.
        exchanges: Whether a token without a client credential is renewed by a token exchange.
    """

    server: str
    credential: str | None = field(default=None, repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict)
    token: str | None = field(default=None, repr=False)
    token_life_s: float | None = None
    subject: tuple[str, str] | None = field(default=None, repr=False)
    renews: bool = True
    exchanges: bool = True


@dataclass(frozen=True)
class _Token:
    value: str = field(repr=False)
    renewal_at: float | None
    expires_at: float | None


class OAuth2:
    """Bearer tokens of one catalog.

    Args:
        settings: How tokens are obtained.
        post_form: Sends a form to an address with headers and returns the JSON object of the reply; raises OAuthError.
        now: Seconds since 1970-01-01 UTC.
    """

    def __init__(
        self,
        settings: OAuth2Settings,
        post_form: Callable[[str, dict[str, str], dict[str, str]], dict[str, Any]],
        now: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._post_form = post_form
        self._now = now
        self._lock = threading.Lock()
        self._token: _Token | None = None
        if settings.token is not None:
            self._token = self._timed(settings.token, settings.token_life_s)

    def authorize(self, request: httpx.Request) -> None:  # noqa: D102 - described by the protocol
        request.headers[AUTHORIZATION] = f"Bearer {self.token()}"

    def fixed_headers(self) -> dict[str, str]:  # noqa: D102
        return {AUTHORIZATION: f"Bearer {self.token()}"}

    def token(self) -> str:
        """Return a valid token, renewed if it expires soon. Threads that need a new token wait for one request.

        Raises:
            OAuthError: The token server refused the request, or did not reply.
        """
        with self._lock:
            if self._token is None:
                self._token = self._obtained()
            elif self._settings.renews and _is_past(self._token.renewal_at, self._now()):
                self._token = self._renewed(self._token)
            return self._token.value

    def renew(self) -> bool:  # noqa: D102
        if self._settings.credential is None and self._settings.subject is None:
            return False
        with self._lock:
            self._token = None
        return True

    def secrets(self) -> set[str]:  # noqa: D102
        # Read without the lock: an error of the token request is formatted while the lock is held.
        token, credential = self._token, self._settings.credential
        found = {token.value} if token is not None else set()
        if credential is not None:
            found |= {credential, credential.rpartition(":")[2]}
        if self._settings.subject is not None:
            found.add(self._settings.subject[1])
        return found

    def _obtained(self) -> _Token:
        if self._settings.subject is not None:
            kind, subject = self._settings.subject
            return self._exchanged(subject, kind, self._client_header())
        client_id, separator, secret = (self._settings.credential or "").partition(":")
        form = {"grant_type": "client_credentials"}
        form |= {"client_id": client_id, "client_secret": secret} if separator else {"client_secret": client_id}
        return self._request(form, {})

    def _renewed(self, token: _Token) -> _Token:
        if self._settings.credential is not None or self._settings.subject is not None:
            return self._obtained()
        if not self._settings.exchanges or _is_past(token.expires_at, self._now()):
            # The server decides about a token that cannot be renewed.
            return token
        return self._exchanged(token.value, ACCESS_TOKEN, {AUTHORIZATION: f"Bearer {token.value}"})

    def _exchanged(self, subject: str, kind: str, headers: dict[str, str]) -> _Token:
        form = {"grant_type": _EXCHANGE, "subject_token": subject, "subject_token_type": kind}
        return self._request(form, headers)

    def _request(self, form: dict[str, str], headers: dict[str, str]) -> _Token:
        reply = self._post_form(self._settings.server, {**form, **self._settings.parameters}, headers)
        life = reply.get("expires_in")
        return self._timed(reply["access_token"], float(life) if life is not None else None)

    def _client_header(self) -> dict[str, str]:
        client_id, separator, secret = (self._settings.credential or "").partition(":")
        return {AUTHORIZATION: basic(client_id, secret)} if separator else {}

    def _timed(self, value: str, life_s: float | None) -> _Token:
        now = self._now()
        stated = expiry(value)
        expires_at = stated if stated is not None else now + life_s if life_s is not None else None
        if expires_at is None:
            return _Token(value, None, None)
        return _Token(value, expires_at - min(_MARGIN_S, max(0.0, expires_at - now) * _PART_OF_LIFE), expires_at)


def expiry(token: str) -> float | None:
    """Return the expiry in a JSON web token, in seconds since 1970-01-01 UTC; None if there is none.

    Examples:
        >>> expiry("e30.eyJleHAiOiAxNzAwMDAwMDAwfQ.c2ln")
        1700000000.0
        >>> expiry("opaque") is None
        True
    """
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error):
        return None
    found = claims.get("exp") if isinstance(claims, dict) else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def _is_past(moment: float | None, now: float) -> bool:
    return moment is not None and now >= moment
