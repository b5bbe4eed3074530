"""Partition specs: which values of a row say what partition it belongs to. Spec: Partitioning."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import StrictInt, StrictStr, model_validator

from icefloe.conversions import to_json_value
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.transforms import IdentityTransform, Transform, UnknownTransform, VoidTransform
from icefloe.transforms.parsing import TransformField
from icefloe.typedef import JsonModel, Record
from icefloe.types import IcebergType, NestedField, PrimitiveType, StructType, UnknownType

if TYPE_CHECKING:
    from icefloe.schema import Schema

INITIAL_PARTITION_SPEC_ID = 0
PARTITION_FIELD_ID_START = 1000


class PartitionField(JsonModel):
    """One value of a partition tuple.

    Args:
        source_id: Id of the column that the value follows from.
        field_id: Id of the value, 1000 or more, unique among all specs of the table.
        transform: The rule, or its text.
        name: Name of the value in paths and metadata tables.

    >>> str(PartitionField(4, 1000, "day", "ts_day"))
    '1000: ts_day: day(4)'
    """

    source_id: StrictInt
    field_id: StrictInt
    transform: TransformField
    name: StrictStr

    def __init__(
        self,
        source_id: int | None = None,
        field_id: int | None = None,
        transform: Transform | str | None = None,
        name: str | None = None,
        **data: Any,
    ) -> None:
        given = {"source-id": source_id, "field-id": field_id, "transform": transform, "name": name}
        super().__init__(**{key: value for key, value in given.items() if value is not None}, **data)

    @model_validator(mode="before")
    @classmethod
    def _one_source(cls, data: Any) -> Any:
        """Accept ``source-ids`` of one id, as format version 3 may write it."""
        if isinstance(data, dict) and "source-ids" in data and "source-id" not in data:
            ids = data["source-ids"]
            if not isinstance(ids, list) or len(ids) == 0:
                raise ValidationError(f"source-ids are a list of field ids, found {ids!r}")
            if len(ids) > 1:
                raise FeatureUnsupportedError(f"a transform of several columns is not supported: source-ids {ids}")
            data = {**data, "source-id": ids[0]}
        return data

    def __str__(self) -> str:
        return f"{self.field_id}: {self.name}: {self.transform}({self.source_id})"


class PartitionSpec(JsonModel):
    """The partition fields of files written under this spec, in order.

    >>> spec = PartitionSpec(PartitionField(4, 1000, "day", "ts_day"), spec_id=1)
    >>> spec.is_unpartitioned()
    False
    """

    spec_id: StrictInt = INITIAL_PARTITION_SPEC_ID
    fields: tuple[PartitionField, ...] = ()

    def __init__(self, *fields: PartitionField, **data: Any) -> None:
        if fields:
            data["fields"] = fields
        if isinstance(data.get("fields"), list):
            data["fields"] = _numbered(data["fields"])
        super().__init__(**data)

    def is_unpartitioned(self) -> bool:
        """Return whether every file belongs to one partition: there is no field but void ones."""
        return all(isinstance(field.transform, VoidTransform) for field in self.fields)

    @property
    def last_assigned_field_id(self) -> int:
        """The highest field id; 999 if there is no field."""
        return max((field.field_id for field in self.fields), default=PARTITION_FIELD_ID_START - 1)

    @cached_property
    def source_id_to_fields_map(self) -> dict[int, list[PartitionField]]:
        """Fields by the column that they follow from."""
        by_source: dict[int, list[PartitionField]] = {}
        for field in self.fields:
            by_source.setdefault(field.source_id, []).append(field)
        return by_source

    def fields_by_source_id(self, field_id: int) -> list[PartitionField]:
        """Return the fields that follow from a column."""
        return self.source_id_to_fields_map.get(field_id, [])

    def compatible_with(self, other: PartitionSpec) -> bool:
        """Return whether sources, transforms and names are the same in order; ids do not count."""
        return [_essence(field) for field in self.fields] == [_essence(field) for field in other.fields]

    def partition_type(self, schema: Schema) -> StructType:
        """Return the struct of partition values: an optional field per partition field.

        A field whose column was dropped keeps the type that its transform alone fixes, else it is unknown.
        """
        return StructType(
            *(NestedField(field.field_id, field.name, _result_type(field, schema)) for field in self.fields)
        )

    def partition_to_path(self, data: Record, schema: Schema) -> str:
        """Return the directory path ``name=value/...`` of a partition. Nothing ever parses it back."""
        from icefloe import _core

        types = [field.field_type for field in self.partition_type(schema).fields]
        values = [_json_value(kind, data[position]) for position, kind in enumerate(types)]
        return _core.partition_path(self.model_dump_json(), schema.model_dump_json(), json.dumps(values))

    def check_compatible(self, schema: Schema, allow_missing_fields: bool = False) -> None:
        """Raise ValidationError unless every field's transform applies to its column."""
        for field in self.fields:
            if field.source_id not in schema.field_ids:
                if allow_missing_fields or isinstance(field.transform, VoidTransform):
                    continue
                raise ValidationError(f"partition field {field.name}: no column has the id {field.source_id}")
            source = schema.find_field(field.source_id)
            if isinstance(field.transform, VoidTransform):
                continue
            if not source.field_type.is_primitive:
                raise ValidationError(f"partition field {field.name}: column {source.name} is a {source.field_type}")
            if not field.transform.can_transform(source.field_type) and not isinstance(
                field.transform, UnknownTransform
            ):
                raise ValidationError(
                    f"partition field {field.name}: {field.transform} does not apply to column {source.name} of type {source.field_type}"
                )

    def __len__(self) -> int:
        return len(self.fields)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"PartitionSpec({''.join(f'{field!r}, ' for field in self.fields)}spec_id={self.spec_id})"

    def __str__(self) -> str:
        return f"[{''.join(f'{chr(10)}  {field}' for field in self.fields)}{chr(10) if self.fields else ''}]"


