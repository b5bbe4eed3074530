"""Partition specs: transforms of columns that determine the partition of a row. Spec: Partitioning."""

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
    """A field of a partition spec.

    Args:
        source_id: Field id of the source column.
        field_id: Id of the partition field, 1000 or higher, unique among all specs of the table.
        transform: The transform, or its text.
        name: Name of the partition field in paths and metadata tables.

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
        """Accept ``source-ids`` with one id, which writers of format version 3 may use."""
        if isinstance(data, dict) and "source-ids" in data and "source-id" not in data:
            ids = data["source-ids"]
            if not isinstance(ids, list) or len(ids) == 0:
                raise ValidationError(f"partition field JSON: source-ids must be a list of one field id, got {ids!r}")
            if len(ids) > 1:
                raise FeatureUnsupportedError(
                    f"partition field JSON: transforms of several columns are not supported; expected one of source-ids, got {ids}"
                )
            data = {**data, "source-id": ids[0]}
        return data

    def __str__(self) -> str:
        return f"{self.field_id}: {self.name}: {self.transform}({self.source_id})"


class PartitionSpec(JsonModel):
    """The partition fields of data files, in order. An empty spec is that of an unpartitioned table.

    >>> spec = PartitionSpec(PartitionField(4, 1000, "day", "ts_day"), spec_id=1)
    >>> spec.is_unpartitioned()
    False
    """

    spec_id: StrictInt = INITIAL_PARTITION_SPEC_ID
    fields: tuple[PartitionField, ...] = ()

    def __init__(self, *fields: PartitionField, **data: Any) -> None:
        if fields:
            data["fields"] = fields
            for field in fields:
                if not isinstance(field, PartitionField):
                    raise ValidationError(f"PartitionSpec: expected partition fields, got {field!r}")
        if isinstance(data.get("fields"), list):
            data["fields"] = _numbered(data["fields"])
        super().__init__(**data)

    @cached_property
    def _json(self) -> str:
        return super().model_dump_json()

    def model_dump_json(self, **options: Any) -> str:
        """Return the JSON object as text. The text without options is kept: a commit passes it to the core many times."""
        return super().model_dump_json(**options) if options else self._json

    def is_unpartitioned(self) -> bool:
        """Return whether all files belong to one partition: the spec has no field, or only void fields."""
        return all(isinstance(field.transform, VoidTransform) for field in self.fields)

    @property
    def last_assigned_field_id(self) -> int:
        """The highest field id of the spec; 999 of an empty spec."""
        return max((field.field_id for field in self.fields), default=PARTITION_FIELD_ID_START - 1)

    @cached_property
    def source_id_to_fields_map(self) -> dict[int, list[PartitionField]]:
        """Partition fields by the field id of their source column."""
        by_source: dict[int, list[PartitionField]] = {}
        for field in self.fields:
            by_source.setdefault(field.source_id, []).append(field)
        return by_source

    def fields_by_source_id(self, field_id: int) -> list[PartitionField]:
        """Return the partition fields of a source column."""
        return self.source_id_to_fields_map.get(field_id, [])

    def compatible_with(self, other: PartitionSpec) -> bool:
        """Return whether two specs have the same sources, transforms and names in the same order, whatever their ids."""
        return [_essence(field) for field in self.fields] == [_essence(field) for field in other.fields]

    @property
    def has_unknown_transform(self) -> bool:
        """Whether icefloe does not know the transform of a field. Manifests store the values of such a field in the type that their writer chose."""
        return any(isinstance(field.transform, UnknownTransform) for field in self.fields)

    def partition_type(self, schema: Schema) -> StructType:
        """Return the struct type of partition tuples, with an optional field for each partition field.

        A field whose source column was dropped has the result type of its transform if that is fixed, else type unknown.

        Args:
            schema: A schema of the table.
        """
        return StructType(
            *(NestedField(field.field_id, field.name, _result_type(field, schema)) for field in self.fields)
        )

    def partition_to_path(self, data: Record, schema: Schema) -> str:
        """Return the directory path ``name=value/...`` of a partition; readers never parse it.

        Args:
            data: The partition tuple.
            schema: A schema of the table.
        """
        from icefloe import _core

        types = [field.field_type for field in self.partition_type(schema).fields]
        values = [_json_value(kind, data[position]) for position, kind in enumerate(types)]
        return _core.partition_path(self.model_dump_json(), schema.model_dump_json(), json.dumps(values))

    def check_compatible(self, schema: Schema, allow_missing_fields: bool = False) -> None:
        """Raise ValidationError unless every transform applies to its source column.

        Args:
            schema: The schema of the source columns.
            allow_missing_fields: Whether source columns may be missing.
        """
        for field in self.fields:
            if field.source_id not in schema.field_ids:
                if allow_missing_fields or isinstance(field.transform, VoidTransform):
                    continue
                raise ValidationError(
                    f"partition field {field.name}: no column has the id {field.source_id}; expected the id of a column in {sorted(schema.field_ids)}"
                )
            source = schema.find_field(field.source_id)
            if isinstance(field.transform, VoidTransform):
                continue
            if not source.field_type.is_primitive:
                raise ValidationError(
                    f"partition field {field.name}: column {source.name} cannot be partitioned; expected a primitive type, got {source.field_type}"
                )
            container = schema.container_of(field.source_id)
            if container is not None:
                raise ValidationError(
                    f"partition field {field.name}: {schema.find_column_name(field.source_id)} is inside {container.name} of type "
                    f"{container.field_type}; expected a column, or a field of structs alone"
                )
            if not field.transform.can_transform(source.field_type) and not isinstance(
                field.transform, UnknownTransform
            ):
                raise ValidationError(
                    f"partition field {field.name}: {field.transform} does not apply to column {source.name} of type {source.field_type}; choose another transform"
                )

    def check_names(self, schema: Schema) -> None:
        """Raise ValidationError unless every field has a name of its own, also in Avro, which no column has but the field's source.

        Args:
            schema: The schema of the source columns.
        """
        from icefloe.schema import make_compatible_name

        seen: set[str] = set()
        avro_names: dict[str, str] = {}
        for field in self.fields:
            if field.name == "":
                raise ValidationError("partition field name: expected text, got ''")
            if field.name in seen:
                raise ValidationError(f"partition field name {field.name!r} is used twice; rename one of the fields")
            seen.add(field.name)
            avro_name = make_compatible_name(field.name)
            other = avro_names.setdefault(avro_name, field.name)
            if other != field.name:
                raise ValidationError(
                    f"partition field names {other!r} and {field.name!r} are both {avro_name} in manifests; rename one of the fields"
                )
            column_id = schema.column_id(field.name)
            if column_id not in {None, field.source_id}:
                source = schema.find_column_name(field.source_id)
                of = "a dropped column" if source is None else f"column {source!r}"
                raise ValidationError(
                    f"partition field name {field.name!r} is a column's name; expected a field of this column, got {field.transform} of {of}: "
                    "choose another name"
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
    """A source value and its partition field."""

    field: PartitionField
    value: Any


@dataclass(frozen=True)
class PartitionKey:
    """A partition: source values, and the spec and schema that transform them to a partition tuple."""

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
    """Raise ValidationError unless a partition field may have a name.

    The name of a column is allowed only for the identity or void transform of that column.

    Args:
        field_name: The name of the partition field.
        partition_transform: The transform of the partition field.
        source_id: Field id of the source column.
        schema: The schema of the table.
        partition_names: Names of the other partition fields.
    """
    if not isinstance(field_name, str) or field_name == "":
        raise ValidationError(f"partition field name: expected text, got {field_name!r}")
    if field_name in partition_names:
        raise ValidationError(f"partition field name {field_name!r} is used twice; rename one of the fields")
    column = next((field for field in schema.fields if field.name == field_name), None)
    if column is None:
        return
    if not isinstance(partition_transform, (IdentityTransform, VoidTransform)) or column.field_id != source_id:
        raise ValidationError(
            f"partition field name {field_name!r} is a column's name; expected its identity transform, got {partition_transform}: choose another name"
        )


def assign_fresh_partition_spec_ids(spec: PartitionSpec, old_schema: Schema, fresh_schema: Schema) -> PartitionSpec:
    """Return the spec for a schema with new field ids: source columns are matched by name, partition field ids start at 1000."""
    if not isinstance(spec, PartitionSpec):
        raise ValidationError(f"partition spec: expected a PartitionSpec, got {spec!r}")
    fields: list[PartitionField] = []
    for position, field in enumerate(spec.fields):
        name = old_schema.find_column_name(field.source_id)
        if name is None:
            raise ValidationError(
                f"partition field {field.name}: no column has the id {field.source_id}; expected the id of a column in {sorted(old_schema.field_ids)}"
            )
        source_id = fresh_schema.find_field(name).field_id
        validate_partition_name(
            field.name, field.transform, source_id, fresh_schema, {earlier.name for earlier in fields}
        )
        fields.append(PartitionField(source_id, PARTITION_FIELD_ID_START + position, field.transform, field.name))
    return PartitionSpec(*fields, spec_id=INITIAL_PARTITION_SPEC_ID)


def _numbered(fields: list[Any]) -> list[Any]:
    """Return the JSON of fields with ids from 1000 if none has an id; early writers of format version 1 omit them."""
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
