"""Scans: which rows and columns of which snapshot, and every way to get them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue, And
from icefloe.table.read_context import context_json, filter_json, schema_json, to_expression
from icefloe.table.refs import SnapshotRefType
from icefloe.table.scan.explain import ScanExplanation
from icefloe.table.scan.plan import ScanPlan
from icefloe.table.scan.task import DEFAULT_GROUP_SIZE_BYTES, FileScanTask, TaskGroup, batch_reader
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import pandas as pd
    import polars as pl
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.io import FileIO
    from icefloe.schema import Schema
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot
    from icefloe.typedef import Properties

SPLIT_SIZE_OPTION = "split-size"
SPLIT_SIZE_PROPERTY = "read.split.target-size"
BATCH_SIZE_OPTION = "batch-size"
OPTIONS = (SPLIT_SIZE_OPTION, BATCH_SIZE_OPTION)
ALL_COLUMNS = ("*",)

# Field ids of metadata columns: specification, "Reserved Field IDs".
METADATA_COLUMNS = {
    "_file": (2147483646, "string"),
    "_pos": (2147483645, "long"),
    "_spec_id": (2147483643, "int"),
}


@dataclass(frozen=True)
class TableScan:
    """A scan that has not begun. Every method that changes something returns a new scan.

    Attributes:
        table_metadata: The table.
        io: Storage.
        row_filter: Which rows, as text or as an expression.
        selected_fields: Which columns, `("*",)` for all. Nested fields by dotted names. `_file`, `_pos`, `_spec_id` too.
        case_sensitive: Whether names must match exactly.
        snapshot_id: Which snapshot; None for the current one.
        options: `split-size` (bytes of a task), `batch-size` (rows of a batch).
        limit: Most rows to return, None for all.
        table_name: For messages and explanations.
        ref_is_branch: Whether the snapshot is read as a branch, with the table's current schema.
    """

    table_metadata: TableMetadata
    io: FileIO = field(repr=False)
    row_filter: str | BooleanExpression = field(default_factory=AlwaysTrue)
    selected_fields: tuple[str, ...] = ALL_COLUMNS
    case_sensitive: bool = True
    snapshot_id: int | None = None
    options: Properties = field(default_factory=lambda: EMPTY_DICT)
    limit: int | None = None
    table_name: str = "table"
    ref_is_branch: bool = False

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise ValidationError(f"limit {self.limit} must not be negative")
        unknown = sorted(set(self.options) - set(OPTIONS))
        if unknown:
            raise ValidationError(f"unknown scan options {', '.join(unknown)}; there are {', '.join(OPTIONS)}")

    # ---- which rows and columns

    def update(self, **overrides: Any) -> Self:
        """Return a scan with some attributes replaced."""
        return replace(self, **overrides)

    def filter(self, expr: str | BooleanExpression) -> Self:
        """Return a scan that also keeps to a filter.

        Example:
            >>> scan.filter("id > 1").filter("id < 3").count()
            1
        """
        added, own = to_expression(expr), to_expression(self.row_filter)
        return self.update(row_filter=added if isinstance(own, AlwaysTrue) else And(own, added))

    def select(self, *field_names: str) -> Self:
        """Return a scan of these columns, of those that were selected before.

        Raises:
            ValidationError: None of the columns was selected before.
        """
        if "*" in self.selected_fields:
            return self.update(selected_fields=field_names)
        both = tuple(name for name in field_names if name in self.selected_fields)
        if not both:
            raise ValidationError(f"{', '.join(field_names)}: not among the selected {', '.join(self.selected_fields)}")
        return self.update(selected_fields=both)

    def with_case_sensitive(self, case_sensitive: bool = True) -> Self:
        """Return a scan that matches names exactly, or regardless of case."""
        return self.update(case_sensitive=case_sensitive)

    def use_ref(self, name: str) -> Self:
        """Return a scan of a branch or tag. A branch is read with the table's current schema, a tag with its snapshot's.

        Raises:
            ValidationError: There is no such ref, or a snapshot was chosen already.
        """
        self._check_no_snapshot(f"ref {name!r}")
        ref = self.table_metadata.refs.get(name)
        if ref is None:
            known = ", ".join(sorted(self.table_metadata.refs)) or "none"
            raise ValidationError(f"{self.table_name} has no branch or tag {name!r}; it has {known}")
        return self.update(snapshot_id=ref.snapshot_id, ref_is_branch=ref.snapshot_ref_type == SnapshotRefType.BRANCH)

    def as_of(self, timestamp_ms: int) -> Self:
        """Return a scan of the table as it was at a time.

        Args:
            timestamp_ms: Milliseconds since 1970-01-01 UTC.

        Raises:
            ValidationError: The table had no snapshot then, or a snapshot was chosen already.
        """
        self._check_no_snapshot(f"time {timestamp_ms}")
        earlier = [entry for entry in self.table_metadata.snapshot_log if entry.timestamp_ms <= timestamp_ms]
        if not earlier:
            raise ValidationError(f"{self.table_name} had no snapshot at {timestamp_ms}, or it has been expired")
        return self.update(snapshot_id=earlier[-1].snapshot_id)

    def snapshot(self) -> Snapshot | None:
        """Return the snapshot to be scanned, None for a table without any.

        Raises:
            ValidationError: The table does not know the snapshot.
        """
        if self.snapshot_id is None:
            return self.table_metadata.current_snapshot()
        found = self.table_metadata.snapshot_by_id(self.snapshot_id)
        if found is None:
            raise ValidationError(f"{self.table_name} has no snapshot {self.snapshot_id}; it may have been expired")
        return found

    def schema(self) -> Schema:
        """Return the schema that names are resolved in: the snapshot's own when time travelling, else the current one."""
        if self.snapshot_id is not None and not self.ref_is_branch:
            snapshot = self.snapshot()
            if snapshot is not None and snapshot.schema_id is not None:
                for schema in self.table_metadata.schemas:
                    if schema.schema_id == snapshot.schema_id:
                        return schema
        return self.table_metadata.schema()

    def projection(self) -> Schema:
        """Return the schema of the rows, metadata columns not included.

        Raises:
            ResolveError: A selected column does not exist.
        """
        schema = self.schema()
        names = [name for name in self.selected_fields if name not in METADATA_COLUMNS]
        return schema if "*" in names else schema.select(*names, case_sensitive=self.case_sensitive)

    # ---- plans

    def plan(self, *, include_stats: bool = False) -> ScanPlan:
        """Plan the scan: which files, cut into tasks, with which deletes.

        Args:
            include_stats: Whether the plan's files carry column statistics.
        """
        return self._plan(split_size=self._split_size(), include_stats=include_stats)

    def plan_whole_files(self) -> ScanPlan:
        """Plan the scan with one task per data file, as changes of rows need it."""
        return self._plan(split_size=None)

    def plan_files(self) -> Iterator[FileScanTask]:
        """Yield the scan's tasks, one per data file, made one by one.

        Example:
            >>> [task.record_count for task in scan.plan_files()]
            [3]
        """
        return self._plan(split_size=None).tasks()

    def plan_groups(self, target_size: int = DEFAULT_GROUP_SIZE_BYTES) -> list[TaskGroup]:
        """Return the tasks in groups of about `target_size` bytes, which pickle, for readers elsewhere."""
        return self.plan().groups(target_size)

    def explain(self) -> ScanExplanation:
        """Return what the scan will read and what pruning spared it.

        Example:
            >>> scan.filter("id > 100").explain().counters["files_planned"]
            0
        """
        snapshot = self.snapshot()
        return ScanExplanation(
            table=self.table_name,
            snapshot_id=snapshot.snapshot_id if snapshot is not None else None,
            row_filter=str(self.row_filter),
            columns=tuple(one.name for one in self.projection().fields),
            counters=self._plan(split_size=None).counters,
        )

    # ---- rows

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table.

        Example:
            >>> scan.to_arrow().column("id").to_pylist()
            [1, 2, 3]
        """
        return self.to_arrow_batch_reader().read_all()

    def to_arrow_batch_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of Arrow record batches; memory is bounded by a few of them."""
        return batch_reader(self._stream())

    def to_pandas(self, **kwargs: Any) -> pd.DataFrame:
        """Return the rows as a pandas data frame; keywords are those of `pyarrow.Table.to_pandas`."""
        return self.to_arrow().to_pandas(**kwargs)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars data frame."""
        import polars as pl

        return pl.DataFrame(self)

    def to_duckdb(
        self, table_name: str, connection: duckdb.DuckDBPyConnection | None = None
    ) -> duckdb.DuckDBPyConnection:
        """Register the rows as a table in DuckDB and return the connection.

        Args:
            table_name: What SQL calls them.
            connection: Where to; a new in-memory database when None.
        """
        import duckdb

        own = connection if connection is not None else duckdb.connect(":memory:")
        own.register(table_name, self.to_arrow())
        return own

    def count(self) -> int:
        """Return how many rows there are. Files without deletes whose rows all match are counted from metadata alone.

        Example:
            >>> scan.count()
            3
        """
        plan = self._plan(split_size=None)
        known = pc.and_(
            pc.or_(plan.files.column("must_match"), pc.is_null(plan.files.column("residual"))),
            pc.equal(pc.fill_null(pc.list_value_length(plan.files.column("deletes")), 0), 0),
        )
        counted = pc.sum(plan.files.filter(known).column("record_count")).as_py()
        rest = replace(
            plan, files=plan.files.filter(pc.invert(known)), projection=_metadata_schema(["_pos"]), limit=None
        )
        total: int = (counted or 0) + sum(batch.num_rows for batch in rest.stream())
        return total if self.limit is None else min(total, self.limit)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._stream(string_views=True).__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._stream(string_views=True).__arrow_c_schema__()

    # ---- how

    def _plan(self, *, split_size: int | None, include_stats: bool = False) -> ScanPlan:
        snapshot = self.snapshot()
        context = context_json(self.table_metadata, self.schema(), case_sensitive=self.case_sensitive)
        planned = _core.plan(
            self.io.core,
            context,
            manifest_list=snapshot.manifest_list if snapshot is not None else None,
            manifests=list(snapshot.manifest_paths or ()) if snapshot is not None else [],
            filter=filter_json(self.row_filter, self.schema(), case_sensitive=self.case_sensitive),
            split_size=split_size,
            include_stats=include_stats,
        )
        return ScanPlan(
            files=planned.files,
            deletes=planned.deletes,
            counters=dict(planned.counters),
            context=context,
            projection=self._projection_json(),
            io=self.io,
            limit=self.limit,
        )

    def _stream(self, *, string_views: bool = False) -> _core.ScanStream:
        batch_size = self._positive(BATCH_SIZE_OPTION, self.options.get(BATCH_SIZE_OPTION, "65536"))
        return self.plan().stream(string_views=string_views, batch_size=batch_size)

    def _projection_json(self) -> str:
        wanted = [name for name in self.selected_fields if name in METADATA_COLUMNS]
        rows = json.loads(schema_json(self.projection()))
        rows["fields"] += [_metadata_field(name) for name in wanted]
        return json.dumps(rows)

    def _split_size(self) -> int:
        text = self.options.get(SPLIT_SIZE_OPTION)
        if text is None:
            text = self.table_metadata.properties.get(SPLIT_SIZE_PROPERTY, str(DEFAULT_GROUP_SIZE_BYTES))
        return self._positive(SPLIT_SIZE_OPTION, text)

    def _positive(self, name: str, text: object) -> int:
        digits = str(text)
        if not (digits.isascii() and digits.isdigit() and int(digits) > 0):
            raise ValidationError(f"{name}={digits!r} must be a whole number above zero")
        return int(digits)

    def _check_no_snapshot(self, what: str) -> None:
        if self.snapshot_id is not None:
            raise ValidationError(f"{what}: the scan is of snapshot {self.snapshot_id} already; begin with a new scan")


class DataScan(TableScan):
    """The scan of a table's rows, as `Table.scan` returns it."""


def _metadata_field(name: str) -> dict[str, object]:
    field_id, kind = METADATA_COLUMNS[name]
    return {"id": field_id, "name": name, "required": True, "type": kind}


def _metadata_schema(names: list[str]) -> str:
    return json.dumps({"type": "struct", "schema-id": 0, "fields": [_metadata_field(name) for name in names]})
