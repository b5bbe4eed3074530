"""Visitors of schemas and types: functions define the order of the visit, visitors the results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from icefloe.exceptions import ValidationError
from icefloe.schema.schema import Schema
from icefloe.types import ListType, MapType, PrimitiveType, StructType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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

T = TypeVar("T")


class SchemaVisitor(ABC, Generic[T]):
    """The result of each type of a schema; a type is visited after the types inside it."""

    def before_field(self, field: NestedField) -> None:
        """Run before the type of a field is visited."""

    def after_field(self, field: NestedField) -> None:
        """Run after the type of a field was visited."""

    def before_list_element(self, element: NestedField) -> None:
        """Run before the element of a list is visited; `before_field` unless overridden."""
        self.before_field(element)

    def after_list_element(self, element: NestedField) -> None:
        """Run after the element of a list was visited; `after_field` unless overridden."""
        self.after_field(element)

    def before_map_key(self, key: NestedField) -> None:
        """Run before the key of a map is visited; `before_field` unless overridden."""
        self.before_field(key)

    def after_map_key(self, key: NestedField) -> None:
        """Run after the key of a map was visited; `after_field` unless overridden."""
        self.after_field(key)

    def before_map_value(self, value: NestedField) -> None:
        """Run before the value of a map is visited; `before_field` unless overridden."""
        self.before_field(value)

    def after_map_value(self, value: NestedField) -> None:
        """Run after the value of a map was visited; `after_field` unless overridden."""
        self.after_field(value)

    @abstractmethod
    def schema(self, schema: Schema, struct_result: T) -> T:
        """Return the result of a schema."""

    @abstractmethod
    def struct(self, struct: StructType, field_results: Sequence[T]) -> T:
        """Return the result of a struct from the results of its fields."""

    @abstractmethod
    def field(self, field: NestedField, field_result: T) -> T:
        """Return the result of a struct's field from the result of its type."""

    @abstractmethod
    def list(self, list_type: ListType, element_result: T) -> T:
        """Return the result of a list from the result of its element type."""

    @abstractmethod
    def map(self, map_type: MapType, key_result: T, value_result: T) -> T:
        """Return the result of a map from the results of its key and value types."""

    @abstractmethod
    def primitive(self, primitive: PrimitiveType) -> T:
        """Return the result of a primitive type."""


class PreOrderSchemaVisitor(ABC, Generic[T]):
    """The result of each type of a schema; the visitor calls functions for the results of the types inside."""

    @abstractmethod
    def schema(self, schema: Schema, struct_result: Callable[[], T]) -> T:
        """Return the result of a schema."""

    @abstractmethod
    def struct(self, struct: StructType, field_results: Sequence[Callable[[], T]]) -> T:
        """Return the result of a struct."""

    @abstractmethod
    def field(self, field: NestedField, field_result: Callable[[], T]) -> T:
        """Return the result of a struct's field."""

    @abstractmethod
    def list(self, list_type: ListType, element_result: Callable[[], T]) -> T:
        """Return the result of a list."""

    @abstractmethod
    def map(self, map_type: MapType, key_result: Callable[[], T], value_result: Callable[[], T]) -> T:
        """Return the result of a map."""

    @abstractmethod
    def primitive(self, primitive: PrimitiveType) -> T:
        """Return the result of a primitive type."""


class SchemaVisitorPerPrimitiveType(SchemaVisitor[T], ABC):
    """A schema visitor with a method for each primitive type."""

    def primitive(self, primitive: PrimitiveType) -> T:
        """Return the result of the method for the primitive type."""
        result: T = getattr(self, primitive_method(primitive))(primitive)
        return result

    @abstractmethod
    def visit_boolean(self, boolean_type: BooleanType) -> T:
        """Return the result of the type `boolean`."""

    @abstractmethod
    def visit_integer(self, integer_type: IntegerType) -> T:
        """Return the result of the type `int`."""

    @abstractmethod
    def visit_long(self, long_type: LongType) -> T:
        """Return the result of the type `long`."""

    @abstractmethod
    def visit_float(self, float_type: FloatType) -> T:
        """Return the result of the type `float`."""

    @abstractmethod
    def visit_double(self, double_type: DoubleType) -> T:
        """Return the result of the type `double`."""

    @abstractmethod
    def visit_decimal(self, decimal_type: DecimalType) -> T:
        """Return the result of the type `decimal`."""

    @abstractmethod
    def visit_date(self, date_type: DateType) -> T:
        """Return the result of the type `date`."""

    @abstractmethod
    def visit_time(self, time_type: TimeType) -> T:
        """Return the result of the type `time`."""

    @abstractmethod
    def visit_timestamp(self, timestamp_type: TimestampType) -> T:
        """Return the result of the type `timestamp`."""

    @abstractmethod
    def visit_timestamp_ns(self, timestamp_type: TimestampNanoType) -> T:
        """Return the result of the type `timestamp_ns`."""

    @abstractmethod
    def visit_timestamptz(self, timestamptz_type: TimestamptzType) -> T:
        """Return the result of the type `timestamptz`."""

    @abstractmethod
    def visit_timestamptz_ns(self, timestamptz_ns_type: TimestamptzNanoType) -> T:
        """Return the result of the type `timestamptz_ns`."""

    @abstractmethod
    def visit_string(self, string_type: StringType) -> T:
        """Return the result of the type `string`."""

    @abstractmethod
    def visit_uuid(self, uuid_type: UUIDType) -> T:
        """Return the result of the type `uuid`."""

    @abstractmethod
    def visit_fixed(self, fixed_type: FixedType) -> T:
        """Return the result of the type `fixed`."""

    @abstractmethod
    def visit_binary(self, binary_type: BinaryType) -> T:
        """Return the result of the type `binary`."""

    @abstractmethod
    def visit_unknown(self, unknown_type: UnknownType) -> T:
        """Return the result of the type `unknown`."""

    @abstractmethod
    def visit_geometry(self, geometry_type: GeometryType) -> T:
        """Return the result of the type `geometry`."""

    @abstractmethod
    def visit_geography(self, geography_type: GeographyType) -> T:
        """Return the result of the type `geography`."""


