"""Spark columns by quoted names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

if TYPE_CHECKING:
    from pyspark.sql import Column


def column_of(*path: str) -> Column:
    """Return the column at a path of names, each quoted: names may have dots and backticks."""
    return F.col(".".join(quoted(part) for part in path))


def quoted(name: str) -> str:
    """Return a column name in backticks."""
    return "`" + name.replace("`", "``") + "`"
