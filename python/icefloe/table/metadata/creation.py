"""Metadata of new tables, with newly assigned ids. Spec: Table Metadata."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.partitioning import PARTITION_FIELD_ID_START, assign_fresh_partition_spec_ids
from icefloe.schema import assign_fresh_schema_ids
from icefloe.table.environment import SYSTEM, Environment
from icefloe.table.metadata.versions import TableMetadataV1, TableMetadataV2
from icefloe.table.properties import RESERVED_PROPERTIES, TableProperties, properties_as_text
from icefloe.table.properties.checking import check_metrics_columns
from icefloe.table.properties.definitions import FORMAT_VERSION
from icefloe.table.sorting import assign_fresh_sort_order_ids
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.partitioning import PartitionSpec
    from icefloe.schema import Schema
    from icefloe.table.metadata.table_metadata import TableMetadata
    from icefloe.table.sorting import SortOrder


def new_table_metadata(  # noqa: PLR0913 - the signature is shared with PyIceberg
    schema: Schema,
    partition_spec: PartitionSpec,
    sort_order: SortOrder,
    location: str,
    properties: Mapping[str, object] = EMPTY_DICT,
    table_uuid: uuid.UUID | None = None,
    *,
    environment: Environment = SYSTEM,
) -> TableMetadata:
    """Return the metadata of a new, empty table.

    Args:
        schema: The columns. Ids are assigned from 1, level by level.
        partition_spec: The partition spec. Its source columns are matched by name.
        sort_order: The sort order. Its source columns are matched by name.
        location: The table's location.
        properties: Table properties. ``format-version`` (1 or 2, default 2) is applied and not stored.
        table_uuid: The table's UUID, random if None.
        environment: Clock and random UUIDs.

    Raises:
        ValidationError: The spec, the sort order or a property does not fit the schema.
        FeatureUnsupportedError: The format version is 3 or above.
    """
    texts = properties_as_text(properties)
    version = _format_version(texts)
    stored = {name: value for name, value in texts.items() if name not in RESERVED_PROPERTIES}
    stored.setdefault(TableProperties.PARQUET_COMPRESSION, TableProperties.PARQUET_COMPRESSION_DEFAULT)
    fresh_schema = assign_fresh_schema_ids(schema)
    fresh_schema.check_format_version_compatibility(version)
    check_metrics_columns(stored, fresh_schema)
    fresh_spec = assign_fresh_partition_spec_ids(partition_spec, schema, fresh_schema)
    fresh_spec.check_compatible(fresh_schema)
    fresh_order = assign_fresh_sort_order_ids(sort_order, schema, fresh_schema)
    fresh_order.check_compatible(fresh_schema)
    kind = TableMetadataV1 if version == 1 else TableMetadataV2
    return kind(
        table_uuid=table_uuid if table_uuid is not None else uuid.UUID(environment.new_uuid()),
        location=location,
        last_sequence_number=0,
        last_updated_ms=environment.now_ms(),
        last_column_id=fresh_schema.highest_field_id,
        schemas=(fresh_schema,),
        current_schema_id=fresh_schema.schema_id,
        partition_specs=(fresh_spec,),
        default_spec_id=fresh_spec.spec_id,
        last_partition_id=max(fresh_spec.last_assigned_field_id, PARTITION_FIELD_ID_START - 1),
        sort_orders=(fresh_order,),
        default_sort_order_id=fresh_order.order_id,
        properties=stored,
    )


def _format_version(properties: Mapping[str, str]) -> int:
    if properties.get(FORMAT_VERSION.name) == "3":
        raise FeatureUnsupportedError(
            "table property format-version: format version 3 can be read but not written; expected 1 or 2"
        )
    return int(FORMAT_VERSION.of(properties))
