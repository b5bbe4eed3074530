"""The live data files of a scan plan, divided among groups of files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.scan.plan import with_own_deletes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from icefloe.table.scan.plan import ScanPlan


@dataclass(frozen=True)
class LiveFiles:
    """The live data files of a scan plan, divided among groups in one pass over the plan.

    Attributes:
        scan: The plan.
        files: The data files of the groups, group after group, each group in its own order.
        counts: The number of live data files of each group.
        others: The data files of no group.
    """

    scan: ScanPlan
    files: pa.RecordBatch
    counts: tuple[int, ...]
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
        return cls(
            scan,
            files,
            tuple(counts.get(place, 0) for place in range(len(groups))),
            scan.files.filter(pc.is_null(positions)),
        )

    def of_groups(self) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """Yield for each group its live data files, and the delete files that apply to them.

        Groups share delete files, and each gets a copy of their rows: keep the rows of one group at a time.
        """
        start = 0
        for count in self.counts:
            yield with_own_deletes(self.files.slice(start, count), self.scan.deletes)
            start += count
