"""Equality deletes that apply to rows once a rewrite has moved the rows to another partition spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.io.arrow_values import int_scalar
from icefloe.table.commit.manifest_writer import DELETES, manifests_of
from icefloe.table.commit.manifests_of_partitions import may_list_partitions
from icefloe.table.commit.partition_set import PartitionSet
from icefloe.table.commit.summary import EQUALITY_DELETES
from icefloe.table.read_context import schemas_json, specs_json

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

_COLUMNS = ["file_path", "spec_id", "partition"]


def deletes_of_new_partitions(
    io: FileIO, metadata: TableMetadata, head: Snapshot, new_files: pa.Table, sequence_number: int
) -> pa.Table:
    """Return the equality delete files that apply to new data files, but to no data file of another partition spec.

    They are read from the manifests: a scan plan omits delete files that apply to no data file yet. Delete files of specs without
    partition fields are not among them, because they apply to data files of every spec.

    Args:
        io: Storage.
        metadata: The newest version of the table.
        head: The newest snapshot of the branch.
        new_files: The new data files, columns `spec_id` and `partition`.
        sequence_number: The data sequence number of the new data files.

    Returns:
        The columns `file_path`, `spec_id` and `partition`.
    """
    number = int_scalar(sequence_number, pa.int64())
    partitions = _partitions_of(metadata, new_files)
    manifests = manifests_of(io, head)
    is_newer = pc.greater(manifests.column("sequence_number"), number)
    manifests = manifests.filter(pc.and_(pc.equal(manifests.column("content"), DELETES), is_newer))
    manifests = manifests.filter(may_list_partitions(metadata, manifests, new_files))
    entries = _core.read_manifest(
        io.core, manifests, schema=schemas_json(metadata), specs=specs_json(metadata), keep="live"
    )
    is_equality = pc.equal(entries.column("content"), EQUALITY_DELETES)
    deletes = entries.filter(pc.and_(is_equality, pc.greater(entries.column("sequence_number"), number)))
    deletes = deletes.select(_COLUMNS)
    found = [deletes.filter(each.contains(deletes)) for each in partitions]
    return pa.concat_tables([deletes.slice(0, 0), *found])


def _partitions_of(metadata: TableMetadata, files: pa.Table) -> list[PartitionSet]:
    """Return the partitions of data files, for each spec that has partition fields."""
    found = []
    for spec_id in pc.unique(files.column("spec_id")).to_pylist():
        spec = metadata.specs()[spec_id]
        if not spec.is_unpartitioned():
            own = files.filter(pc.equal(files.column("spec_id"), spec_id))
            found.append(PartitionSet.of_files(own, spec, metadata.schema()))
    return found
