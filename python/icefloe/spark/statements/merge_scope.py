"""The names of a MERGE statement: columns of its two tables, under whatever aliases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from icefloe.exceptions import FeatureUnsupportedError, ResolveError
from icefloe.spark.statements.query import parsed
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence


class MergeScope:
    """The names of a MERGE statement.

    Args:
        target: Alias of the target.
        source: Alias of the source.
        target_columns: Columns of the target.
        source_columns: Columns of the source.
    """

    def __init__(self, target: str, source: str, target_columns: Sequence[str], source_columns: Sequence[str]) -> None:
        self._aliases = {target.lower(): "target", source.lower(): "source"}
        self._columns = {"target": list(target_columns), "source": list(source_columns)}

    def rewritten(self, text: str, side: str | None) -> str:
        """Return an expression with every column qualified by ``target`` or ``source``.

        Args:
            text: SQL text.
            side: The only side that it may read; None for both.

        Raises:
            ResolveError: A column does not exist, or both sides have it.
        """
        start = len("SELECT ")
        tree = parsed(f"SELECT {text}")
        if tree.find(exp.Subquery) or tree.find(exp.Exists) or list(tree.find_all(exp.Select))[1:]:
            raise FeatureUnsupportedError(
                f"MERGE: a clause has no subqueries; expected columns of both tables, got {text}: join in the query of USING"
            )
        return _spliced(text, [(begin - start, end - start, new) for begin, end, new in self._edits(tree, side)])

    def text_of(self, part: Any, side: str) -> str:
        """Return a part of the ON condition with every column qualified."""
        return self.rewritten(part.sql("spark"), side)

    def sides(self, part: Any) -> set[str]:
        """Return the sides whose columns a part of the ON condition reads."""
        return {self._resolved(column, None)[0] for column in part.find_all(exp.Column)}

    def target_column(self, part: Any) -> str | None:
        """Return the column of the target that a part of the ON condition is; None for other expressions and nested fields."""
        part = part.unnest()
        if not isinstance(part, exp.Column):
            return None
        side, name, nested, _ = self._resolved(part, None)
        return name if side == "target" and not nested else None

    def assigned_column(self, parts: tuple[str, ...]) -> str:
        """Return the column of the target to which a clause assigns.

        Raises:
            ResolveError: The target has no such column.
        """
        if len(parts) == 2 and self._aliases.get(parts[0].lower()) == "target":
            parts = parts[1:]
        if len(parts) != 1:
            raise FeatureUnsupportedError(
                f"MERGE: {'.'.join(parts)} is not supported; expected a column of the target: set the whole struct with named_struct(...)"
            )
        return self._named("target", parts[0]) or parts[0]

    def _edits(self, tree: Any, side: str | None) -> list[tuple[int, int, str]]:
        edits = []
        for column in tree.find_all(exp.Column):
            if isinstance(column.this, exp.Star):
                raise ResolveError("MERGE: expected columns by name, got *")
            found, name, _, parts = self._resolved(column, side)
            first, last = column.parts[0].meta, column.parts[parts - 1].meta
            edits.append((first["start"], last["end"] + 1, f"{found}.{quoted(name)}"))
        return edits

    def _resolved(self, column: exp.Column, side: str | None) -> tuple[str, str, bool, int]:
        """Return side and name of a column, whether a nested field follows, and how many parts of the text are the column's name."""
        parts = [part.name for part in column.parts]
        alias = self._aliases.get(parts[0].lower()) if len(parts) > 1 else None
        if alias is not None:
            if side is not None and alias != side:
                raise ResolveError(
                    f"MERGE: this clause reads the {side} alone; expected its columns, got {'.'.join(parts)}"
                )
            name = self._named(alias, parts[1])
            if name is None:
                raise ResolveError(
                    f"MERGE: the {alias} has no column {parts[1]!r}; expected one of {', '.join(self._columns[alias])}"
                )
            return alias, name, len(parts) > 2, 2
        found = [(one, self._named(one, parts[0])) for one in ("target", "source") if side in (None, one)]
        known = [(one, name) for one, name in found if name is not None]
        if len(known) != 1:
            problem = "is in both tables" if known else "is in neither table"
            raise ResolveError(
                f"MERGE: column {parts[0]!r} {problem}; expected target or source before it, or another name"
            )
        return known[0][0], known[0][1], len(parts) > 1, 1

    def _named(self, side: str, name: str) -> str | None:
        exact = [one for one in self._columns[side] if one == name]
        similar = exact or [one for one in self._columns[side] if one.lower() == name.lower()]
        return similar[0] if len(similar) == 1 else None


def _spliced(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
