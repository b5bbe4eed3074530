"""The live data files of a scan plan, divided among groups of files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.scan.plan import with_own_deletes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.table.scan.plan import ScanPlan


@dataclass(frozen=True)
class LiveFiles:
    """The live data files of a scan plan, divided among groups in one pass over the plan.

    Attributes:
        of_groups: For each group its live data files, in the group's order, and the delete files that apply to them.
        others: The data files of no group.
    """

    of_groups: tuple[tuple[pa.RecordBatch, pa.RecordBatch], ...]
    others: pa.RecordBatch

    @classmethod
    def of(cls, scan: ScanPlan, groups: Sequence[pa.RecordBatch]) -> LiveFiles:
        """Return the data files of a plan of whole files, divided among one or more groups.

        Args:
            scan: The plan.
            groups: The files of each group, with a column `file_path`.
        """
        paths = pa.concat_arrays([files.column("file_path") for files in groups])
        owners = pa.concat_arrays(
            [pa.repeat(pa.scalar(place, pa.int32()), files.num_rows) for place, files in enumerate(groups)]
        )
        positions = pc.index_in(scan.files.column("file_path"), value_set=paths)
        counts = {one["values"]: one["counts"] for one in pc.value_counts(owners.take(positions)).to_pylist()}
        files = scan.files.take(pc.sort_indices(positions).slice(0, len(positions) - positions.null_count))
        found, start = [], 0
        for place in range(len(groups)):
            count = counts.get(place, 0)
            found.append(with_own_deletes(files.slice(start, count), scan.deletes))
            start += count
        return cls(tuple(found), scan.files.filter(pc.is_null(positions)))
