"""The rows and columns that a scan selects, resolved in one schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe import _core
from icefloe.expressions.filter import Filter
from icefloe.table.read_context import context_json, schema_json, with_column_partition_ids
from icefloe.table.scan.metadata_columns import METADATA_COLUMNS, PARTITION, check_names, with_metadata_columns
from icefloe.table.scan.plan import ScanPlan

if TYPE_CHECKING:
    from icefloe.expressions import BooleanExpression
    from icefloe.io import FileIO
    from icefloe.schema import Schema
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot


@dataclass(frozen=True)
class Selection:
    """A filter and column names, resolved in a schema of a table.

    Attributes:
        metadata: The table.
        io: Storage.
        schema: The schema that names are resolved in.
        row_filter: Filter, as text or as an expression.
        selected_fields: Column names; `*` for all of the schema.
        case_sensitive: Whether names must match in case.
    """

    metadata: TableMetadata
    io: FileIO
    schema: Schema
    row_filter: str | BooleanExpression
    selected_fields: tuple[str, ...]
    case_sensitive: bool

    def projection(self) -> Schema:
        """Return the schema of the selected columns, metadata columns left out."""
        names = [name for name in self.selected_fields if name not in METADATA_COLUMNS]
        return self.schema if "*" in names else self.schema.select(*names, case_sensitive=self.case_sensitive)

    def projection_json(self) -> str:
        """Return the schema of the selected columns as JSON, metadata columns last."""
        check_names(self.selected_fields, self.schema)
        names = [name for name in dict.fromkeys(self.selected_fields) if name in METADATA_COLUMNS]
        return with_metadata_columns(schema_json(self.projection()), names, self.metadata)

    def read_context(self, context: str) -> str:
        """Return the context, JSON, in which a plan of the context is read."""
        return with_column_partition_ids(context, self.metadata) if PARTITION in self.selected_fields else context

    def column_names(self) -> tuple[str, ...]:
        """Return the names of the selected columns, metadata columns last."""
        return tuple(field["name"] for field in json.loads(self.projection_json())["fields"])

    def filter(self) -> Filter:
        """Return the filter with its schema and case rule."""
        return Filter.of(self.row_filter, self.schema, case_sensitive=self.case_sensitive)

    def plan(
        self,
        snapshot: Snapshot | None,
        *,
        read_filter: Filter | None = None,
        added_only: bool = False,
        split_size: int | None = None,
        include_stats: bool = False,
    ) -> ScanPlan:
        """Plan the files of a snapshot that may hold selected rows.

        Args:
            snapshot: The snapshot; None plans no file, and the plan still has the schema.
            read_filter: The filter that rows are planned and read by, `filter()` if None.
            added_only: Plan only the files that the snapshot added.
            split_size: Wanted bytes of a task; None for one task per file.
            include_stats: Include column statistics in the plan's files.
        """
        context = context_json(self.metadata, self.schema, case_sensitive=self.case_sensitive)
        planned = _core.plan(
            self.io.core,
            context,
            manifest_list=snapshot.manifest_list if snapshot is not None else None,
            manifests=list(snapshot.manifest_paths or ()) if snapshot is not None else [],
            filter=(read_filter or self.filter()).json,
            split_size=split_size,
            include_stats=include_stats,
            added_by=snapshot.snapshot_id if snapshot is not None and added_only else None,
        )
        return ScanPlan(
            files=planned.files,
            deletes=planned.deletes,
            counters=dict(planned.counters),
            context=self.read_context(context),
            projection=self.projection_json(),
            io=self.io,
        )
