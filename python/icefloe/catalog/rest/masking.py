"""Removal of secrets from text that is shown: addresses, error messages, representations."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MASK = "***"
# Parts of the names of properties whose values are secret.
_SECRET_NAMES = ("token", "credential", "secret", "password", "access-key", "account-key", "authorization", "api-key")
# A value of fewer characters would also mask parts of ordinary words.
_SHORTEST = 4


def secret_values(properties: Mapping[str, object]) -> set[str]:
    """Return the values of properties whose names mark them as secret.

    Examples:
        >>> secret_values({"token": "abcdef", "scope": "catalog"})
        {'abcdef'}
    """
    values: set[str] = set()
    for name, value in properties.items():
        text = str(value)
        if any(part in name.lower() for part in _SECRET_NAMES) and not _is_public(name, text):
            values |= {text, text.rpartition(":")[2]}
    return {value for value in values if len(value) >= _SHORTEST}


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return text with each secret replaced by `***`, also where it is percent-encoded.

    Examples:
        >>> masked("invalid client: abcdef", {"abcdef"})
        'invalid client: ***'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        for spelling in {secret, quote(secret, safe=""), quote(secret)}:
            text = text.replace(spelling, MASK)
    return text


def public_address(uri: str) -> str:
    """Return an address without user, password, query and fragment.

    Examples:
        >>> public_address("https://user:password@catalog.example/api?key=1")
        'https://catalog.example/api'
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return "an invalid address"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _is_public(name: str, text: str) -> bool:
    """Return whether a property whose name has a secret's word is a flag, a number or an address."""
    return text.lower() in ("true", "false") or text.isdecimal() or "://" in text or name.endswith("-enabled")