UNPARTITIONED_PARTITION_SPEC = PartitionSpec(spec_id=INITIAL_PARTITION_SPEC_ID)


@dataclass(frozen=True, slots=True)
class PartitionFieldValue:
    """A column's value and the partition field that it goes through."""

    field: PartitionField
    value: Any


@dataclass(frozen=True)
class PartitionKey:
    """A partition: column values and the spec that makes a tuple of them."""

    field_values: list[PartitionFieldValue]
    partition_spec: PartitionSpec
    schema: Schema

    @cached_property
    def partition(self) -> Record:
        """The partition tuple."""
        by_field = {value.field.field_id: value for value in self.field_values}
        values = []
        for field in self.partition_spec.fields:
            source = self.schema.find_type(field.source_id)
            given = by_field.get(field.field_id)
            values.append(None if given is None else field.transform.transform(source)(given.value))
        return Record(*values)

    def to_path(self) -> str:
        """Return the directory path of the partition."""
        return self.partition_spec.partition_to_path(self.partition, self.schema)


def validate_partition_name(
    field_name: str, partition_transform: Transform, source_id: int, schema: Schema, partition_names: set[str]
) -> None:
    """Raise ValidationError if a partition field may not have a name in a schema with the other names given.

    A column's name may be used by its identity (or void) field alone.
    """
    if not field_name:
        raise ValidationError("a partition field needs a name")
    if field_name in partition_names:
        raise ValidationError(f"partition field name {field_name!r} is used twice")
    column = next((field for field in schema.fields if field.name == field_name), None)
    if column is None:
        return
    if not isinstance(partition_transform, (IdentityTransform, VoidTransform)) or column.field_id != source_id:
        raise ValidationError(
            f"partition field name {field_name!r} is a column's name: only its identity transform may have it"
        )


def assign_fresh_partition_spec_ids(spec: PartitionSpec, old_schema: Schema, fresh_schema: Schema) -> PartitionSpec:
    """Return the spec for a schema whose columns were renumbered: sources by name, field ids from 1000."""
    fields: list[PartitionField] = []
    for position, field in enumerate(spec.fields):
        name = old_schema.find_column_name(field.source_id)
        if name is None:
            raise ValidationError(f"partition field {field.name}: no column has the id {field.source_id}")
        source_id = fresh_schema.find_field(name).field_id
        validate_partition_name(
            field.name, field.transform, source_id, fresh_schema, {earlier.name for earlier in fields}
        )
        fields.append(PartitionField(source_id, PARTITION_FIELD_ID_START + position, field.transform, field.name))
    return PartitionSpec(*fields, spec_id=INITIAL_PARTITION_SPEC_ID)


def _numbered(fields: list[Any]) -> list[Any]:
    """Give fields ids from 1000 if, as early writers did, none has one."""
    plain = [field for field in fields if isinstance(field, dict)]
    if len(plain) != len(fields) or any("field-id" in field or "field_id" in field for field in plain):
        return fields
    return [{**field, "field-id": PARTITION_FIELD_ID_START + position} for position, field in enumerate(plain)]


def _essence(field: PartitionField) -> tuple[int, Transform, str]:
    return field.source_id, field.transform, field.name


def _result_type(field: PartitionField, schema: Schema) -> IcebergType:
    if field.source_id in schema.field_ids:
        return field.transform.result_type(schema.find_type(field.source_id))
    return field.transform.result_type(UnknownType())


def _json_value(kind: IcebergType, value: Any) -> Any:
    return to_json_value(kind, value) if isinstance(kind, PrimitiveType) else value
