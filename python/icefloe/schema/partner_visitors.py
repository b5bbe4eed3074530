"""Visitors of a schema together with a partner of the same shape, such as an Arrow schema or an array."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from icefloe.exceptions import ValidationError
from icefloe.schema.schema import Schema
from icefloe.schema.visitors import primitive_method
from icefloe.types import ListType, MapType, PrimitiveType, StructType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.types import (
        BinaryType,
        BooleanType,
        DateType,
        DecimalType,
        DoubleType,
        FixedType,
        FloatType,
        GeographyType,
        GeometryType,
        IcebergType,
        IntegerType,
        LongType,
        NestedField,
        StringType,
        TimestampNanoType,
        TimestampType,
        TimestamptzNanoType,
        TimestamptzType,
        TimeType,
        UnknownType,
        UUIDType,
    )

P = TypeVar("P")
T = TypeVar("T")


class SchemaWithPartnerVisitor(ABC, Generic[P, T]):
    """The result of each type of a schema and its partner, None where the partner lacks the field."""

    def before_field(self, field: NestedField, field_partner: P | None) -> None:
        """Run before the type of a field is visited."""

    def after_field(self, field: NestedField, field_partner: P | None) -> None:
        """Run after the type of a field was visited, also after an error."""

    def before_list_element(self, element: NestedField, element_partner: P | None) -> None:
        """Run before the element of a list is visited; `before_field` unless overridden."""
        self.before_field(element, element_partner)

    def after_list_element(self, element: NestedField, element_partner: P | None) -> None:
        """Run after the element of a list was visited; `after_field` unless overridden."""
        self.after_field(element, element_partner)

    def before_map_key(self, key: NestedField, key_partner: P | None) -> None:
        """Run before the key of a map is visited; `before_field` unless overridden."""
        self.before_field(key, key_partner)

    def after_map_key(self, key: NestedField, key_partner: P | None) -> None:
        """Run after the key of a map was visited; `after_field` unless overridden."""
        self.after_field(key, key_partner)

    def before_map_value(self, value: NestedField, value_partner: P | None) -> None:
        """Run before the value of a map is visited; `before_field` unless overridden."""
        self.before_field(value, value_partner)

    def after_map_value(self, value: NestedField, value_partner: P | None) -> None:
        """Run after the value of a map was visited; `after_field` unless overridden."""
        self.after_field(value, value_partner)

    @abstractmethod
    def schema(self, schema: Schema, schema_partner: P | None, struct_result: T) -> T:
        """Return the result of a schema."""

    @abstractmethod
    def struct(self, struct: StructType, struct_partner: P | None, field_results: Sequence[T]) -> T:
        """Return the result of a struct from the results of its fields."""

    @abstractmethod
    def field(self, field: NestedField, field_partner: P | None, field_result: T) -> T:
        """Return the result of a struct's field from the result of its type."""

    @abstractmethod
    def list(self, list_type: ListType, list_partner: P | None, element_result: T) -> T:
        """Return the result of a list from the result of its element type."""

    @abstractmethod
    def map(self, map_type: MapType, map_partner: P | None, key_result: T, value_result: T) -> T:
        """Return the result of a map from the results of its key and value types."""

    @abstractmethod
    def primitive(self, primitive: PrimitiveType, primitive_partner: P | None) -> T:
        """Return the result of a primitive type."""


