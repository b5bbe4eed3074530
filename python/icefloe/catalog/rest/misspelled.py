"""Properties of REST catalogs that have no effect because their name is misspelled."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING

from icefloe.catalog.rest import property_names
from icefloe.catalog.rest.oauth2 import EXCHANGED_TYPES
from icefloe.io.file_io import STORAGE_PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable

KNOWN = frozenset(
    {
        *(value for name, value in vars(property_names).items() if name.isupper() and isinstance(value, str)),
        *EXCHANGED_TYPES,
        "auth.type",
        "auth.impl",
        "auth.basic.username",
        "auth.basic.password",
        "auth.oauth2.client_id",
        "auth.oauth2.client_secret",
        "auth.oauth2.token_url",
        "auth.oauth2.scope",
        "rest.access-key-id",
        "rest.secret-access-key",
        "rest.session-token",
        "signer.uri",
        "signer.endpoint",
        "ssl.cabundle",
        "ssl.client.cert",
        "ssl.client.key",
    }
)
"""Names of properties that REST catalogs read."""
# Properties that Java, Spark and PyIceberg read.
_OF_OTHERS = frozenset(
    {
        "type",
        "io-impl",
        "py-io-impl",
        "clients",
        "rest-scan-plan-id",
        "rest-table-cache.expire-after-write-ms",
        "rest-table-cache.max-entries",
        "metrics-reporter-impl",
        "client-credentials-provider",
        "oauth2-token-exchange-enabled",
    }
)
_OPEN = (
    *STORAGE_PREFIXES,
    property_names.HEADER_PREFIX,
    "auth.google.",
    "auth.entra.",
    "auth.custom.",
    "rest.auth.",
    "rest.client.proxy.",
    "rest.client.tls.",
    "rest.client.connections-per-route",
    "rest.client.max-connections",
    "table-default.",
    "table-override.",
    "cache",
    "fs.",
    "hadoop.",
    "spark.",
)
_LIKENESS = 0.8


def warn_of_misspelled(catalog: str, names: Iterable[str]) -> None:
    """Warn of each property whose name is nearly that of a property of REST catalogs. Other unknown properties are for others.

    Args:
        catalog: The catalog's name.
        names: Names of the user's properties.
    """
    for name in sorted(names):
        if name in KNOWN or name in _OF_OTHERS or name.startswith(_OPEN):
            continue
        near = get_close_matches(name.lower().replace("_", "-"), KNOWN, 1, _LIKENESS)
        if near:
            warnings.warn(
                f"catalog {catalog!r}: unknown property {name!r} has no effect; did you mean {near[0]!r}?", stacklevel=4
            )
