"""The operations that maintain a table: files are deleted and rewritten, and no row changes."""

from __future__ import annotations

import io
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from tests.faults.table_operations import FOREIGN, NEW, ON_READ, TableOperation, on_table

if TYPE_CHECKING:
    from collections.abc import Callable

LATER = datetime(2100, 1, 1, tzinfo=timezone.utc)
"""Every snapshot and file is older."""


def _replace_all_rows(table: Any) -> None:
    """Leave data files, manifests and lists to expired snapshots alone."""
    table.manage_snapshots().remove_branch("side").commit()
    table.overwrite(NEW)


def _expire(table: Any) -> None:
    table.maintenance.expire_snapshots().older_than(LATER).retain_last(1).execute()


def _expire_staged_and_clean(table: Any) -> None:
    table.maintenance.expire_snapshots().older_than(LATER).retain_last(1).clean_expired_metadata().execute()


def _evolve_and_stage(table: Any) -> None:
    """Leave a spec and a staged snapshot to the expiry."""
    table.append(FOREIGN, branch=None)
    with table.update_spec() as update:
        update.add_identity("id")
    _replace_all_rows(table)


def _leave_orphans(table: Any) -> None:
    """Write files that nothing refers to beside the data and the metadata of a table with changed rows."""
    table.delete("id = 2")
    content = io.BytesIO()
    pq.write_table(FOREIGN, content)
    for name in ("data/part=a/orphan.parquet", "data/orphan.parquet", "metadata/orphan.avro"):
        table.io.core.write(f"{table.location()}/{name}", content.getvalue(), overwrite=True)


def _remove_orphans(table: Any) -> None:
    table.maintenance.remove_orphan_files().older_than(LATER).force().execute()


def _rewriting(verb: str, **options: Any) -> Callable[[Any], Any]:
    """Return a function that carries out a verb of maintenance on every file in one commit."""
    return lambda table: getattr(table.maintenance, verb)().options(rewrite_all=True, **options).execute()


def _delete_two_rows(table: Any) -> None:
    table.delete("id = 2")
    table.delete("id = 4")


MAINTENANCE_OPERATIONS = {
    "expire snapshots": TableOperation(on_table(_expire), prepare=_replace_all_rows),
    "expire a staged snapshot and a spec": TableOperation(
        on_table(_expire_staged_and_clean), prepare=_evolve_and_stage
    ),
    "remove orphan files": TableOperation(on_table(_remove_orphans), properties=ON_READ, prepare=_leave_orphans),
    "compact data files": TableOperation(
        on_table(_rewriting("rewrite_data_files", partial_progress_enabled=False)),
        properties=ON_READ,
        prepare=_delete_two_rows,
    ),
    "compact position deletes": TableOperation(
        on_table(_rewriting("rewrite_position_deletes", partial_progress_enabled=False)),
        properties=(*ON_READ, ("write.delete.granularity", "partition")),
        prepare=_delete_two_rows,
    ),
    "compact manifests": TableOperation(on_table(lambda table: table.maintenance.rewrite_manifests().execute())),
}
"""Operations of every catalog that maintain one table."""
