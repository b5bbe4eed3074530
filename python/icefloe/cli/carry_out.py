"""The course of every change: show the plan, ask, make the change, write the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.failure import ExitCode
from icefloe.table.maintenance.display import rows_as_text
from icefloe.table.scan.progress import DRAWS_BARS

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from icefloe.cli.session import Session


@dataclass(frozen=True)
class Change:
    """The plan of a verb.

    Attributes:
        verb: The verb.
        target: The table or namespace.
        summary: The change in one sentence.
        values: The change as JSON values.
        rows: The things that change, one row for each, None if the sentence says it all.
        is_empty: Whether there is nothing to do.
        is_refused: Whether a part of the change cannot be made; a run that makes the rest is partly done.
    """

    verb: str
    target: str
    summary: str
    values: dict[str, Any] = field(default_factory=dict)
    rows: pa.Table | None = None
    is_empty: bool = False
    is_refused: bool = False

    def text(self) -> str:
        """Return the change as text: the sentence, and the first rows."""
        return self.summary if self.rows is None else rows_as_text(self.summary, self.rows)


@dataclass(frozen=True)
class Outcome:
    """The result of a verb.

    Attributes:
        summary: The outcome in one sentence.
        values: The outcome as JSON values.
        is_partial: Whether a part of the change failed.
    """

    summary: str
    values: dict[str, Any] = field(default_factory=dict)
    is_partial: bool = False


def carry_out(session: Session, change: Change, make: Callable[[], Outcome], *, dry_run: bool, yes: bool) -> ExitCode:
    """Make a change after a person has agreed, and write the result. Return the exit code.

    Args:
        session: The session.
        change: The change.
        make: Makes the change.
        dry_run: Whether to write the plan and change nothing.
        yes: Whether to make the change without a question.
    """
    if dry_run or change.is_empty:
        _write(session, change, None, dry_run=dry_run)
        return ExitCode.PARTLY if change.is_refused and not dry_run else ExitCode.DONE
    if not yes:
        click.echo(change.text(), err=True)
        if not click.confirm("Go ahead?", err=True):
            session.note("Nothing was changed.")
            return ExitCode.FAILED
    before = DRAWS_BARS.set(not session.quiet)
    try:
        outcome = make()
    finally:
        DRAWS_BARS.reset(before)
    _write(session, change, outcome, dry_run=False)
    return ExitCode.PARTLY if outcome.is_partial else ExitCode.DONE


def _write(session: Session, change: Change, outcome: Outcome | None, *, dry_run: bool) -> None:
    values = {
        "verb": change.verb,
        "target": change.target,
        "dry_run": dry_run,
        "nothing_to_do": change.is_empty,
        "plan": {"summary": change.summary, **change.values},
        "result": None
        if outcome is None
        else {"summary": outcome.summary, "partly": outcome.is_partial, **outcome.values},
    }
    if outcome is not None:
        text = outcome.summary
    else:
        text = f"[dry run] {change.text()}" if dry_run and not change.is_empty else change.text()
    session.output.document(values, _Plain(text))


class _Plain(str):
    """Text that rich prints as it is: square brackets are no markup."""

    __slots__ = ()

    def __rich__(self) -> Any:
        from rich.text import Text

        return Text(str(self))
