"""Calls that follow writes of a Spark application that change the definition of a table, such as the refresh of an attached catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.spark.session import is_connect, session_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table.commit.committing_table import TableCatalog
    from icefloe.typedef import Identifier

_FOLLOWERS: dict[Any, dict[tuple[str, str], Callable[[TableCatalog, Identifier], None]]] = {}
"""The calls of each application, by session and name."""


def add_schema_follower(spark: Any, name: str, follower: Callable[[TableCatalog, Identifier], None]) -> None:
    """Call a function after each write that changes the definition of a table, in this session or another one of its application.

    Args:
        spark: Session.
        name: Name of the follower in the session.
        follower: The function, which takes the catalog and the identifier of the table. The write has committed. Streaming queries call
            it in threads of their own.
    """
    _FOLLOWERS.setdefault(_application(spark), {})[session_key(spark), name] = follower


def remove_schema_follower(spark: Any, name: str) -> None:
    """Remove a follower of a session, if there is one of this name."""
    _FOLLOWERS.get(_application(spark), {}).pop((session_key(spark), name), None)


def call_schema_followers(spark: Any, catalog: TableCatalog, identifier: Identifier) -> None:
    """Call the followers of a session's application after a commit that has changed the definition of a table."""
    if _FOLLOWERS:
        for follower in list(_FOLLOWERS.get(_application(spark), {}).values()):
            follower(catalog, identifier)


def _application(spark: Any) -> Any:
    """Return a value that the sessions of one Spark application have in common: `foreachBatch` gets a new session for its query.

    A session of Spark Connect stands for itself: the server calls `foreachBatch` in a process without followers.
    """
    return session_key(spark) if is_connect(spark) else spark.sparkContext
