"""The JSON texts that describe a table to the core: schemas, specs, sort orders and the read context."""

from __future__ import annotations

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
