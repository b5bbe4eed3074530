"""Name mapping, at the path that PyIceberg gives its names. Spec: Column Projection."""

from __future__ import annotations

from icefloe.schema.change import apply_name_mapping
from icefloe.schema.name_mapping import (
    MappedField,
    NameMapping,
    create_mapping_from_schema,
    parse_mapping_from_json,
    update_mapping,
)

__all__ = [
    "MappedField",
    "NameMapping",
    "apply_name_mapping",
    "create_mapping_from_schema",
    "parse_mapping_from_json",
    "update_mapping",
]
