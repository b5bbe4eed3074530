"""The share of a scan's rows that its filter passes, estimated from a sample of rows.

Statistics of files state the least and the greatest value, not how many rows pass. A few pages of the filter's columns do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.spark.reader.row_group_parts import TASK_COLUMNS
from icefloe.table.scan.metadata_columns import FILE_ROW, NO_COLUMNS, POSITION, with_metadata_columns

if TYPE_CHECKING:
    from icefloe.table.scan.plan import ScanPlan

_MOST_FILES = 4
_RUNS, _RUN_ROWS = 8, 256


def passing_share(plan: ScanPlan) -> float:
    """Return the estimated share of a plan's rows that pass its filter, before deletes, from 0 to 1.

    The sample has eight runs of 256 rows of at most four files, at even distances. It is the same for each call. Nothing is read where
    the files are known to have no other rows.

    Args:
        plan: Plan of whole files.
    """
    known = plan.files.filter(pc.greater(plan.files.column("record_count"), 0))
    if pc.all(pc.or_(known.column("must_match"), pc.is_null(known.column("residual")))).as_py() is not False:
        return 1.0
    count = min(_MOST_FILES, known.num_rows)
    files = known.take(pa.array(np.arange(count) * known.num_rows // count))
    runs = _runs(files.column("record_count").to_numpy())
    stream = _core.read(
        plan.io.core,
        plan.context,
        files.select([*TASK_COLUMNS, "residual"]),
        plan.deletes.slice(0, 0),
        projection=with_metadata_columns(NO_COLUMNS, [POSITION]),
        rows=runs,
    )
    passed: int = sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(stream))
    read: int = pc.sum(runs.column("count")).as_py()
    return passed / read


def _runs(rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
    """Return runs of rows to read of files with the given numbers of rows: evenly many of each, at even distances."""
    each = _RUNS // len(rows)
    file = np.repeat(np.arange(len(rows), dtype=np.int32), each)
    part = np.tile(np.arange(each), len(rows))
    starts, ends = rows[file] * part // each, rows[file] * (part + 1) // each
    counts = np.minimum(ends - starts, _RUN_ROWS)
    # Runs in the middle of their parts are less like the first and last rows of a file.
    firsts = starts + (ends - starts - counts) // 2
    runs = pa.table({FILE_ROW: file, "first": firsts, "count": counts})
    return runs.filter(pc.greater(runs.column("count"), 0))
