"""Writing metadata files: the key order of the reference writer, absent values left out. Spec: Appendix C.

Readers exist that refuse a null anywhere but in ``current-snapshot-id``, so no other key is ever written with one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import to_json as dump

from icefloe.table.snapshots import NO_SNAPSHOT_ID

if TYPE_CHECKING:
    from icefloe.table.metadata.table_metadata import TableMetadata


def to_json(metadata: TableMetadata) -> str:
    """Return the text of a metadata file."""
    return dump(to_json_value(metadata)).decode()


def to_json_value(metadata: TableMetadata) -> dict[str, Any]:
    """Return the JSON object of a metadata file, its keys in order."""
    version = metadata.format_version
    value: dict[str, Any] = {"format-version": version}
    if metadata.table_uuid is not None:
        value["table-uuid"] = str(metadata.table_uuid)
    value["location"] = metadata.location
    if version > 1:
        value["last-sequence-number"] = metadata.last_sequence_number
    value["last-updated-ms"] = metadata.last_updated_ms
    value["last-column-id"] = metadata.last_column_id
    if version == 1:
        value["schema"] = metadata.schema().model_dump()
    value["current-schema-id"] = metadata.current_schema_id
    value["schemas"] = [schema.model_dump() for schema in metadata.schemas]
    if version == 1:
        value["partition-spec"] = metadata.spec().model_dump()["fields"]
    value["default-spec-id"] = metadata.default_spec_id
    value["partition-specs"] = [spec.model_dump(mode="json") for spec in metadata.partition_specs]
    value["last-partition-id"] = metadata.last_partition_id
    value["default-sort-order-id"] = metadata.default_sort_order_id
    value["sort-orders"] = [order.model_dump(mode="json") for order in metadata.sort_orders]
    value["properties"] = metadata.properties
    value.update(_history(metadata))
    return value


def _history(metadata: TableMetadata) -> dict[str, Any]:
    current = metadata.current_snapshot_id
    value: dict[str, Any] = {
        "current-snapshot-id": NO_SNAPSHOT_ID if current is None and metadata.format_version < 3 else current
    }
    if metadata.next_row_id is not None:
        value["next-row-id"] = metadata.next_row_id
    value["refs"] = {name: ref.model_dump(mode="json") for name, ref in metadata.refs.items()}
    value["snapshots"] = metadata.snapshots.json_values()
    value["statistics"] = [file.model_dump() for file in metadata.statistics]
    value["partition-statistics"] = [file.model_dump() for file in metadata.partition_statistics]
    if metadata.encryption_keys:
        value["encryption-keys"] = list(metadata.encryption_keys)
    value["snapshot-log"] = metadata.snapshot_log.json_values()
    value["metadata-log"] = metadata.metadata_log.json_values()
    return value
