"""The delete files of partitions whose rows all match a filter: no row remains to which they apply."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.partitioning import PartitionSpec
from icefloe.table.read_context import schema_json, spec_json

if TYPE_CHECKING:
    from icefloe.expressions.filter import Filter
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan

_EVERY_ROW = "true"


def covered_deletes(plan: ScanPlan, metadata: TableMetadata, row_filter: Filter) -> pa.Array:
    """Return the paths of a plan's delete files in partitions whose rows all match the plan's filter.

    The operation removes all data files of these partitions. An equality delete file of an unpartitioned spec applies to every partition,
    so it is returned only for a filter that selects every row.
    """
    deletes = plan.deletes
    if deletes.num_rows == 0:
        return pa.array([], pa.string())
    labels = pc.binary_join_element_wise(
        pc.cast(deletes.column("spec_id"), pa.string()), deletes.column("partition"), " "
    )
    specs = {spec_id: _FilteredSpec.of(spec, row_filter) for spec_id, spec in metadata.specs().items()}
    covered = []
    for label in pc.unique(labels).to_pylist():
        spec_id, partition = label.split(" ", 1)
        if specs[int(spec_id)].is_covered(partition):
            covered.append(label)
    found = deletes.column("file_path").filter(pc.is_in(labels, pa.array(covered, labels.type)))
    return found.cast(pa.string())


@dataclass(frozen=True)
class _FilteredSpec:
    """A filter, and the fields of a partition spec whose columns the filter can name.

    Attributes:
        spec: The spec's JSON, without fields of dropped columns.
        places: The positions of the fields in a tuple; None for all positions.
        schema: The schema's JSON.
        row_filter: The filter.
    """

    spec: str
    places: tuple[int, ...] | None
    schema: str
    row_filter: Filter

    @staticmethod
    def of(spec: PartitionSpec, row_filter: Filter) -> _FilteredSpec:
        known = [place for place, field in enumerate(spec.fields) if field.source_id in row_filter.schema.field_ids]
        own = PartitionSpec(*[spec.fields[place] for place in known], spec_id=spec.spec_id)
        places = None if len(known) == len(spec.fields) else tuple(known)
        return _FilteredSpec(spec_json(own), places, schema_json(row_filter.schema), row_filter)

    def is_covered(self, partition: str) -> bool:
        """Return whether all rows of a partition match, whose tuple is a JSON array."""
        if self.places is not None:
            values = json.loads(partition)
            partition = json.dumps([values[place] for place in self.places])
        residual = _core.residual_filter(
            self.schema, self.spec, self.row_filter.json, partition, case_sensitive=self.row_filter.case_sensitive
        )
        return residual == _EVERY_ROW
