"""Names of tables and namespaces: `"db.events"`, `("db", "events")`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import InvalidIdentifierError, NoSuchTableError

if TYPE_CHECKING:
    from icefloe.typedef import Identifier

SEPARATOR = "."


def to_identifier(identifier: str | Identifier) -> Identifier:
    """Return the levels of a name; text is split at dots.

    Args:
        identifier: Dotted text or a tuple of levels.

    Raises:
        InvalidIdentifierError: A level is empty, contains only whitespace, or is not text.

    Examples:
        >>> to_identifier("db.events")
        ('db', 'events')
    """
    if isinstance(identifier, str):
        levels = tuple(identifier.split(SEPARATOR)) if identifier != "" else ()
    else:
        levels = tuple(identifier) if isinstance(identifier, tuple | list) else (identifier,)
    if not all(isinstance(level, str) and level.strip() != "" for level in levels):
        raise InvalidIdentifierError(
            f"{identifier!r} contains an empty segment or a segment with only whitespace; expected text in every "
            "level, such as 'db.events' or ('db', 'events')"
        )
    return levels


def split_table_identifier(identifier: str | Identifier) -> tuple[Identifier, str]:
    """Return the namespace and the table name of a table identifier.

    Raises:
        NoSuchTableError: The identifier has no namespace.

    Examples:
        >>> split_table_identifier("db.events")
        (('db',), 'events')
    """
    levels = to_identifier(identifier)
    if len(levels) < 2:
        raise NoSuchTableError(f"{identifier!r} is not the name of a table; expected 'namespace.table'")
    return levels[:-1], levels[-1]


def dotted(identifier: str | Identifier) -> str:
    """Return a name as dotted text, the form of error messages and SQL catalogs."""
    return SEPARATOR.join(to_identifier(identifier))
