"""The sessions that a session is a copy of: Spark copies a session, with its settings, for each streaming query."""

from __future__ import annotations

from typing import Any

from icefloe.spark.session import is_connect, session_key

_SETTING = "spark.icefloe.sessions"
_LINEAGES: dict[str, tuple[str, ...]] = {}
"""The lineage of each session by its id. The settings of a session are read once, since each takes a round trip to the JVM."""


def record_session(spark: Any) -> None:
    """Record the id of a session in its settings, which the copies that Spark makes of it have as well."""
    if is_connect(spark):
        return
    key = session_key(spark)
    others = [one for one in lineage(spark) if one != key]
    spark.conf.set(_SETTING, ",".join([key, *others]))


def lineage(spark: Any) -> tuple[str, ...]:
    """Return the id of a session, and then of the recorded sessions that it is a copy of, its next ancestor first.

    The session of ``newSession()`` is no copy, nor is a session of Spark Connect.
    """
    key = session_key(spark)
    if key not in _LINEAGES:
        recorded = "" if is_connect(spark) else spark.conf.get(_SETTING, "")
        _LINEAGES[key] = tuple(dict.fromkeys([key, *recorded.split(",")])) if recorded else (key,)
    return _LINEAGES[key]
