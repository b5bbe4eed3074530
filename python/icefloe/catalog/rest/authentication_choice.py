"""The authentication that a catalog's properties configure."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from icefloe.catalog.rest.authentication import AUTHORIZATION, FixedHeaders, basic
from icefloe.catalog.rest.oauth2 import EXCHANGED_TYPES, OAuth2, OAuth2Settings
from icefloe.catalog.rest.property_names import (
    AUDIENCE,
    AUTH,
    CREDENTIAL,
    OAUTH2_SERVER_URI,
    RESOURCE,
    REST_AUTH,
    SCOPE,
    SIGNING_NAME,
    SIGNING_REGION,
    SIGV4_ENABLED,
    TOKEN,
    TOKEN_EXCHANGE,
    TOKEN_EXPIRES_IN,
    TOKEN_REFRESH,
    URI,
    flag,
    whole_number,
)
from icefloe.catalog.rest.service_tokens import CustomAuthentication, entra_tokens, google_tokens
from icefloe.catalog.rest.sigv4 import SigV4, keys_of
from icefloe.exceptions import FeatureUnsupportedError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from icefloe.catalog.rest.authentication import Authentication
    from icefloe.catalog.rest.http_client import RestClient
    from icefloe.table.environment import Environment

DEFAULT_SCOPE = "catalog"
DEFAULT_SIGNING_NAME = "execute-api"
_IMPLEMENTATION = "auth.impl"
_TYPES = ("noop", "none", "basic", "oauth2", "sigv4", "google", "entra", "custom")
_AUTH_PREFIXES = ("auth.", "rest.auth.", "rest.sigv4-", "rest.signing-", "urn:ietf:params:oauth:")
_AUTH_NAMES = {
    URI,
    TOKEN,
    CREDENTIAL,
    SCOPE,
    AUDIENCE,
    RESOURCE,
    OAUTH2_SERVER_URI,
    TOKEN_EXPIRES_IN,
    TOKEN_REFRESH,
    TOKEN_EXCHANGE,
}


def authentication_settings(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that select and configure the authentication."""
    return {name: value for name, value in properties.items() if name in _AUTH_NAMES or name.startswith(_AUTH_PREFIXES)}


def authentication_of(
    catalog: str, properties: Mapping[str, str], client: RestClient, environment: Environment
) -> Authentication:
    """Return the authentication that properties configure.

    Args:
        catalog: The catalog's name, for errors.
        properties: The catalog's properties.
        client: Sends token requests.
        environment: Clock.

    Raises:
        ValidationError: A property is missing or invalid.
        FeatureUnsupportedError: The type of authentication is not supported.
        NotInstalledError: The type needs a library that is not installed.
    """

    def now() -> float:
        return environment.now_ms() / 1000

    kind = _kind(catalog, properties)
    inner: Authentication
    if kind == "basic":
        inner = FixedHeaders({AUTHORIZATION: basic(*_user_and_password(catalog, properties))})
    elif kind == "oauth2" or (kind is None and _has_oauth2(properties)):
        inner = _oauth2(catalog, properties, client, now)
    elif kind == "google":
        inner = google_tokens(catalog, _settings(properties, "google"), client.verify, now)
    elif kind == "entra":
        inner = entra_tokens(catalog, _settings(properties, "entra"), now)
    elif kind == "custom":
        inner = _custom(catalog, properties)
    else:
        inner = FixedHeaders({})
    if kind != "sigv4" and not flag(properties, SIGV4_ENABLED, default=False):
        return inner
    region = properties.get(SIGNING_REGION, properties.get("client.region"))
    if region is None:
        raise ValidationError(
            f"catalog {catalog!r}: property {SIGNING_REGION} is missing; expected the AWS region of the catalog"
        )
    return SigV4(keys_of(properties), region, properties.get(SIGNING_NAME, DEFAULT_SIGNING_NAME), inner, now)


def _kind(catalog: str, properties: Mapping[str, str]) -> str | None:
    kind = properties.get(f"{AUTH}.type", properties.get(f"{REST_AUTH}.type"))
    if _IMPLEMENTATION in properties and (kind or "").lower() != "custom":
        raise ValidationError(
            f"catalog {catalog!r}: property {_IMPLEMENTATION}: expected auth.type custom beside it, got {kind!r}"
        )
    if kind is None:
        return None
    if kind.lower() not in _TYPES:
        raise FeatureUnsupportedError(
            f"catalog {catalog!r}: property auth.type: expected {', '.join(_TYPES)}, got {kind!r}; obtain a token yourself and pass it "
            "as the property token"
        )
    return kind.lower()


