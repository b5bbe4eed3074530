"""A set of partitions of one spec: which files lie in it, and the filter of its rows."""

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
    """Distinct partitions of one partition spec.

    Attributes:
        spec: The spec.
        schema: The schema with the spec's source columns.
        tuples: The partition tuples, JSON arrays of single values (spec, Appendix D).
    """

    spec: PartitionSpec
    schema: Schema
    tuples: pa.Array

    @classmethod
    def of_files(cls, files: pa.RecordBatch, spec: PartitionSpec, schema: Schema) -> PartitionSet:
        """Return the partitions of data files that were all written with one spec."""
        return cls(spec, schema, pc.unique(files.column("partition")))

    def contains(self, files: pa.RecordBatch | pa.Table) -> pa.Array:
        """Return a boolean array: whether each file has the spec and lies in one of the partitions.

        Args:
            files: Columns `spec_id` and `partition`.
        """
        return pc.and_(self.has_spec(files), pc.is_in(files.column("partition"), value_set=self.tuples))

    def covers(self, files: pa.RecordBatch | pa.Table) -> pa.Array:
        """Return a boolean array: whether each file lies in one of the partitions, of whatever spec if the partition is the whole table.

        Args:
            files: Columns `spec_id` and `partition`.
        """
        return pa.repeat(True, files.num_rows) if self.is_whole_table else self.contains(files)

    def has_spec(self, files: pa.RecordBatch | pa.Table) -> pa.Array:
        """Return a boolean array: whether each file has the spec. Rows in other files are found by `row_filter`."""
        return pc.equal(files.column("spec_id"), self.spec.spec_id)

    @property
    def is_whole_table(self) -> bool:
        """Whether the spec has no partition fields besides void ones, so that every row of the table is in its one partition."""
        return all(isinstance(field.transform, VoidTransform) for field in self.spec.fields)

    @cached_property
    def row_filter(self) -> Filter:
        """The filter of the rows of the partitions, in files of any spec."""
        fields, tuples = self._fields_and_values
        return Filter(self._any_of(fields, tuples), self.schema) if fields else Filter.everything(self.schema)

    @cached_property
    def bounding_filter(self) -> Filter:
        """A filter that matches all rows of the partitions, and rows of others: one predicate for each field, however many they are."""
        fields, tuples = self._fields_and_values
        if not fields:
            return Filter.everything(self.schema)
        values = [list(dict.fromkeys(each)) for each in zip(*tuples, strict=True)]
        return Filter(reduce(And, map(self._in, fields, values)), self.schema)

    @cached_property
    def _fields_and_values(self) -> tuple[list[PartitionField], list[Values]]:
        """The partition fields without void ones, and the values of these fields in each partition."""
        fields = [field for field in self.spec.fields if not isinstance(field.transform, VoidTransform)]
        positions = [self.spec.fields.index(field) for field in fields]
        tuples = map(json.loads, self.tuples.to_pylist())
        return fields, [tuple(each[position] for position in positions) for each in tuples]

    @cached_property
    def zeros(self) -> Filter | None:
        """The filter of rows with a zero in a floating-point partition column, if a partition has a zero there; else None.

        A filter cannot distinguish 0.0 from -0.0, which are different partitions. With None, `row_filter` is exact.
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
        """Return the filter of partition tuples. Tuples that differ in one field only share one `In` predicate."""
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
        assert name is not None, "the source columns of a spec that files are written with exist"
        identity = isinstance(field.transform, IdentityTransform)
        term = Reference(name) if identity else UnboundTransform(name, field.transform)
        kind = field.transform.result_type(source)
        found: list[BooleanExpression] = [IsNull(term)] if None in values else []
        floating = isinstance(kind, FloatType | DoubleType)
        if floating and "NaN" in values:
            found.append(IsNaN(term))
        ordered = [value for value in values if value is not None and not (floating and value == "NaN")]
        if isinstance(kind, BinaryType | FixedType):
            ordered = [bytes.fromhex(value) for value in ordered]
        if floating:
            ordered = [float(value) for value in ordered]
        if ordered:
            found.append(EqualTo(term, ordered[0]) if len(ordered) == 1 else In(term, ordered))
        return _either(found)


def _either(parts: list[BooleanExpression]) -> BooleanExpression:
    """Return the disjunction of filters, as a tree whose depth is the logarithm of their number."""
    if not parts:
        return AlwaysTrue()
    while len(parts) > 1:
        pairs = [parts[start : start + 2] for start in range(0, len(parts), 2)]
        parts = [Or(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]
