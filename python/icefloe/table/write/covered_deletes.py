"""The delete files of partitions whose rows all match a filter: no row remains to which they apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
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
    specs = {spec_id: spec_json(spec) for spec_id, spec in metadata.specs().items()}
    schema = schema_json(row_filter.schema)
    covered = [
        label
        for label in pc.unique(labels).to_pylist()
        if _is_covered(schema, specs[int(label.split(" ", 1)[0])], row_filter, label.split(" ", 1)[1])
    ]
    found = deletes.column("file_path").filter(pc.is_in(labels, pa.array(covered, labels.type)))
    return found.cast(pa.string())


def _is_covered(schema: str, spec: str, row_filter: Filter, partition: str) -> bool:
    residual = _core.residual_filter(schema, spec, row_filter.json, partition, case_sensitive=row_filter.case_sensitive)
    return residual == _EVERY_ROW
