"""A transaction that only applies updates to metadata, for the tests of the builders."""

from __future__ import annotations

from typing import Any

from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.metadata import TableMetadata, new_table_metadata
from icefloe.table.sorting import SortField, SortOrder
from icefloe.table.update import (
    TableRequirement,
    TableUpdate,
    update_table_metadata,
)
from icefloe.types import ListType, MapType, NestedField, StructType


class Recorder:
    """A transaction that only applies updates to metadata."""

    def __init__(self, metadata: TableMetadata) -> None:
        self.table_metadata = metadata
        self.commits = 0
        self.updates: tuple[TableUpdate, ...] = ()

    def apply_updates(self, updates: tuple[TableUpdate, ...], requirements: tuple[TableRequirement, ...] = ()) -> None:
        for requirement in requirements:
            requirement.validate(self.table_metadata)
        self.table_metadata = update_table_metadata(self.table_metadata, updates, enforce_validation=True)
        self.commits += 1
        self.updates = updates

    @property
    def schema(self) -> Schema:
        return self.table_metadata.schema()

    def names(self) -> list[str]:
        return [field.name for field in self.schema.fields]


def table(**properties: Any) -> Recorder:
    schema = Schema(
        NestedField(1, "id", "int", required=True),
        NestedField(2, "day", "date"),
        NestedField(3, "at", StructType(NestedField(4, "x", "float", required=True), NestedField(5, "y", "float"))),
        NestedField(6, "tags", ListType(7, StructType(NestedField(8, "k", "string")))),
        NestedField(9, "named", MapType(10, "string", 11, "decimal(9, 2)")),
        identifier_field_ids=[1],
    )
    spec = PartitionSpec(PartitionField(2, 1000, "month", "day_month"))
    return Recorder(new_table_metadata(schema, spec, SortOrder(SortField(1)), "/t", properties))
