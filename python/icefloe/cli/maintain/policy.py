"""The verb `maintain`: the maintenance that the table's properties configure, in one line for cron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from icefloe.cli.maintain.maintaining import run_maintenance
from icefloe.cli.table_argument import table_argument
from icefloe.cli.verb import check_can_ask, verb

if TYPE_CHECKING:
    from icefloe.cli.session import Session


@verb("maintain", returns="document")
@table_argument
@click.option("--plan", "--dry-run", "dry_run", is_flag=True, help="Show what a run would do, and change nothing.")
@click.option("--run", "--yes", "-y", "yes", is_flag=True, help="Do it without a question.")
def maintain(session: Session, table: str, **values: Any) -> int:
    """Compact, rewrite deletes and manifests, expire snapshots and delete orphans, as the table's properties ask for."""
    if values["dry_run"] and values["yes"]:
        raise click.UsageError("expected one of --plan and --run")
    check_can_ask(dry_run=values["dry_run"], yes=values["yes"], option="--run", preview="--plan")
    loaded = session.changeable_table(table)
    return run_maintenance(session, "maintain", table, loaded, loaded.maintenance.policy(), **values)
