"""A table's schema: its columns, their ids and names at every depth. Spec: Schemas."""

from __future__ import annotations

from icefloe.schema.change import (
    assign_fresh_schema_ids,
    make_compatible_name,
    prune_columns,
    sanitize_column_names,
)
from icefloe.schema.index import (
    Accessor,
    build_position_accessors,
    child_fields,
    index_by_id,
    index_by_name,
    index_name_by_id,
)
from icefloe.schema.promotion import promote
from icefloe.schema.rebuilding import assign_fresh_type_ids, rebuild_type
from icefloe.schema.schema import INITIAL_SCHEMA_ID, MAX_COLUMN_ID, Schema

__all__ = [
    "INITIAL_SCHEMA_ID",
    "MAX_COLUMN_ID",
    "Accessor",
    "Schema",
    "assign_fresh_schema_ids",
    "assign_fresh_type_ids",
    "build_position_accessors",
    "child_fields",
    "index_by_id",
    "index_by_name",
    "index_name_by_id",
    "make_compatible_name",
    "promote",
    "prune_columns",
    "rebuild_type",
    "sanitize_column_names",
]
