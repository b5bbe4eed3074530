"""Schemas: columns, their field ids and their names at every depth. Spec: Schemas."""

from __future__ import annotations

from icefloe.schema.change import (
    assign_fresh_schema_ids,
    make_compatible_name,
    promote,
    prune_columns,
    sanitize_column_names,
)
from icefloe.schema.fields import (
    Accessor,
    assign_fresh_type_ids,
    build_position_accessors,
    child_fields,
    index_by_id,
    index_by_name,
    index_name_by_id,
    rebuild_type,
)
from icefloe.schema.partner_visitors import (
    PartnerAccessor,
    PrimitiveWithPartnerVisitor,
    SchemaWithPartnerVisitor,
    visit_with_partner,
)
from icefloe.schema.schema import INITIAL_SCHEMA_ID, MAX_COLUMN_ID, Schema
from icefloe.schema.visitors import (
    PreOrderSchemaVisitor,
    SchemaVisitor,
    SchemaVisitorPerPrimitiveType,
    pre_order_visit,
    visit,
)

# Attributes of a field in an Avro schema. Spec: Avro.
FIELD_ID_PROP = "field-id"
ICEBERG_FIELD_NAME_PROP = "iceberg-field-name"

__all__ = [
    "FIELD_ID_PROP",
    "ICEBERG_FIELD_NAME_PROP",
    "INITIAL_SCHEMA_ID",
    "MAX_COLUMN_ID",
    "Accessor",
    "PartnerAccessor",
    "PreOrderSchemaVisitor",
    "PrimitiveWithPartnerVisitor",
    "Schema",
    "SchemaVisitor",
    "SchemaVisitorPerPrimitiveType",
    "SchemaWithPartnerVisitor",
    "assign_fresh_schema_ids",
    "assign_fresh_type_ids",
    "build_position_accessors",
    "child_fields",
    "index_by_id",
    "index_by_name",
    "index_name_by_id",
    "make_compatible_name",
    "pre_order_visit",
    "promote",
    "prune_columns",
    "rebuild_type",
    "sanitize_column_names",
    "visit",
    "visit_with_partner",
]
