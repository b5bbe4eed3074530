"""Manifests that may list files of some partitions, by their partition summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.commit.partition_set import PartitionSet
from icefloe.table.read_context import schema_json, spec_json
from icefloe.transforms import IdentityTransform, UnknownTransform, VoidTransform
from icefloe.types import NestedField, UnknownType

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata


def may_list_partitions(base: TableMetadata, manifests: pa.Table, files: pa.Table) -> pa.Array:
    """Return whether each manifest may list a file of the spec and the partition of one of the files.

    Args:
        base: The table.
        manifests: Rows of a manifest list.
        files: Columns `spec_id` and `partition`.
    """
    specs = manifests.column("partition_spec_id")
    found = pa.repeat(False, manifests.num_rows)
    for spec_id in pc.unique(files.column("spec_id")).to_pylist():
        is_own = pc.equal(specs, spec_id).combine_chunks()
        own = manifests.filter(is_own)
        if own.num_rows > 0:
            tuples = pc.unique(files.column("partition").filter(pc.equal(files.column("spec_id"), spec_id)))
            found = pc.replace_with_mask(found, is_own, _of_spec(base, base.specs()[spec_id], own, tuples))
    return found


def _of_spec(base: TableMetadata, spec: PartitionSpec, manifests: pa.Table, tuples: pa.Array) -> pa.BooleanArray:
    """Return whether each manifest of a spec may list a file of one of the partitions."""
    columns = spec.partition_type(base.schema()).fields
    values = PartitionSpec(*map(_value_of, spec.fields, columns), spec_id=spec.spec_id)
    row_filter = PartitionSet(values, Schema(*columns), tuples).bounding_filter
    rows = manifests.combine_chunks().to_batches()[0]
    return _core.prune_manifests(schema_json(row_filter.schema), spec_json(values), row_filter.json, rows)


def _value_of(field: PartitionField, column: NestedField) -> PartitionField:
    """Return a partition field of the column of a field's values, void if the field has none or their type is not known."""
    is_open = isinstance(field.transform, UnknownTransform | VoidTransform) or isinstance(
        column.field_type, UnknownType
    )
    transform = VoidTransform() if is_open else IdentityTransform()
    return PartitionField(column.field_id, column.field_id, transform, column.name)
