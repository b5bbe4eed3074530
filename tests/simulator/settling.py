"""The maintenance that follows a history with maintenance."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from icefloe.exceptions import IcebergError

from tests.simulator.maintaining import maintain
from tests.simulator.observation import Files

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table import Table

    from tests.simulator.model import State
    from tests.simulator.prepared import Prepared


def settle(table: Table, state: Callable[[], State], initial: Prepared) -> str | None:
    """Run every verb after a history. Return the first problem: rows that changed, files that are missing, work that is never done."""
    table.refresh()
    before = state()
    try:
        for branch in table.refs():
            if table.refs()[branch].snapshot_ref_type == "branch":
                for verb in ("equality deletes", "compact all", "position deletes", "dangling deletes", "manifests"):
                    maintain(table, verb, branch)
        maintain(table, "expire", "main")
        maintain(table, "policy", "main")
        again = table.maintenance.policy().plan()
        removal = table.maintenance.remove_orphan_files().older_than(datetime.now(timezone.utc) + timedelta(1)).force()
        removal.execute()
    except IcebergError as error:
        return f"maintenance after the history: {type(error).__name__}: {error}"
    if not again.is_empty:
        return f"the policy finds work after it ran: {again}"
    files = Files(table, initial, is_maintained=True)
    if files.missing or files.orphans:
        return f"after maintenance, missing {sorted(files.missing)}, without a reference {sorted(files.orphans)}"
    after = state()
    if (after.refs, after.properties, after.columns) != (before.refs, before.properties, before.columns):
        return f"maintenance changed rows: before {before}, after {after}"
    return None
