"""Table metadata of each format version: required keys and layouts. Spec: Table Metadata Fields; Appendix E."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import model_validator

from icefloe.partitioning import INITIAL_PARTITION_SPEC_ID, PARTITION_FIELD_ID_START, PartitionSpec
from icefloe.schema import INITIAL_SCHEMA_ID
from icefloe.table.metadata.rules import check_rules
from icefloe.table.metadata.table_metadata import TableMetadata
from icefloe.table.snapshots import INITIAL_SEQUENCE_NUMBER
from icefloe.table.sorting import UNSORTED_SORT_ORDER_ID

if TYPE_CHECKING:
    from typing_extensions import Self


class _CheckedMetadata(TableMetadata):
    """Metadata whose keys do not contradict each other."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_rules(self)
        return self


class TableMetadataV1(_CheckedMetadata):
    """Metadata of format version 1; its single ``schema`` and ``partition-spec`` are read as lists of one."""

    format_version: Literal[1] = 1
    _required: ClassVar[tuple[str, ...]] = (
        "location",
        "last-updated-ms",
        "last-column-id",
        "schemas",
        "partition-specs",
    )

    @classmethod
    def _upgrade_layout(cls, data: dict[str, Any]) -> dict[str, Any]:
        data = dict(data)
        schema, fields = data.pop("schema", None), data.pop("partition-spec", None)
        data["last-sequence-number"] = INITIAL_SEQUENCE_NUMBER
        if "schemas" not in data and isinstance(schema, dict):
            data["schemas"] = [{"schema-id": INITIAL_SCHEMA_ID, **schema}]
            data["current-schema-id"] = data["schemas"][0]["schema-id"]
        if "partition-specs" not in data and isinstance(fields, list):
            data["partition-specs"] = [{"spec-id": INITIAL_PARTITION_SPEC_ID, "fields": fields}]
            data["default-spec-id"] = INITIAL_PARTITION_SPEC_ID
        if "sort-orders" not in data:
            data["default-sort-order-id"] = UNSORTED_SORT_ORDER_ID
        if "last-partition-id" not in data and isinstance(data.get("partition-specs"), list):
            specs = [
                spec if isinstance(spec, PartitionSpec) else PartitionSpec(**spec) for spec in data["partition-specs"]
            ]
            data["partition-specs"] = specs
            data["last-partition-id"] = max(
                (spec.last_assigned_field_id for spec in specs), default=PARTITION_FIELD_ID_START - 1
            )
        return data


_REQUIRED_FROM_V2 = (
    "table-uuid",
    "location",
    "last-sequence-number",
    "last-updated-ms",
    "last-column-id",
    "schemas",
    "current-schema-id",
    "partition-specs",
    "default-spec-id",
    "last-partition-id",
    "sort-orders",
    "default-sort-order-id",
)


class TableMetadataV2(_CheckedMetadata):
    """Metadata of format version 2."""

    format_version: Literal[2] = 2
    _required: ClassVar[tuple[str, ...]] = _REQUIRED_FROM_V2


class TableMetadataV3(_CheckedMetadata):
    """Metadata of format version 3, read but not written to."""

    format_version: Literal[3] = 3
    _required: ClassVar[tuple[str, ...]] = _REQUIRED_FROM_V2
