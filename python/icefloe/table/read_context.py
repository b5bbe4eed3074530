"""The JSON texts that describe a table to the core: schemas, specs, sort orders and the read context."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

from icefloe.partitioning import PartitionSpec
from icefloe.schema import Schema
from icefloe.table.properties.definitions import NAME_MAPPING

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.sorting import SortOrder
    from icefloe.types import IcebergType


def schema_json(schema: Schema) -> str:
    """Return a schema as the specification's JSON."""
    return schema.model_dump_json()


def schemas_json(metadata: TableMetadata) -> str:
    """Return the current schema and then all other schemas as a JSON array, because specs may refer to dropped columns."""
    current = metadata.schema()
    others = [schema for schema in metadata.schemas if schema.schema_id != current.schema_id]
    return f"[{','.join(schema_json(schema) for schema in (current, *others))}]"


def spec_json(spec: PartitionSpec) -> str:
    """Return a partition spec as the specification's JSON."""
    return spec.model_dump_json()


def specs_json(metadata: TableMetadata) -> str:
    """Return every partition spec of a table as a JSON array."""
    return f"[{','.join(spec_json(spec) for spec in metadata.partition_specs)}]"


def column_partition_ids(metadata: TableMetadata) -> dict[int, int]:
    """Return the ids of partition fields in a schema that has columns of the table too, by the ids in specs.

    Partition fields and columns are numbered independently, and the ids of a schema are distinct: a field whose id is that of a column
    gets an id that neither has.
    """
    columns = {one for schema in metadata.schemas for one in schema.field_ids}
    fields = {field.field_id for spec in metadata.partition_specs for field in spec.fields}
    free = itertools.count(max(columns | fields, default=0) + 1)
    return {one: next(free) if one in columns else one for one in sorted(fields)}


def with_column_partition_ids(context: str, metadata: TableMetadata) -> str:
    """Return a context, JSON, for reads of partition tuples beside columns; plans need the ids in specs."""
    ids = column_partition_ids(metadata)
    if all(new == old for old, new in ids.items()):
        return context
    parts = json.loads(context)
    for spec in parts["partition-specs"]:
        for field in spec["fields"]:
            field["field-id"] = ids[field["field-id"]]
    return json.dumps(parts)


def sort_order_json(order: SortOrder) -> str:
    """Return a sort order as the specification's JSON."""
    return order.model_dump_json()


def context_json(metadata: TableMetadata, schema: Schema, *, case_sensitive: bool = True) -> str:
    """Return the context of a scan or of a planning call.

    Args:
        metadata: The table.
        schema: The schema that filters are bound to: the current schema, or the schema of a snapshot.
        case_sensitive: Whether names in filters must match in case.
    """
    parts = {
        "schema": schema_json(schema),
        "schemas": f"[{','.join(schema_json(one) for one in metadata.schemas)}]",
        "partition-specs": specs_json(metadata),
        "case-sensitive": json.dumps(case_sensitive),
        "properties": json.dumps(dict(metadata.properties)),
    }
    mapping = NAME_MAPPING.of(metadata.properties)
    if mapping is not None:
        parts["name-mapping"] = mapping
    return "{" + ",".join(f'"{key}":{text}' for key, text in parts.items()) + "}"


def partition_types(context: str, spec_id: int) -> list[IcebergType]:
    """Return the types of the partition fields of a spec in a context, from the newest schema that has the spec's columns."""
    parts = json.loads(context)
    spec = PartitionSpec.model_validate(
        next(one for one in parts["partition-specs"] if one.get("spec-id", 0) == spec_id)
    )
    sources = {field.source_id for field in spec.fields}
    schemas = [Schema.model_validate(one) for one in (parts["schema"], *reversed(parts["schemas"]))]
    schema = next((one for one in schemas if sources <= one.field_ids), schemas[0])
    return [field.field_type for field in spec.partition_type(schema).fields]
