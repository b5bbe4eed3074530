"""Names of a catalog's tables in Spark's own catalog, whose names have letters, digits and underscores alone."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from icefloe.typedef import Identifier

_OTHER_CHARACTERS = re.compile(r"\W", re.ASCII)


def database_names(name: str, namespaces: Iterable[Identifier]) -> dict[Identifier, str]:
    """Return the Spark database of each namespace: the attached name and the parts of the namespace, joined by underscores.

    Examples:
        >>> database_names("lake", [("db",), ("a", "b"), ("a b",)])
        {('db',): 'lake_db', ('a', 'b'): 'lake_a_b', ('a b',): 'lake_a_b_c8687a08'}
    """
    return _distinct({space: "_".join((name, *space)) for space in namespaces})


def table_names(tables: Iterable[Identifier]) -> dict[Identifier, str]:
    """Return the name of each table of one namespace within its Spark database.

    Examples:
        >>> table_names([("db", "events"), ("db", "a-b")])
        {('db', 'events'): 'events', ('db', 'a-b'): 'a_b'}
    """
    return _distinct({table: table[-1] for table in tables})


def in_any_case(identifier: Identifier, listed: Iterable[Identifier]) -> Identifier | None:
    """Return the listed identifier that differs in case alone, as in catalogs that store names in lower case."""
    folded = [part.lower() for part in identifier]
    return next((one for one in listed if [part.lower() for part in one] == folded), None)


def _distinct(texts: dict[Identifier, str]) -> dict[Identifier, str]:
    """Return a distinct name for each text; a name that two of them claim goes to the one that needs no change for it."""
    names = {identifier: _OTHER_CHARACTERS.sub("_", text).lower() for identifier, text in texts.items()}
    by_claim = sorted(names, key=lambda identifier: (names[identifier] != texts[identifier], identifier))
    owners: dict[str, Identifier] = {}
    for identifier in by_claim:
        if names[identifier] in owners:
            digest = hashlib.sha256("\0".join(identifier).encode()).hexdigest()[:8]
            names[identifier] = f"{names[identifier]}_{digest}"
        owners[names[identifier]] = identifier
    return names
