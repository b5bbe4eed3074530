"""The rows for which a merge evaluates the conditions of its join on the source alone, of which Spark's ANSI mode may raise errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.spark.reader.row_location import POSITION
from icefloe.table.row_level.clauses import Match
from icefloe.table.write.isolation import is_merge_on_read

if TYPE_CHECKING:
    from collections.abc import Collection

    from icefloe.typedef import Properties


def evaluated_in_pairs(matches: Collection[Match], properties: Properties) -> bool:
    """Return whether conditions on the source alone are evaluated for pairs of rows with equal keys, not for every source row.

    The Java runtime evaluates them so in joins that keep every source row: Spark moves no condition on one side before an outer join
    that keeps the rows of that side. In copy-on-write, Java first finds the files to rewrite by an inner join, except with a clause of
    target rows without a match, which reads all files.

    Args:
        matches: The rows that the clauses of the merge apply to.
        properties: Table properties.
    """
    finds_files = not is_merge_on_read(properties, "merge") and Match.NOT_MATCHED_BY_SOURCE not in matches
    return Match.NOT_MATCHED in matches and not (finds_files and Match.MATCHED in matches)


def of_pairs(condition: str) -> str:
    """Return a condition as one that Spark evaluates for pairs of rows with equal keys alone.

    Spark evaluates a condition on the source before the join, for every source row, and one on the source and a key of the target too,
    with the source's key in place of the target's. The position of a row is no key.
    """
    return f"CASE WHEN target.`{POSITION}` >= 0 THEN ({condition}) ELSE false END"