def visit(obj: Schema | IcebergType, visitor: SchemaVisitor[T]) -> T:
    """Return the result that a visitor computes for a schema or a type, types inside before the types around them.

    Raises:
        ValidationError: The object is neither a schema nor a type.
    """
    if isinstance(obj, Schema):
        return visitor.schema(obj, visit(obj.as_struct(), visitor))
    if isinstance(obj, StructType):
        results = []
        for field in obj.fields:
            visitor.before_field(field)
            result = visit(field.field_type, visitor)
            visitor.after_field(field)
            results.append(visitor.field(field, result))
        return visitor.struct(obj, results)
    if isinstance(obj, ListType):
        visitor.before_list_element(obj.element_field)
        element = visit(obj.element_type, visitor)
        visitor.after_list_element(obj.element_field)
        return visitor.list(obj, element)
    if isinstance(obj, MapType):
        visitor.before_map_key(obj.key_field)
        key = visit(obj.key_type, visitor)
        visitor.after_map_key(obj.key_field)
        visitor.before_map_value(obj.value_field)
        value = visit(obj.value_type, visitor)
        visitor.after_map_value(obj.value_field)
        return visitor.map(obj, key, value)
    if isinstance(obj, PrimitiveType):
        return visitor.primitive(obj)
    raise ValidationError(f"Cannot visit non-type: {obj}; expected a schema or a type")


def pre_order_visit(obj: Schema | IcebergType, visitor: PreOrderSchemaVisitor[T]) -> T:
    """Return the result that a visitor computes for a schema or a type, which calls functions for the results of the types inside.

    Raises:
        ValidationError: The object is neither a schema nor a type.
    """

    def of_field(field: NestedField) -> T:
        return visitor.field(field, partial(pre_order_visit, field.field_type, visitor))

    if isinstance(obj, Schema):
        return visitor.schema(obj, partial(pre_order_visit, obj.as_struct(), visitor))
    if isinstance(obj, StructType):
        return visitor.struct(obj, [partial(of_field, field) for field in obj.fields])
    if isinstance(obj, ListType):
        return visitor.list(obj, partial(pre_order_visit, obj.element_type, visitor))
    if isinstance(obj, MapType):
        key, value = (partial(pre_order_visit, kind, visitor) for kind in (obj.key_type, obj.value_type))
        return visitor.map(obj, key, value)
    if isinstance(obj, PrimitiveType):
        return visitor.primitive(obj)
    raise ValidationError(f"Cannot visit non-type: {obj}; expected a schema or a type")


def primitive_method(primitive: PrimitiveType) -> str:
    """Return the name of the visitor's method for a primitive type, such as ``visit_long``."""
    method = _METHODS.get(type(primitive).__name__)
    if method is None:
        raise ValidationError(f"Type not recognized: {primitive}; expected a primitive type")
    return method


_METHODS = {
    "BooleanType": "visit_boolean",
    "IntegerType": "visit_integer",
    "LongType": "visit_long",
    "FloatType": "visit_float",
    "DoubleType": "visit_double",
    "DecimalType": "visit_decimal",
    "DateType": "visit_date",
    "TimeType": "visit_time",
    "TimestampType": "visit_timestamp",
    "TimestampNanoType": "visit_timestamp_ns",
    "TimestamptzType": "visit_timestamptz",
    "TimestamptzNanoType": "visit_timestamptz_ns",
    "StringType": "visit_string",
    "UUIDType": "visit_uuid",
    "FixedType": "visit_fixed",
    "BinaryType": "visit_binary",
    "UnknownType": "visit_unknown",
    "GeometryType": "visit_geometry",
    "GeographyType": "visit_geography",
}
