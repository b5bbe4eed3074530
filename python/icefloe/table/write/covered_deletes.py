"""The delete files of partitions whose rows all match a filter: no row remains to which they apply."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.partitioning import PartitionSpec
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.read_context import schema_json, spec_json
from icefloe.transforms import UnknownTransform, VoidTransform

if TYPE_CHECKING:
    from icefloe.expressions.filter import Filter
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan


def covered_deletes(plan: ScanPlan, metadata: TableMetadata, row_filter: Filter) -> RemovedFiles:
    """Return a plan's delete files in partitions whose rows all match the plan's filter.

    The operation removes all data files of these partitions. An equality delete file of an unpartitioned spec applies to every partition,
    so it is among them only for a filter that selects every row.
    """
    deletes = plan.deletes
    specs = metadata.specs()
    covered = []
    for spec_id in pc.unique(deletes.column("spec_id")).to_pylist():
        own = deletes.filter(pc.equal(deletes.column("spec_id"), spec_id))
        partitions = own.column("partition").dictionary_encode()
        is_covered = _covered_partitions(specs[spec_id], row_filter, partitions.dictionary.to_pylist())
        covered.append(own.filter(is_covered.take(partitions.indices)))
    return RemovedFiles.of(pa.Table.from_batches(covered, deletes.schema))


def _covered_partitions(spec: PartitionSpec, row_filter: Filter, partitions: list[str]) -> pa.BooleanArray:
    """Return in which partitions of a spec all rows match a filter, by the fields of known values whose columns the filter can name."""
    known = [
        place
        for place, field in enumerate(spec.fields)
        if field.source_id in row_filter.schema.field_ids
        and not isinstance(field.transform, UnknownTransform | VoidTransform)
    ]
    if len(known) < len(spec.fields):
        spec = PartitionSpec(*[spec.fields[place] for place in known], spec_id=spec.spec_id)
        tuples = map(json.loads, partitions)
        partitions = [json.dumps([values[place] for place in known]) for values in tuples]
    return _core.covered_partitions(
        schema_json(row_filter.schema),
        spec_json(spec),
        row_filter.json,
        partitions,
        case_sensitive=row_filter.case_sensitive,
    )
