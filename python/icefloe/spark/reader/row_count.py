"""The number of rows of a scan by its plan and its position deletes, without reading a data file."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe.spark.reader.deleted_positions import deleted_positions
from icefloe.table.scan import DataScan
from icefloe.table.scan.plan import has_deletes

if TYPE_CHECKING:
    from icefloe.table.scan import IncrementalAppendScan
    from icefloe.table.scan.plan import ScanPlan

_EXACT = pa.decimal128(38, 0)
_LARGEST = Decimal(2**63 - 1)
MAX_DELETES = 5_000_000
"""Position deletes that the driver reads at most."""


def counted_rows(scan: DataScan | IncrementalAppendScan) -> int | None:
    """Return the number of rows of a scan; None if rows of data files must be read for it.

    Metadata has the number if each file's rows all match the filter and its deletes are position deletes in Parquet, at most
    5,000,000 in all, which are read here.
    """
    if not isinstance(scan, DataScan) or scan.limit is not None:
        return None
    return planned_rows(scan.plan_whole_files())


def planned_rows(plan: ScanPlan) -> int | None:
    """Return the number of rows of a plan of whole files, as `counted_rows`; None if rows of data files must be read for it."""
    if not pc.all(plan.states_rows()).as_py() and plan.files.num_rows > 0:
        return None
    dirty = plan.files.filter(has_deletes(plan.files))
    if dirty.num_rows > 0 and not _has_readable_deletes(dirty, plan.deletes):
        return None
    total = pc.sum(plan.files.column("record_count").cast(_EXACT)).as_py() or Decimal(0)
    if total > _LARGEST:
        return None
    return int(total) - (_deleted_rows(plan, dirty) if dirty.num_rows > 0 else 0)


def _has_readable_deletes(files: pa.RecordBatch, deletes: pa.RecordBatch) -> bool:
    formats = pc.utf8_upper(deletes.column("file_format"))
    return bool(
        pc.all(pc.and_(pc.equal(deletes.column("content"), 1), pc.equal(formats, "PARQUET"))).as_py()
        and pc.sum(deletes.column("record_count").cast(_EXACT)).as_py() <= MAX_DELETES
        and pc.count_distinct(files.column("file_path")).as_py() == files.num_rows
    )


def _deleted_rows(plan: ScanPlan, files: pa.RecordBatch) -> int:
    """Return the number of rows that position deletes remove; delete files may repeat positions."""
    numbers = pa.array(np.arange(files.num_rows, dtype=np.int64))
    deleted = deleted_positions(plan.io.core, files, plan.deletes, numbers)
    key, position = deleted.column("key").to_numpy(), deleted.column("pos").to_numpy()
    counts = files.column("record_count").to_numpy()
    exists = position < counts[key]
    first = np.cumsum(counts) - counts
    return len(np.unique(first[key[exists]] + position[exists]))
