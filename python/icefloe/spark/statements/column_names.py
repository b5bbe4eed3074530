"""Names in statements, under the case rule of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.row_level.clause_sql.scope import named

if TYPE_CHECKING:
    from collections.abc import Sequence


def column_named(name: str, names: Sequence[str], *, case_sensitive: bool) -> str | None:
    """Return the column of a name: exactly, or in sessions that ignore case the only one that differs in case alone.

    Examples:
        >>> column_named("ID", ["id", "name"], case_sensitive=False)
        'id'
        >>> column_named("ID", ["id", "name"], case_sensitive=True) is None
        True
    """
    if case_sensitive:
        return name if name in names else None
    return named(name, names)


def folded(name: str, *, case_sensitive: bool) -> str:
    """Return the text under which a session compares a name."""
    return name if case_sensitive else name.lower()
