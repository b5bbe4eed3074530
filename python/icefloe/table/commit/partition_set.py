"""A set of partitions of one spec: the files that lie in it, and the filter of the rows that fall into it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.expressions import (
    AlwaysTrue,
    And,
    BooleanExpression,
    EqualTo,
    In,
    IsNaN,
    IsNull,
    Or,
    Reference,
    UnboundTransform,
)
from icefloe.expressions.filter import Filter
from icefloe.transforms import IdentityTransform, VoidTransform
from icefloe.types import BinaryType, DoubleType, FixedType, FloatType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.partitioning import PartitionField, PartitionSpec
    from icefloe.schema import Schema

    Values = tuple[Any, ...]


@dataclass(frozen=True)
class PartitionSet:
    """Some partitions of one partition spec.

    Attributes:
        spec: The spec.
        schema: The schema that the spec's columns are found in.
        tuples: Distinct partition tuples, JSON arrays of the spec's single values.
    """

    spec: PartitionSpec
    schema: Schema
    tuples: pa.Array

    @classmethod
    def of_files(cls, files: pa.RecordBatch, spec: PartitionSpec, schema: Schema) -> PartitionSet:
        """Return the partitions that data files lie in, all of them written under one spec."""
        return cls(spec, schema, pc.unique(files.column("partition")))

    def holds(self, files: pa.RecordBatch | pa.Table) -> pa.Array:
        """Return for each file whether it is of the spec and in one of the partitions.

        Args:
            files: Columns `spec_id` and `partition`.
        """
        return pc.and_(self.is_own(files), pc.is_in(files.column("partition"), value_set=self.tuples))

    def is_own(self, files: pa.RecordBatch | pa.Table) -> pa.Array:
        """Return for each file whether it is of the spec; rows of other files are found by `row_filter` alone."""
        return pc.equal(files.column("spec_id"), self.spec.spec_id)

    @cached_property
    def row_filter(self) -> Filter:
        """The filter of the rows that fall into the partitions, whatever spec their files are of."""
        fields = [field for field in self.spec.fields if not isinstance(field.transform, VoidTransform)]
        if not fields:
            return Filter.everything(self.schema)
        positions = [self.spec.fields.index(field) for field in fields]
        tuples = [tuple(each[position] for position in positions) for each in map(json.loads, self.tuples.to_pylist())]
        return Filter(self._any_of(fields, tuples), self.schema)

    @cached_property
    def zeros(self) -> Filter | None:
        """The filter of rows with a zero in a floating-point partition column, where some partition is that of a zero.

        A filter does not tell 0.0 from -0.0, which are different partitions. None where `row_filter` is exact.
        """
        found: list[BooleanExpression] = []
        for position, field in enumerate(self.spec.fields):
            name = self.schema.find_column_name(field.source_id)
            kind = self.schema.find_type(name) if name is not None else None
            if isinstance(field.transform, IdentityTransform) and isinstance(kind, FloatType | DoubleType):
                values = [json.loads(text)[position] for text in self.tuples.to_pylist()]
                if any(value in (0.0, "0.0", "-0.0") for value in values):
                    found.append(EqualTo(Reference(str(name)), 0.0))
        return Filter(_either(found), self.schema) if found else None

    def _any_of(self, fields: Sequence[PartitionField], tuples: list[Values]) -> BooleanExpression:
        """Return the filter of some tuples, those that differ in one field alone as one set of its values."""
        widest = max(range(len(fields)), key=lambda index: len({values[index] for values in tuples}))
        groups: dict[Values, list[Any]] = defaultdict(list)
        for values in tuples:
            groups[values[:widest] + values[widest + 1 :]].append(values[widest])
        others = [*fields[:widest], *fields[widest + 1 :]]
        return _either(
            [
                reduce(
                    And,
                    [self._in(field, [value]) for field, value in zip(others, rest, strict=True)],
                    self._in(fields[widest], values),
                )
                for rest, values in groups.items()
            ]
        )

    def _in(self, field: PartitionField, values: list[Any]) -> BooleanExpression:
        name = self.schema.find_column_name(field.source_id)
        source = self.schema.find_field(field.source_id).field_type
        assert name is not None, "a spec under which files are written has its columns"
        identity = isinstance(field.transform, IdentityTransform)
        term = Reference(name) if identity else UnboundTransform(name, field.transform)
        kind = field.transform.result_type(source)
        found: list[BooleanExpression] = [IsNull(term)] if None in values else []
        floating = isinstance(kind, FloatType | DoubleType)
        if floating and "NaN" in values:
            found.append(IsNaN(term))
        known = [value for value in values if value is not None and not (floating and value == "NaN")]
        if isinstance(kind, BinaryType | FixedType):
            known = [bytes.fromhex(value) for value in known]
        if floating:
            known = [float(value) for value in known]
        if known:
            found.append(EqualTo(term, known[0]) if len(known) == 1 else In(term, known))
        return _either(found)


def _either(parts: list[BooleanExpression]) -> BooleanExpression:
    """Return the disjunction of filters, as a tree whose depth is the logarithm of their number."""
    if not parts:
        return AlwaysTrue()
    while len(parts) > 1:
        pairs = [parts[start : start + 2] for start in range(0, len(parts), 2)]
        parts = [Or(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]
