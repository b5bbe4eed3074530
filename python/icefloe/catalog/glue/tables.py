"""Entries of Iceberg tables in AWS Glue, with the parameters and columns that the Java reference stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.catalog.configuration import (
    EXTERNAL_TABLE,
    METADATA_LOCATION,
    PREVIOUS_METADATA_LOCATION,
    TABLE_TYPE,
)
from icefloe.catalog.hive_types import hive_type
from icefloe.catalog.metastore import COMMENT, STORED_TYPE
from icefloe.table.properties.definitions import DATA_PATH, METADATA_PATH

if TYPE_CHECKING:
    from icefloe.catalog.pointer_catalog import StoredVersion
    from icefloe.table.metadata import TableMetadata
    from icefloe.types import NestedField

# Other keys of an entry are set by Glue and not accepted in a change.
_ACCEPTED = (
    "Name",
    "Description",
    "Owner",
    "LastAccessTime",
    "LastAnalyzedTime",
    "Retention",
    "StorageDescriptor",
    "PartitionKeys",
    "ViewOriginalText",
    "ViewExpandedText",
    "TableType",
    "Parameters",
    "TargetTable",
)
_LOCATIONS = (DATA_PATH.name, METADATA_PATH.name, "write.object-storage.path", "write.folder-storage.path")


def table_input(
    name: str, before: dict[str, Any] | None, old: StoredVersion | None, new: StoredVersion
) -> dict[str, Any]:
    """Return the `TableInput` of a version; keys, parameters and column comments of other engines are kept.

    Args:
        name: The table's name.
        before: The table's entry, as Glue returns it; None for a new table.
        old: The version that is replaced.
        new: The version to store.
    """
    metadata = new.metadata
    assert metadata is not None, "the metadata of a new version was read or written"
    parameters = dict(before.get("Parameters", {})) if before is not None else {}
    parameters |= {TABLE_TYPE: STORED_TYPE, METADATA_LOCATION: new.location}
    if old is not None:
        parameters[PREVIOUS_METADATA_LOCATION] = old.location
    storage: dict[str, Any] = {"Location": metadata.location, "Columns": _columns(metadata, _comments(before))}
    others = sorted({metadata.properties[key] for key in _LOCATIONS if key in metadata.properties})
    if others:
        storage["AdditionalLocations"] = others
    made = {
        **accepted(before or {}),
        "Name": name,
        "TableType": EXTERNAL_TABLE,
        "Parameters": parameters,
        "StorageDescriptor": storage,
    }
    if (comment := metadata.properties.get(COMMENT)) is not None:
        made["Description"] = comment
    return made


def accepted(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of an entry that a change accepts."""
    return {key: entry[key] for key in _ACCEPTED if key in entry}


def _comments(before: dict[str, Any] | None) -> dict[str, str]:
    columns = (before or {}).get("StorageDescriptor", {}).get("Columns", [])
    # The columns of the current schema come first.
    return {column["Name"]: column["Comment"] for column in reversed(columns) if "Comment" in column}


def _columns(metadata: TableMetadata, comments: dict[str, str]) -> list[dict[str, Any]]:
    """Return the columns of the current schema, then the other columns of older schemas."""
    current = metadata.schema()
    columns: dict[str, dict[str, Any]] = {}
    for schema in (current, *(schema for schema in metadata.schemas if schema.schema_id != current.schema_id)):
        for field in schema.fields:
            if field.name not in columns:
                columns[field.name] = _column(field, comments.get(field.name), is_current=schema is current)
    return list(columns.values())


def _column(field: NestedField, comment: str | None, *, is_current: bool) -> dict[str, Any]:
    column: dict[str, Any] = {
        "Name": field.name,
        "Type": hive_type(field.field_type, zoned="timestamp"),
        "Parameters": {
            "iceberg.field.id": str(field.field_id),
            "iceberg.field.optional": str(field.optional).lower(),
            "iceberg.field.current": str(is_current).lower(),
        },
    }
    text = field.doc or comment
    return {**column, "Comment": text} if text else column
