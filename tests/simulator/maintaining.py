"""The maintenance verbs of histories, performed on real tables."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icefloe.table.maintenance.fold.fold_changes import FilesFold

from tests.simulator.prepared import START_MS, files_below

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.table import Table

    from tests.simulator.prepared import Prepared

START = datetime.fromtimestamp(START_MS / 1000, timezone.utc)
LATER = START + timedelta(hours=10)
"""A time after every commit of a history, whatever the clock of its client."""
ORPHANS = ("data/orphan.parquet", "metadata/orphan.avro")
"""Files below the table's directory that no snapshot refers to and that are ten days older than the history."""
POLICY = {
    "maintenance.compact.min-small-files": "2",
    "maintenance.compact.max-deletes-per-file": "1",
    "maintenance.deletes.min-files": "2",
    "maintenance.manifests.min-count": "2",
    "history.expire.max-snapshot-age-ms": "1",
    "write.icefloe.fold-min-files": "8",
}
"""Table properties by which the policy, and the fold of small files, have something to do in small tables."""


def _rewrite(table: Any, branch: str, **options: Any) -> Any:
    # One thread at a time, so that a history repeats.
    options = {"max_concurrent_file_group_rewrites": 1, "min_input_files": 2, **options}
    return table.maintenance.rewrite_data_files().branch(branch).options(**options)


VERBS: dict[str, Callable[[Any, str], Any]] = {
    "compact": lambda table, branch: _rewrite(table, branch, delete_file_threshold=1),
    "compact all": lambda table, branch: _rewrite(table, branch, rewrite_all=True, remove_dangling_deletes=True),
    "compact group by group": lambda table, branch: _rewrite(
        table, branch, rewrite_all=True, max_file_group_input_files=2, partial_progress_enabled=True
    ),
    "compact at new sequence numbers": lambda table, branch: _rewrite(
        table, branch, rewrite_all=True, use_starting_sequence_number=False
    ),
    "sort": lambda table, branch: _rewrite(table, branch, rewrite_all=True),
    "position deletes": lambda table, branch: (
        table.maintenance.rewrite_position_deletes().branch(branch).options(rewrite_all=True)
    ),
    "equality deletes": lambda table, branch: table.maintenance.convert_equality_deletes().branch(branch),
    "dangling deletes": lambda table, branch: table.maintenance.remove_dangling_deletes().branch(branch),
    "manifests": lambda table, branch: table.maintenance.rewrite_manifests().branch(branch),
    "expire": lambda table, _: table.maintenance.expire_snapshots().older_than(LATER),
    "expire with metadata": lambda table, _: (
        table.maintenance.expire_snapshots().older_than(LATER).retain_last(2).clean_expired_metadata()
    ),
    "orphans": lambda table, _: table.maintenance.remove_orphan_files().older_than(START).force(),
    "policy": lambda table, _: table.maintenance.policy(),
    "fold": FilesFold,
}
"""The builder of each verb for a table and a branch."""
WITHOUT_PLAN = ("fold",)


def maintain(table: Table, verb: str, branch: str) -> None:
    """Run a verb; with `planned` before its name, plan it first and execute the plan."""
    name = verb.removeprefix("planned ")
    builder = VERBS[name](table, branch)
    if name == "sort":
        builder.sort("id, value")
    if name == verb:
        builder.execute()
    else:
        table.maintenance.execute(builder.plan())


def age_files(initial: Prepared) -> None:
    """Add orphan files to a table, and make all files of the table ten days older than the history."""
    for name in ORPHANS:
        Path(initial.directory, name).write_bytes(b"orphan")
    seconds = START_MS / 1000 - 864_000
    for path in files_below(initial.directory):
        os.utime(path, (seconds, seconds))
