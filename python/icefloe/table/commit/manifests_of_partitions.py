"""Manifests that may list files of some partitions, by their partition summaries."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.expressions import And, BooleanExpression, EqualTo, IsNaN, IsNull, Or
from icefloe.expressions.rest_json import expression_to_json
from icefloe.manifest import ManifestEntry
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import IdentityTransform

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata


def may_list_partitions(base: TableMetadata, manifests: pa.Table, files: pa.Table) -> pa.Array:
    """Return whether each manifest may list a file of the spec and the partition of one of the files.

    Args:
        base: The table.
        manifests: Rows of a manifest list.
        files: Entries of manifests.
    """
    found = [False] * manifests.num_rows
    specs = manifests.column("partition_spec_id").to_pylist()
    for spec_id in set(files.column("spec_id").to_pylist()):
        places = [place for place, other in enumerate(specs) if other == spec_id]
        if places:
            own = files.filter(pc.equal(files.column("spec_id"), spec_id))
            might_match = _of_spec(base, base.specs()[spec_id], manifests.take(places), own)
            for place, value in zip(places, might_match, strict=True):
                found[place] = value
    return pa.array(found, pa.bool_())


def _of_spec(base: TableMetadata, spec: PartitionSpec, manifests: pa.Table, files: pa.Table) -> list[bool]:
    fields = spec.partition_type(base.schema()).fields
    if not fields:
        return [True] * manifests.num_rows
    types = [field.field_type for field in fields]
    tuples = {ManifestEntry.from_row(row, types).data_file.partition for row in files.to_pylist()}
    names = [field.name for field in fields]
    partition_filter = reduce(Or, (_is_partition(names, values) for values in tuples))
    identity = [PartitionField(one.field_id, one.field_id, IdentityTransform(), one.name) for one in fields]
    might_match: list[bool] = _core.prune_manifests(
        Schema(*fields).model_dump_json(),
        PartitionSpec(*identity, spec_id=spec.spec_id).model_dump_json(),
        expression_to_json(partition_filter, for_core=True),
        manifests.combine_chunks().to_batches()[0],
    ).to_pylist()
    return might_match


def _is_partition(names: list[str], values: Any) -> BooleanExpression:
    def is_value(name: str, value: Any) -> BooleanExpression:
        if value is None:
            return IsNull(name)
        return IsNaN(name) if isinstance(value, float) and math.isnan(value) else EqualTo(name, value)

    first, *others = map(is_value, names, values)
    return reduce(And, others, first)
