"""Visitors of Arrow schemas: functions define the order of the visit, visitors the results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa

from icefloe.exceptions import FeatureUnsupportedError

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable

T = TypeVar("T")


class PyArrowSchemaVisitor(ABC, Generic[T]):
    """The results of the nodes of an Arrow schema; a node is visited after its children, in the order of the schema.

    The methods ``before_*`` and ``after_*`` run around the visit of a child and do nothing unless overridden.
    """

    def before_field(self, field: pa.Field) -> None:
        """Run before the type of a field is visited."""

    def after_field(self, field: pa.Field) -> None:
        """Run after the type of a field is visited."""

    def before_list_element(self, element: pa.Field) -> None:
        """Run before the element type of a list is visited."""

    def after_list_element(self, element: pa.Field) -> None:
        """Run after the element type of a list is visited."""

    def before_map_key(self, key: pa.Field) -> None:
        """Run before the key type of a map is visited."""

    def after_map_key(self, key: pa.Field) -> None:
        """Run after the key type of a map is visited."""

    def before_map_value(self, value: pa.Field) -> None:
        """Run before the value type of a map is visited."""

    def after_map_value(self, value: pa.Field) -> None:
        """Run after the value type of a map is visited."""

    @abstractmethod
    def schema(self, schema: pa.Schema, struct_result: T) -> T:
        """Return the result of a schema from the result of the struct of its fields."""

    @abstractmethod
    def struct(self, struct: pa.StructType, field_results: builtins.list[T]) -> T:
        """Return the result of a struct from the results of its fields."""

    @abstractmethod
    def field(self, field: pa.Field, field_result: T) -> T:
        """Return the result of a struct's field from the result of its type."""

    @abstractmethod
    def list(self, list_type: pa.ListType, element_result: T) -> T:
        """Return the result of a list of any layout from the result of its element type."""

    @abstractmethod
    def map(self, map_type: pa.MapType, key_result: T, value_result: T) -> T:
        """Return the result of a map from the results of its key and value types."""

    @abstractmethod
    def primitive(self, primitive: pa.DataType) -> T:
        """Return the result of a type without children, such as an extension type."""


def visit_pyarrow(obj: pa.DataType | pa.Schema | pa.Field, visitor: PyArrowSchemaVisitor[T]) -> T:
    """Return the result that a visitor computes for an Arrow schema, field or type.

    Dictionary-encoded and run-end-encoded types are visited as their value types.

    Raises:
        FeatureUnsupportedError: A nested type, such as a union, has no Iceberg type; the message names the column.

    >>> class Depth(PyArrowSchemaVisitor[int]):
    ...     def schema(self, schema, struct_result):
    ...         return struct_result
    ...
    ...     def struct(self, struct, field_results):
    ...         return 1 + max(field_results, default=0)
    ...
    ...     def field(self, field, field_result):
    ...         return field_result
    ...
    ...     def list(self, list_type, element_result):
    ...         return 1 + element_result
    ...
    ...     def map(self, map_type, key_result, value_result):
    ...         return 1 + max(key_result, value_result)
    ...
    ...     def primitive(self, primitive):
    ...         return 0
    >>> visit_pyarrow(pa.schema([("a", pa.int64()), ("b", pa.list_(pa.int64()))]), Depth())
    2
    """
    return _visit(obj, visitor, "")


def _visit(obj: Any, visitor: PyArrowSchemaVisitor[T], path: str) -> T:
    types = pa.types
    if isinstance(obj, pa.Schema):
        return visitor.schema(obj, _visit(pa.struct(list(obj)), visitor, path))
    if isinstance(obj, pa.Field):
        visitor.before_field(obj)
        result = _visit(obj.type, visitor, path + obj.name)
        visitor.after_field(obj)
        return visitor.field(obj, result)
    if types.is_dictionary(obj) or types.is_run_end_encoded(obj):
        return _visit(obj.value_type, visitor, path)
    if types.is_struct(obj):
        prefix = f"{path}." if path else ""
        return visitor.struct(obj, [_visit(field, visitor, prefix) for field in children(obj)])
    if types.is_map(obj):
        visitor.before_map_key(obj.key_field)
        key = _visit(obj.key_type, visitor, f"{path}.key")
        visitor.after_map_key(obj.key_field)
        visitor.before_map_value(obj.item_field)
        value = _visit(obj.item_type, visitor, f"{path}.value")
        visitor.after_map_value(obj.item_field)
        return visitor.map(obj, key, value)
    if is_list(obj):
        visitor.before_list_element(obj.value_field)
        element = _visit(obj.value_type, visitor, f"{path}.element")
        visitor.after_list_element(obj.value_field)
        return visitor.list(obj, element)
    if types.is_nested(obj):
        raise FeatureUnsupportedError(
            f"column {path}: Arrow type {obj} has no Iceberg type; expected a struct, a list or a map"
        )
    return visitor.primitive(obj)


def is_list(kind: pa.DataType) -> bool:
    """Return whether a type is a list of any layout."""
    types = pa.types
    names = ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")
    return any(getattr(types, name)(kind) for name in names if hasattr(types, name))


def children(kind: pa.DataType) -> Iterable[pa.Field]:
    """Return the child fields of a nested type."""
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if is_list(kind):
        return [kind.value_field]
    return [kind.field(position) for position in range(kind.num_fields)]
