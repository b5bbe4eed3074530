"""Updates of the table properties that contain column names: the name mapping and per-column settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.schema import Schema, index_by_id, index_name_by_id
from icefloe.table.name_mapping import parse_mapping_from_json, update_mapping
from icefloe.table.properties.definitions import COLUMN_PREFIXES, NAME_MAPPING
from icefloe.table.properties.file_formats import ORC_BLOOM_COLUMNS
from icefloe.table.update.actions import RemovePropertiesUpdate, SetPropertiesUpdate, TableUpdate
from icefloe.table.update.schema_edit import owner_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.types import NestedField


def property_updates(properties: Mapping[str, str], before: Schema, after: Schema) -> tuple[TableUpdate, ...]:
    """Return the updates of table properties that follow from a schema change."""
    old_names, new_names = index_name_by_id(before), index_name_by_id(after)
    renamed = {old: new_names.get(field_id) for field_id, old in old_names.items() if new_names.get(field_id) != old}
    updates: dict[str, str] = {}
    removals: list[str] = []
    for key, value in properties.items():
        prefix = next((each for each in COLUMN_PREFIXES if key.startswith(each)), None)
        if prefix is None or key.removeprefix(prefix) not in renamed:
            continue
        removals.append(key)
        new_name = renamed[key.removeprefix(prefix)]
        if new_name is not None:
            updates[prefix + new_name] = value
    listed = properties.get(ORC_BLOOM_COLUMNS.name)
    if listed is not None and (columns := _renamed_list(listed, renamed)) != listed:
        removals.append(ORC_BLOOM_COLUMNS.name)
        if columns != "":
            updates[ORC_BLOOM_COLUMNS.name] = columns
    mapping = properties.get(NAME_MAPPING.name)
    if mapping is not None:
        updates[NAME_MAPPING.name] = _mapping(mapping, before, after)
    removals = [key for key in removals if key not in updates]
    follow_up: list[TableUpdate] = []
    if removals:
        follow_up.append(RemovePropertiesUpdate(removals=removals))
    if updates:
        follow_up.append(SetPropertiesUpdate(updates=updates))
    return tuple(follow_up)


def _renamed_list(text: str, renamed: Mapping[str, str | None]) -> str:
    """Return a list of columns, separated by commas, with new names and without dropped columns."""
    names = [name.strip() for name in text.split(",")]
    if not any(name in renamed for name in names):
        return text
    return ",".join(new for name in names if (new := renamed.get(name, name)) is not None)


def _mapping(text: str, before: Schema, after: Schema) -> str:
    old_fields, fields = index_by_id(before), index_by_id(after)
    renamed = {key: field for key, field in fields.items() if key in old_fields and old_fields[key].name != field.name}
    added: dict[int, list[NestedField]] = {}
    for key, field in fields.items():
        owner = owner_of(after, key)
        # A field inside a new field is added with that field.
        if key not in old_fields and (owner < 0 or owner in old_fields):
            added.setdefault(owner, []).append(field)
    return update_mapping(parse_mapping_from_json(text), renamed, added).model_dump_json()
