"""The files that a change removes from the table's manifests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.manifests_of_partitions import may_list_partitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.table.metadata import TableMetadata

_PARTITIONS = pa.schema([("spec_id", pa.int32()), ("partition", pa.string())])


@dataclass(frozen=True)
class RemovedFiles:
    """Paths of files, and the partitions in which they lie.

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
        columns = {field.name: files.column(field.name).cast(field.type) for field in _PARTITIONS}
        partitions = pa.table(columns).group_by(_PARTITIONS.names).aggregate([]).cast(_PARTITIONS)
        paths = files.column("file_path").cast(pa.string())
        return cls(paths.combine_chunks() if isinstance(paths, pa.ChunkedArray) else paths, partitions)

    @classmethod
    def among(cls, files: pa.RecordBatch | pa.Table, paths: pa.Array) -> RemovedFiles:
        """Return the files of distinct paths, in the partitions that a plan or manifests have them in if they have all of them.

        Args:
            files: As `of`.
            paths: An array of strings.
        """
        known = files.column("file_path")
        found = files.filter(pc.is_in(known, value_set=paths.cast(known.type)))
        return cls.of(found) if found.num_rows == len(paths) else cls(paths)


def may_list(base: TableMetadata, manifests: pa.Table, removed: Sequence[RemovedFiles]) -> pa.Array:
    """Return whether each manifest may list one of the files, by the partitions that it states."""
    partitions = [each.partitions for each in removed if each.partitions is not None]
    if len(partitions) < len(removed):
        return pa.repeat(True, manifests.num_rows)
    return may_list_partitions(base, manifests, pa.concat_tables([_PARTITIONS.empty_table(), *partitions]))
