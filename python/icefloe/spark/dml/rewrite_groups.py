"""The data files that each task of a copy-on-write change rewrites."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.properties.definitions import TARGET_FILE_SIZE
from icefloe.table.scan.plan import with_own_deletes
from icefloe.table.scan.task_group import TaskGroup, batch_to_ipc
from icefloe.table.write.rows import unfiltered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from icefloe.spark.writer.layout import WriteLayout
    from icefloe.table.scan.plan import ScanPlan

    Longs = NDArray[np.int64]

NUMBER = "number"
"""Column of a group's files: the file's row number in the plan of the operation."""

_LEAST_BYTES = 1024 * 1024
"""Spark's `spark.sql.adaptive.coalescePartitions.minPartitionSize`."""
_MOST_BYTES = 128 * 1024 * 1024
"""The bytes of data files that the Java runtime expects a writing task to have."""


def rewrites_by_file(plan: ScanPlan, layout: WriteLayout) -> bool:
    """Return whether tasks that each rewrite some of a plan's files distribute the rows as the layout's mode says.

    Args:
        plan: Plan of whole files.
        layout: Layout of the new files.
    """
    mode = layout.mode()
    if mode == "none":
        return True
    if not layout.is_partitioned:
        return mode == "hash" or not layout.sort_order.fields
    # The rows of a file of another spec belong to any number of partitions.
    spec_ids = plan.files.column("spec_id")
    return mode == "hash" and bool(pc.all(pc.equal(spec_ids, layout.spec.spec_id)).as_py())


def rewrite_groups(plan: ScanPlan, rows: Longs, layout: WriteLayout, cores: int) -> list[Longs]:
    """Return the row numbers of the files that each task rewrites.

    Every core has a task if there are files of a megabyte for it, and a task has at most 128 MiB of files, or the target file size if that
    is less, or a single file. The files of a partition are in one task, unless they have more than these bytes.

    Args:
        plan: Plan of whole files.
        rows: Row numbers of the files to rewrite.
        layout: Layout of the new files.
        cores: Number of tasks that run at the same time.
    """
    sizes = np.maximum(plan.files.column("length").to_numpy(zero_copy_only=False), 1)
    most = min(_MOST_BYTES, TARGET_FILE_SIZE.of(layout.properties))
    share = max(min(most, -(-int(sizes[rows].sum()) // max(cores, 1))), _LEAST_BYTES)
    if not layout.is_partitioned or layout.mode() != "hash":
        return _packed(_single(rows), sizes, share)
    units = [unit for part in _partitions(plan, rows) for unit in _packed(_single(part), sizes, most)]
    return _packed(units, sizes, share)


def task_groups(plan: ScanPlan, groups: list[Longs], *, filtered: bool) -> tuple[TaskGroup, ...]:
    """Return groups of a plan's files for tasks, with the number of each file in the plan.

    Args:
        plan: Plan of whole files.
        groups: Row numbers of the files of each group.
        filtered: The groups have the plan's filter; else they have all rows.
    """
    numbers = pa.array(np.arange(plan.files.num_rows, dtype=np.int32))
    numbered = plan if filtered else unfiltered(plan)
    numbered = replace(numbered, files=numbered.files.append_column(NUMBER, numbers))
    return tuple(_task_group(numbered, rows) for rows in groups)


def _task_group(plan: ScanPlan, rows: Longs) -> TaskGroup:
    files, deletes = with_own_deletes(plan.files.take(pa.array(rows)), plan.deletes)
    properties = dict(plan.io.core.properties)
    return TaskGroup(plan.context, plan.projection, properties, batch_to_ipc(files), batch_to_ipc(deletes))


def _single(rows: Longs) -> list[Longs]:
    return [rows[index : index + 1] for index in range(len(rows))]


def _partitions(plan: ScanPlan, rows: Longs) -> list[Longs]:
    """Return the row numbers of the files of each partition, in the order of its first file."""
    codes = plan.files.column("partition").cast(pa.string()).take(pa.array(rows)).dictionary_encode().indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(codes[order])) + 1)


def _packed(units: list[Longs], sizes: Longs, limit: int) -> list[Longs]:
    """Return consecutive units of files in groups of at most `limit` bytes, or of one unit."""
    groups: list[list[Longs]] = []
    held = 0
    for unit in units:
        size = int(sizes[unit].sum())
        if not groups or held + size > limit:
            groups.append([])
            held = 0
        groups[-1].append(unit)
        held += size
    return [np.concatenate(group) for group in groups]
