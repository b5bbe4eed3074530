"""The course of every maintenance verb: a plan of the table, the question, exactly that plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.cli.carry_out import Change, Outcome, carry_out
from icefloe.cli.verb import verb
from icefloe.exceptions import IcebergError
from icefloe.table.commit.transaction import INDEFINITE_ERRORS
from icefloe.table.maintenance.branch_plan import has_committed

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

    from icefloe.cli.session import Session
    from icefloe.table import Table
    from icefloe.table.maintenance import MaintenanceTable

    Options = dict[str, Any]


def maintenance_verb(
    name: str, summary: str, options: list[Callable[..., Any]], build: Callable[[MaintenanceTable, Options], Any]
) -> click.Command:
    """Return a verb of the command that plans and runs a maintenance verb.

    Args:
        name: The name of the verb.
        summary: Its help.
        options: Its options, as decorators, and its arguments; one of these is `table`.
        build: Returns the builder of the maintenance verb, with the values of the options.
    """

    def run(session: Session, table: str, dry_run: bool, yes: bool, **values: Any) -> int:
        loaded = session.changeable_table(table)
        return run_maintenance(
            session, name, table, loaded, build(loaded.maintenance, values), dry_run=dry_run, yes=yes
        )

    run.__doc__ = summary
    function: Any = run
    for option in reversed(options):
        function = option(function)
    return verb(name, returns="document", changes=True)(function)


def run_maintenance(
    session: Session, name: str, target: str, table: Table, builder: Any, *, dry_run: bool, yes: bool
) -> int:
    """Plan a maintenance verb of a table, ask, and make exactly the changes of the plan. Return the exit code."""
    plan = builder.plan()
    for warning in plan.warnings:
        session.note(f"warning: {warning}")
    change = Change(
        name,
        target,
        plan.summary(),
        plan.as_dict(),
        plan.rows(),
        is_empty=plan.is_empty,
        is_refused=bool(plan.refusals),
    )

    def make() -> Outcome:
        try:
            result = table.maintenance.execute(plan)
        except INDEFINITE_ERRORS:
            raise
        except IcebergError as error:
            if not has_committed(table.metadata, plan):
                raise
            return Outcome(f"partly done: {error}", {"failures": [str(error)]}, is_partial=True)
        is_partial = getattr(result, "is_partial", False) or bool(getattr(result, "failures", ()))
        return Outcome(result.summary(), result.as_dict(), is_partial=is_partial)

    return carry_out(session, change, make, dry_run=dry_run, yes=yes)


def given(values: Options) -> Options:
    """Return the options that were given: an option that was not has the value None, a flag False."""
    return {name: value for name, value in values.items() if value is not None and value is not False}
