"""The data files that position delete files refer to, and the check that they are live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationException
from icefloe.io.arrow_values import int_scalar
from icefloe.table.commit.manifest_writer import DATA
from icefloe.table.commit.manifests_of_partitions import may_list_partitions
from icefloe.table.commit.summary import file_columns

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.commit.manifest_writer import ManifestWriter
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

_FILE_PATH_ID = 2147483546
# Read at once, so that memory does not grow with the table.
_MOST_MANIFESTS = 32


def referenced_paths(deletes: pa.RecordBatch | pa.Table) -> pa.ChunkedArray | pa.Array:
    """Return the one data file of each position delete file: `referenced_data_file`, else equal bounds of `file_path`."""
    field_id = int_scalar(_FILE_PATH_ID, pa.int32())
    lower, upper = (pc.map_lookup(deletes.column(name), field_id, "first") for name in ("lower_bounds", "upper_bounds"))
    stated = pc.if_else(pc.equal(lower, upper), lower, pa.nulls(1, lower.type)[0])
    return pc.coalesce(deletes.column("referenced_data_file"), stated.cast(pa.string()))


def absent_data_files(
    writer: ManifestWriter, base: TableMetadata, head: Snapshot | None, paths: pa.Array, deletes: list[pa.RecordBatch]
) -> pa.Array:
    """Return which of some paths are not those of live data files of a snapshot.

    Manifests that may list files of the partitions of the delete files are read first, and the others for the remaining paths alone: the
    planner finds the data file of a delete file by its path, in whatever partition the delete file is.

    Args:
        writer: The writer of the commit.
        base: The table.
        head: The snapshot; None has no files.
        paths: Absolute paths.
        deletes: The delete files that refer to them.
    """
    absent = pc.unique(paths)
    partitions = file_columns(*deletes)
    manifests = writer.list_of(head)
    manifests = manifests.filter(pc.equal(manifests.column("content"), int_scalar(DATA, pa.int32())))
    is_near = may_list_partitions(base, manifests, partitions)
    for read in (manifests.filter(is_near), manifests.filter(pc.invert(is_near))):
        for start in range(0, read.num_rows, _MOST_MANIFESTS):
            if len(absent) == 0:
                break
            live = writer.live_entries(base, read.slice(start, _MOST_MANIFESTS), statistics=False)
            paths = live.column("file_path").cast(pa.string()).combine_chunks()
            absent = absent.filter(pc.invert(pc.is_in(absent, paths)))
    return absent


def absolute_paths(io: FileIO, paths: pa.Array) -> pa.Array:
    """Return paths as manifests that are read have them: those relative to the working directory become absolute."""
    return pa.array([io.core.absolute(path) for path in pc.unique(paths).to_pylist()], pa.string())


def refuse_absent(absent: pa.Array) -> None:
    """Raise ValidationException for paths of data files that are not live."""
    if len(absent) > 0:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise ValidationException(
            f"cannot delete rows of {absent[0]}{more}: the data file is not part of the table, or not any more; reload the table and "
            "repeat the operation"
        )