class PrimitiveWithPartnerVisitor(SchemaWithPartnerVisitor[P, T]):
    """A visitor of a schema and its partner with a method for each primitive type."""

    def primitive(self, primitive: PrimitiveType, primitive_partner: P | None) -> T:
        """Return the result of the method for the primitive type."""
        result: T = getattr(self, primitive_method(primitive))(primitive, primitive_partner)
        return result

    @abstractmethod
    def visit_boolean(self, boolean_type: BooleanType, partner: P | None) -> T:
        """Return the result of the type `boolean`."""

    @abstractmethod
    def visit_integer(self, integer_type: IntegerType, partner: P | None) -> T:
        """Return the result of the type `int`."""

    @abstractmethod
    def visit_long(self, long_type: LongType, partner: P | None) -> T:
        """Return the result of the type `long`."""

    @abstractmethod
    def visit_float(self, float_type: FloatType, partner: P | None) -> T:
        """Return the result of the type `float`."""

    @abstractmethod
    def visit_double(self, double_type: DoubleType, partner: P | None) -> T:
        """Return the result of the type `double`."""

    @abstractmethod
    def visit_decimal(self, decimal_type: DecimalType, partner: P | None) -> T:
        """Return the result of the type `decimal`."""

    @abstractmethod
    def visit_date(self, date_type: DateType, partner: P | None) -> T:
        """Return the result of the type `date`."""

    @abstractmethod
    def visit_time(self, time_type: TimeType, partner: P | None) -> T:
        """Return the result of the type `time`."""

    @abstractmethod
    def visit_timestamp(self, timestamp_type: TimestampType, partner: P | None) -> T:
        """Return the result of the type `timestamp`."""

    @abstractmethod
    def visit_timestamp_ns(self, timestamp_ns_type: TimestampNanoType, partner: P | None) -> T:
        """Return the result of the type `timestamp_ns`."""

    @abstractmethod
    def visit_timestamptz(self, timestamptz_type: TimestamptzType, partner: P | None) -> T:
        """Return the result of the type `timestamptz`."""

    @abstractmethod
    def visit_timestamptz_ns(self, timestamptz_ns_type: TimestamptzNanoType, partner: P | None) -> T:
        """Return the result of the type `timestamptz_ns`."""

    @abstractmethod
    def visit_string(self, string_type: StringType, partner: P | None) -> T:
        """Return the result of the type `string`."""

    @abstractmethod
    def visit_uuid(self, uuid_type: UUIDType, partner: P | None) -> T:
        """Return the result of the type `uuid`."""

    @abstractmethod
    def visit_fixed(self, fixed_type: FixedType, partner: P | None) -> T:
        """Return the result of the type `fixed`."""

    @abstractmethod
    def visit_binary(self, binary_type: BinaryType, partner: P | None) -> T:
        """Return the result of the type `binary`."""

    @abstractmethod
    def visit_unknown(self, unknown_type: UnknownType, partner: P | None) -> T:
        """Return the result of the type `unknown`."""

    @abstractmethod
    def visit_geometry(self, geometry_type: GeometryType, partner: P | None) -> T:
        """Return the result of the type `geometry`."""

    @abstractmethod
    def visit_geography(self, geography_type: GeographyType, partner: P | None) -> T:
        """Return the result of the type `geography`."""


class PartnerAccessor(ABC, Generic[P]):
    """Access from a partner to the partners of nested fields."""

    @abstractmethod
    def schema_partner(self, partner: P | None) -> P | None:
        """Return the partner of the schema's struct."""

    @abstractmethod
    def field_partner(self, partner_struct: P | None, field_id: int, field_name: str) -> P | None:
        """Return the partner of a struct's field, or None if there is none."""

    @abstractmethod
    def list_element_partner(self, partner_list: P | None) -> P | None:
        """Return the partner of a list's element."""

    @abstractmethod
    def map_key_partner(self, partner_map: P | None) -> P | None:
        """Return the partner of a map's key."""

    @abstractmethod
    def map_value_partner(self, partner_map: P | None) -> P | None:
        """Return the partner of a map's value."""


def visit_with_partner(
    schema_or_type: Schema | IcebergType,
    partner: P | None,
    visitor: SchemaWithPartnerVisitor[P, T],
    accessor: PartnerAccessor[P],
) -> T:
    """Return the result that a visitor computes for a schema or a type and its partner, types inside first.

    Raises:
        ValidationError: The object is neither a schema nor a type.
    """
    kind = schema_or_type
    if isinstance(kind, Schema):
        struct_partner = accessor.schema_partner(partner)
        return visitor.schema(kind, partner, visit_with_partner(kind.as_struct(), struct_partner, visitor, accessor))
    if isinstance(kind, StructType):
        return visitor.struct(kind, partner, [_visit_field(field, partner, visitor, accessor) for field in kind.fields])
    if isinstance(kind, ListType):
        inner = accessor.list_element_partner(partner)
        visitor.before_list_element(kind.element_field, inner)
        try:
            element = visit_with_partner(kind.element_type, inner, visitor, accessor)
        finally:
            visitor.after_list_element(kind.element_field, inner)
        return visitor.list(kind, partner, element)
    if isinstance(kind, MapType):
        return _visit_map(kind, partner, visitor, accessor)
    if isinstance(kind, PrimitiveType):
        return visitor.primitive(kind, partner)
    raise ValidationError(f"Unsupported type: {kind}; expected a schema or a type")


def _visit_field(
    field: NestedField, partner: P | None, visitor: SchemaWithPartnerVisitor[P, T], accessor: PartnerAccessor[P]
) -> T:
    inner = accessor.field_partner(partner, field.field_id, field.name)
    visitor.before_field(field, inner)
    try:
        return visitor.field(field, inner, visit_with_partner(field.field_type, inner, visitor, accessor))
    finally:
        visitor.after_field(field, inner)


def _visit_map(
    kind: MapType, partner: P | None, visitor: SchemaWithPartnerVisitor[P, T], accessor: PartnerAccessor[P]
) -> T:
    inner = accessor.map_key_partner(partner)
    visitor.before_map_key(kind.key_field, inner)
    try:
        key = visit_with_partner(kind.key_type, inner, visitor, accessor)
    finally:
        visitor.after_map_key(kind.key_field, inner)
    inner = accessor.map_value_partner(partner)
    visitor.before_map_value(kind.value_field, inner)
    try:
        value = visit_with_partner(kind.value_type, inner, visitor, accessor)
    finally:
        visitor.after_map_value(kind.value_field, inner)
    return visitor.map(kind, partner, key, value)