def _settings(properties: Mapping[str, str], kind: str) -> dict[str, str]:
    """Return the properties of one type of authentication, without their prefix."""
    found: dict[str, str] = {}
    for prefix in (f"{REST_AUTH}.{kind}.", f"{AUTH}.{kind}."):
        found |= {name.removeprefix(prefix): value for name, value in properties.items() if name.startswith(prefix)}
    return found


def _custom(catalog: str, properties: Mapping[str, str]) -> CustomAuthentication:
    implementation = properties.get(_IMPLEMENTATION)
    if implementation is None:
        raise ValidationError(
            f"catalog {catalog!r}: auth.type custom: property {_IMPLEMENTATION} is required; expected an importable class, "
            "package.module.Class, with a method auth_header()"
        )
    module, _, own_class = implementation.rpartition(".")
    try:
        found = getattr(import_module(module), own_class)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValidationError(
            f"catalog {catalog!r}: property {_IMPLEMENTATION}: cannot load {implementation!r}; expected an importable class, "
            f"package.module.Class: {error}"
        ) from error
    if not callable(getattr(found, "auth_header", None)):
        raise ValidationError(
            f"catalog {catalog!r}: property {_IMPLEMENTATION}: expected a class with a method auth_header(), got {implementation!r}"
        )
    settings = _settings(properties, "custom")
    try:
        return CustomAuthentication(found(**settings))
    except TypeError as error:
        raise ValidationError(
            f"catalog {catalog!r}: properties auth.custom.*: {implementation} refuses them: {error}"
        ) from error


def _has_oauth2(properties: Mapping[str, str]) -> bool:
    return any(name in properties for name in (TOKEN, CREDENTIAL, *EXCHANGED_TYPES))


def _user_and_password(catalog: str, properties: Mapping[str, str]) -> tuple[str, str]:
    for prefix in (f"{AUTH}.basic", f"{REST_AUTH}.basic"):
        user, password = properties.get(f"{prefix}.username"), properties.get(f"{prefix}.password")
        if user is not None and password is not None:
            return user, password
    raise ValidationError(
        f"catalog {catalog!r}: auth.type basic: properties auth.basic.username and auth.basic.password are required"
    )


def _oauth2(catalog: str, properties: Mapping[str, str], client: RestClient, now: Callable[[], float]) -> OAuth2:
    own = f"{AUTH}.oauth2."
    credential = properties.get(CREDENTIAL)
    client_id, secret = properties.get(f"{own}client_id"), properties.get(f"{own}client_secret")
    if credential is None and client_id is not None and secret is not None:
        credential = f"{client_id}:{secret}"
    subject = next(((kind, properties[kind]) for kind in EXCHANGED_TYPES if kind in properties), None)
    token = properties.get(TOKEN)
    if credential is None and token is None and subject is None:
        raise ValidationError(
            f"catalog {catalog!r}: OAuth 2 needs a property {CREDENTIAL} (client_id:client_secret) or {TOKEN}"
        )
    default_server = f"{properties[URI].rstrip('/')}/v1/oauth/tokens"
    parameters = {SCOPE: properties.get(SCOPE, properties.get(f"{own}scope", DEFAULT_SCOPE))}
    parameters |= {name: properties[name] for name in (AUDIENCE, RESOURCE) if name in properties}
    life_ms = whole_number(properties, TOKEN_EXPIRES_IN, None, least=1)
    settings = OAuth2Settings(
        server=properties.get(OAUTH2_SERVER_URI, properties.get(f"{own}token_url", default_server)),
        credential=credential,
        parameters=parameters,
        token=token,
        token_life_s=life_ms / 1000 if life_ms is not None else None,
        subject=subject,
        renews=flag(properties, TOKEN_REFRESH, default=True),
        exchanges=flag(properties, TOKEN_EXCHANGE, default=True),
    )
    return OAuth2(settings, client.post_form, now)
