"""Names of the properties of REST catalogs, as PyIceberg and the Java reference spell them, and readers of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

URI = "uri"
PREFIX = "prefix"
WAREHOUSE = "warehouse"
HEADER_PREFIX = "header."
NAMESPACE_SEPARATOR = "namespace-separator"
PAGE_SIZE = "rest-page-size"
SNAPSHOT_LOADING_MODE = "snapshot-loading-mode"
VIEW_ENDPOINTS_SUPPORTED = "view-endpoints-supported"
METRICS_REPORTING = "rest-metrics-reporting-enabled"
SCAN_PLANNING_MODE = "scan-planning-mode"
PLANNING_TIMEOUT = "rest-scan-planning.poll-timeout-ms"
IDEMPOTENCY_LIFETIME = "idempotency-key-lifetime"

TOKEN = "token"  # noqa: S105 - a name
CREDENTIAL = "credential"
SCOPE = "scope"
AUDIENCE = "audience"
RESOURCE = "resource"
OAUTH2_SERVER_URI = "oauth2-server-uri"
TOKEN_EXPIRES_IN = "token-expires-in-ms"  # noqa: S105 - a name
TOKEN_REFRESH = "token-refresh-enabled"  # noqa: S105 - a name
TOKEN_EXCHANGE = "token-exchange-enabled"  # noqa: S105 - a name
AUTH = "auth"
REST_AUTH = "rest.auth"

SIGV4_ENABLED = "rest.sigv4-enabled"
SIGNING_REGION = "rest.signing-region"
SIGNING_NAME = "rest.signing-name"

SSL = "ssl"

MAX_RETRIES = "rest.client.max-retries"
CONNECT_TIMEOUT = "rest.client.connection-timeout-ms"
READ_TIMEOUT = "rest.client.socket-timeout-ms"


def flag(properties: Mapping[str, Any], name: str, default: bool) -> bool:
    """Return a property as a boolean.

    Raises:
        ValidationError: The value is neither `true` nor `false`.

    Examples:
        >>> flag({"rest.sigv4-enabled": "True"}, "rest.sigv4-enabled", False)
        True
    """
    value = properties.get(name)
    if value is None:
        return default
    text = str(value).strip().lower()
    if text not in ("true", "false"):
        raise ValidationError(f"catalog property {name}: expected true or false, got {value!r}")
    return text == "true"


def whole_number(properties: Mapping[str, Any], name: str, default: int | None, *, least: int = 0) -> int | None:
    """Return a property as an integer of at least `least`.

    Raises:
        ValidationError: The value is not such an integer.
    """
    value = properties.get(name)
    if value is None:
        return default
    text = str(value).strip()
    if not text.isdecimal() or int(text) < least:
        raise ValidationError(f"catalog property {name}: expected an integer of at least {least}, got {value!r}")
    return int(text)
