"""Calls that follow writes of a session that change the definition of a table, such as the refresh of an attached catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.spark.session import session_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table.commit.committing_table import TableCatalog
    from icefloe.typedef import Identifier

_FOLLOWERS: dict[str, dict[str, Callable[[TableCatalog, Identifier], None]]] = {}
"""The calls of each session, by name."""


def add_schema_follower(spark: Any, name: str, follower: Callable[[TableCatalog, Identifier], None]) -> None:
    """Call a function after each write of a session that changes the definition of a table.

    Args:
        spark: Session.
        name: Name of the follower in the session.
        follower: The function, which takes the catalog and the identifier of the table. The write has committed.
    """
    _FOLLOWERS.setdefault(session_key(spark), {})[name] = follower


def remove_schema_follower(spark: Any, name: str) -> None:
    """Remove a follower of a session, if there is one of this name."""
    _FOLLOWERS.get(session_key(spark), {}).pop(name, None)


def call_schema_followers(spark: Any, catalog: TableCatalog, identifier: Identifier) -> None:
    """Call the followers of a session after a commit that has changed the definition of a table."""
    if _FOLLOWERS:
        for follower in list(_FOLLOWERS.get(session_key(spark), {}).values()):
            follower(catalog, identifier)
