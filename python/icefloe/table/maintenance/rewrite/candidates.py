"""The data files of a scan plan that may be rewritten, with the reasons and the group of each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.maintenance.groups.file_groups import (
    ALL,
    DELETES,
    ORDER,
    SPEC,
    Candidates,
    deletes_of,
    size_reasons,
)
from icefloe.table.maintenance.rewrite.clustering import SORT
from icefloe.table.maintenance.rewrite.origins import origins

if TYPE_CHECKING:
    from icefloe.partitioning import PartitionSpec
    from icefloe.table.maintenance.groups.options import FileSizes, RewriteOptions
    from icefloe.table.maintenance.rewrite.clustering import Clustering
    from icefloe.table.scan.plan import ScanPlan

_POSITION_DELETES = 1


def data_file_candidates(  # noqa: PLR0913 - the facts that reasons depend on
    plan: ScanPlan,
    specs: dict[int, PartitionSpec],
    spec: PartitionSpec,
    clustering: Clustering,
    sizes: FileSizes,
    options: RewriteOptions,
) -> Candidates:
    """Return the files of a plan of whole files with the reasons to rewrite them.

    Args:
        plan: The files, with the delete files that apply to each.
        specs: The table's partition specs by id.
        spec: The partition spec of the new files.
        clustering: The arrangement of rows in the new files.
        sizes: Sizes of input and output files.
        options: The options of the rewrite.
    """
    files = plan.files
    reasons = pc.add(size_reasons(files.column("file_size_in_bytes"), sizes), _delete_reasons(plan, options))
    reasons = pc.add(reasons, _flag(pc.not_equal(files.column("spec_id"), spec.spec_id), SPEC))
    if clustering.strategy == SORT and clustering.order is not None and clustering.order.order_id > 0:
        same = pc.fill_null(pc.equal(files.column("sort_order_id"), clustering.order.order_id), False)
        reasons = pc.add(reasons, _flag(pc.invert(same), ORDER))
    if options.rewrite_all:
        reasons = pc.add(reasons, pa.scalar(ALL, pa.int64()))
    chosen = pc.indices_nonzero(reasons).cast(pa.int64())
    files = files.take(chosen)
    keys, labels = partition_groups(files, specs, spec)
    return Candidates(
        rows=chosen,
        keys=keys,
        labels=labels,
        sizes=files.column("file_size_in_bytes"),
        records=files.column("record_count"),
        ages=pc.fill_null(files.column("data_sequence_number"), 0),
        origins=origins(files.column("file_path"), sizes),
        reasons=reasons.take(chosen),
    )


def partition_groups(
    files: pa.RecordBatch, specs: dict[int, PartitionSpec], spec: PartitionSpec
) -> tuple[pa.Array, list[str | None]]:
    """Return the number of each file's group, and the partition tuple of each group, null for several partitions.

    Files of one partition of the new spec are in one group. The tuple of a file of an older spec is known as far as both specs have
    a field of the same column and transform. While there are such files, all files are grouped by the fields that all specs
    have, so that no two groups write to the same partition.
    """
    tuples = pc.binary_join_element_wise(files.column("spec_id").cast(pa.string()), files.column("partition"), "|")
    encoded = pa.array(tuples).dictionary_encode()
    pairs = [text.split("|", 1) for text in encoded.dictionary.to_pylist()]
    used = {int(spec_id) for spec_id, _ in pairs}
    shared = [_positions(spec, specs[spec_id]) for spec_id in used]
    known = [place for place in range(len(spec.fields)) if all(place in positions for positions in shared)]
    whole = len(known) == len(spec.fields)
    numbers: dict[str, int] = {}
    labels: list[str | None] = []
    keys = []
    for spec_id, partition in pairs:
        values = json.loads(partition)
        positions = _positions(spec, specs[int(spec_id)])
        label = json.dumps([values[positions[place]] for place in known], separators=(",", ":"))
        if label not in numbers:
            numbers[label] = len(labels)
            labels.append(label if whole else None)
        keys.append(numbers[label])
    return pa.array(keys, pa.int32()).take(encoded.indices), labels


def _positions(spec: PartitionSpec, other: PartitionSpec) -> dict[int, int]:
    """Return the place in another spec of each field of a spec that both have, by its place in the spec."""
    theirs = {(field.source_id, str(field.transform)): place for place, field in enumerate(other.fields)}
    found = ((place, theirs.get((field.source_id, str(field.transform)))) for place, field in enumerate(spec.fields))
    return {place: position for place, position in found if position is not None}


def _delete_reasons(plan: ScanPlan, options: RewriteOptions) -> Any:
    """Return `DELETES` for each file with many delete files, or many rows deleted by positions of this file alone."""
    files, deletes = plan.files, plan.deletes
    if deletes.num_rows == 0:
        return pa.repeat(pa.scalar(0, pa.int64()), files.num_rows)
    scoped = pc.and_(
        pc.equal(deletes.column("content"), _POSITION_DELETES), pc.is_valid(deletes.column("referenced_data_file"))
    )
    positions = pc.if_else(scoped, deletes.column("record_count"), 0)
    records = pc.max_element_wise(files.column("record_count"), 1)
    deleted = pc.divide(deletes_of(files, positions).cast(pa.float64()), records.cast(pa.float64()))
    many = pc.greater_equal(deleted, options.delete_ratio_threshold)
    if options.delete_file_threshold is not None:
        ones = pa.repeat(pa.scalar(1, pa.int64()), deletes.num_rows)
        many = pc.or_(many, pc.greater_equal(deletes_of(files, ones), options.delete_file_threshold))
    return _flag(many, DELETES)


def _flag(mask: pa.Array, bit: int) -> pa.Array:
    return pc.multiply(mask.cast(pa.int64()), bit)
