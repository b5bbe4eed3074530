"""The WHEN clauses of a merge: which rows each one applies to, and its action.

Clauses are plain values. Python evaluates them over Arrow batches (`arrow_clauses`), Spark as columns of a join.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_mapping
from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Match(Enum):
    """The rows that a clause applies to, by whether source and target have equal keys."""

    MATCHED = "matched"
    NOT_MATCHED = "not_matched"
    NOT_MATCHED_BY_SOURCE = "not_matched_by_source"


class Action(Enum):
    """The effect of a clause on a row."""

    UPDATE = "update"
    DELETE = "delete"
    INSERT = "insert"


_LITERALS = {"true": True, "false": False, "null": False}


@dataclass(frozen=True)
class Clause:
    """A WHEN of a merge.

    Attributes:
        match: The rows that the clause applies to.
        action: The effect on these rows.
        condition: Condition that a row must meet as well, in any form that the merge accepts; None for every row.
        values: Column name to new value; None for the source's column of the same name in every column.
        label: The clause in error messages.
    """

    match: Match
    action: Action
    condition: Any = None
    values: Mapping[str, Any] | None = None
    label: str = "merge"

    def reads_target(self) -> bool:
        """Return whether the clause may read target columns that are not keys."""
        return self.match is not Match.NOT_MATCHED and (self.condition is not None or self.values is not None)

    def literal_condition(self) -> bool | None:
        """Return whether the clause applies to all of its rows (True) or to none (False), without binding; None if that is not known.

        >>> Clause(Match.MATCHED, Action.DELETE, "NULL").literal_condition()
        False
        """
        if self.condition is None:
            return True
        return _LITERALS.get(self.condition.strip().lower()) if isinstance(self.condition, str) else None


def check_reachable(clauses: Sequence[Clause], applies: Sequence[bool | None]) -> None:
    """Check that each clause can apply to a row.

    Args:
        clauses: Clauses of the same rows, in order.
        applies: For each clause, True if it applies to all of these rows, False if it applies to none, None if its condition decides.

    Raises:
        ValidationError: A condition is never true, or an earlier clause applies to every row.
    """
    everything: Clause | None = None
    for clause, of_all in zip(clauses, applies, strict=True):
        if everything is not None:
            given = "" if everything.condition is None else f", got {str(everything.condition)!r}"
            raise ValidationError(
                f"{clause.label}: the clause can never apply; expected a condition in {everything.label}, which applies to every "
                f"row{given}: add one, or add this clause first"
            )
        if of_all is False:
            raise ValidationError(
                f"{clause.label}: the clause can never apply; expected a condition that is true for some rows, got "
                f"{str(clause.condition)!r}: correct it, or leave the clause out"
            )
        if of_all is True:
            everything = clause


@dataclass(frozen=True)
class Clauses:
    """The clauses of a merge, in the order in which they were added.

    For each row, the first clause applies whose rows include it and whose condition is true.

    Attributes:
        in_order: All clauses.
    """

    in_order: tuple[Clause, ...] = ()

    def added(self, match: Match, action: Action, condition: Any, values: Mapping[str, Any] | None) -> Clauses:
        """Return the clauses and one more.

        Raises:
            ValidationError: `values` is empty, or None where no source row supplies the values; or the clause can never apply: its
                condition is the literal `false` or `null`, or an earlier clause applies to every row of the clause.
        """
        label = f"merge, clause {len(self.in_order) + 1} (when_{match.value}_{action.value})"
        of_match = [*self.of(match), Clause(match, action, condition, values, label)]
        check_reachable(of_match, [clause.literal_condition() for clause in of_match])
        if values is not None:
            checked_mapping(label, values, "column names to values")
        if values is not None and not values:
            raise ValidationError(f"{label}: no column to set; expected column names with their values, got {values!r}")
        if values is None and match is Match.NOT_MATCHED_BY_SOURCE and action is Action.UPDATE:
            raise ValidationError(
                f"{label}: no source row to take values from; expected set={{'column': value}}, got None"
            )
        copied = None if values is None else dict(values)
        return Clauses((*self.in_order, Clause(match, action, condition, copied, label)))

    def of(self, match: Match) -> list[Clause]:
        """Return the clauses that apply to the same rows."""
        return [clause for clause in self.in_order if clause.match is match]

    @property
    def delete_all_matched(self) -> bool:
        """Whether the only clause of matched rows deletes them all. As in Spark, several source rows may match a row then."""
        of_matched = self.of(Match.MATCHED)
        return len(of_matched) == 1 and of_matched[0].action is Action.DELETE and of_matched[0].condition is None

    def require_any(self) -> None:
        """Raise ValidationError when there is no clause."""
        if not self.in_order:
            raise ValidationError(
                "merge: no clause; expected at least one, such as when_matched_update() or when_not_matched_insert(): "
                "add it before execute()"
            )
