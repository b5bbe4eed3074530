"""The data files that a change removes from the table's manifests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.manifests_of_partitions import may_list_partitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.table.metadata import TableMetadata


@dataclass(frozen=True)
class RemovedFiles:
    """Paths of data files, and the partitions in which they lie.

    Attributes:
        paths: The paths as manifests spell them, an array of strings.
        partitions: Distinct rows of `spec_id` and `partition`, the JSON of a tuple; None if the partitions are not known.
    """

    paths: pa.Array
    partitions: pa.Table | None = None

    @classmethod
    def none(cls) -> RemovedFiles:
        """Return no files."""
        return cls(pa.array([], pa.string()))

    @classmethod
    def of(cls, files: pa.RecordBatch | pa.Table) -> RemovedFiles:
        """Return files of a plan or of manifests.

        Args:
            files: Columns `file_path`, `spec_id` and `partition`, the JSON of a tuple.
        """
        columns = {name: files.column(name) for name in ("spec_id", "partition")}
        columns["partition"] = columns["partition"].cast(pa.string())
        partitions = pa.table(columns).group_by(["spec_id", "partition"]).aggregate([])
        paths = files.column("file_path").cast(pa.string())
        return cls(paths.combine_chunks() if isinstance(paths, pa.ChunkedArray) else paths, partitions)

    @classmethod
    def among(cls, files: pa.RecordBatch | pa.Table, paths: pa.Array) -> RemovedFiles:
        """Return those of a plan's files that have one of some paths.

        Args:
            files: As `of`, with a row for each of the paths.
            paths: An array of strings.
        """
        known = files.column("file_path")
        return cls.of(files.filter(pc.is_in(known, value_set=paths.cast(known.type))))


def may_list(base: TableMetadata, manifests: pa.Table, removed: Sequence[RemovedFiles]) -> pa.Array:
    """Return whether each manifest may list one of the files, by the partitions that it states."""
    partitions = [each.partitions for each in removed if each.partitions is not None]
    if len(partitions) < len(removed):
        return pa.repeat(True, manifests.num_rows)
    return may_list_partitions(base, manifests, pa.concat_tables(partitions))
