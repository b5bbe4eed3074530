"""The facts of one version of a table that checks read: its metadata, its manifests and the plan of all its files."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue
from icefloe.manifest.reading import MANIFEST_SCHEMA
from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.expiry.retention import RetentionRules, retention
from icefloe.table.maintenance.groups.file_groups import GROUPS, pack
from icefloe.table.maintenance.groups.options import RewriteOptions
from icefloe.table.maintenance.policy_steps import compaction_options
from icefloe.table.maintenance.rewrite.candidates import data_file_candidates
from icefloe.table.maintenance.rewrite.clustering import BINPACK, Clustering
from icefloe.table.properties.definitions import GC_ENABLED, TARGET_FILE_SIZE
from icefloe.table.properties.maintenance import SMALL_FILE_PERCENT
from icefloe.table.scan.selection import Selection
from icefloe.table.table_version import TableVersion

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.properties.reading import TableProperty
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.snapshots import Snapshot
    from icefloe.typedef import Identifier

NO_CATALOG = "none"


@dataclass(frozen=True)
class TableFacts:
    """One version of a table and the facts of its manifests. Manifests are read once, at the first use of `plan`.

    Attributes:
        identifier: Namespace levels and name.
        catalog: Name of the catalog, `none` for a table that was read from its metadata file.
        metadata: The metadata.
        metadata_location: The location of its file.
        io: Storage.
        now_ms: The time of the diagnosis.
    """

    identifier: Identifier
    catalog: str
    metadata: TableMetadata
    metadata_location: str
    io: FileIO
    now_ms: int

    @staticmethod
    def of(table: Any) -> TableFacts:
        """Return the facts of the version that a table handle has.

        Raises:
            ValidationError: The value is no table.
        """
        handle: object = table
        if not isinstance(handle, TableVersion):
            raise ValidationError(f"table: expected a table's handle, got {handle!r}")
        metadata, location = table.version
        return TableFacts(table.name(), table.catalog.name, metadata, location, table.io, SYSTEM.now_ms())

    @property
    def name(self) -> str:
        """The table's name; its metadata location if it has no catalog."""
        return self.metadata_location if self.catalog == NO_CATALOG else ".".join(self.identifier)

    def command(self, verb: str, *arguments: str) -> str | None:
        """Return the `icefloe` command of a verb on this table; None for a table without a catalog, which nothing can change."""
        if self.catalog == NO_CATALOG:
            return None
        return shlex.join(["icefloe", "--catalog", self.catalog, *verb.split(), self.name, *arguments])

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """The current snapshot."""
        return self.metadata.current_snapshot()

    @cached_property
    def manifests(self) -> pa.Table:
        """The manifests of the current snapshot, as rows of a manifest list."""
        return MANIFEST_SCHEMA.empty_table() if self.snapshot is None else self.snapshot.manifest_rows(self.io)

    @cached_property
    def plan(self) -> ScanPlan:
        """The plan of all data files of the current snapshot, with the delete files of each."""
        selection = Selection(self.metadata, self.io, self.metadata.schema(), AlwaysTrue(), ("*",), case_sensitive=True)
        return selection.plan(self.snapshot)

    @property
    def files(self) -> pa.RecordBatch:
        """One row per data file."""
        return self.plan.files

    @property
    def deletes(self) -> pa.RecordBatch:
        """One row per delete file that applies to a data file."""
        return self.plan.deletes

    @cached_property
    def fan_in(self) -> pa.Array:
        """The number of delete files that apply to each data file, int64."""
        lists = self.files.column("deletes")
        flat = pc.list_flatten(lists)
        pairs = pa.table({"file": pc.list_parent_indices(lists), "count": pc.struct_field(flat, "count")})
        counted = pairs.group_by("file").aggregate([("count", "sum")])
        return _scattered(counted.column("file"), counted.column("count_sum"), len(lists))

    @cached_property
    def small_file_size(self) -> int:
        """The size in bytes below which a data file is small."""
        target: int = self.threshold(TARGET_FILE_SIZE)
        percent: int = self.threshold(SMALL_FILE_PERCENT)
        return target * percent // 100

    @cached_property
    def compaction(self) -> pa.Table:
        """The files that a compaction by the table's thresholds rewrites, one row for each: `group`, `reason`, `size` in bytes.

        The doctor reports what a compaction mends, and nothing else, so that its findings end when its commands have run.
        """
        nothing = _compacted_files(GROUPS.empty_table(), pa.array([], pa.int64()))
        if self.files.num_rows == 0:
            return nothing
        options = RewriteOptions.of("doctor", compaction_options(self.threshold))
        # A property that cannot be read is a finding of its own.
        readable = {TARGET_FILE_SIZE.name: str(self.threshold(TARGET_FILE_SIZE))}
        try:
            sizes = options.sizes("doctor", readable)
        except ValidationError:
            # No size lies between a target of 1 byte and the sizes of files that stay.
            return nothing
        specs, clustering = self.metadata.specs(), Clustering(BINPACK)
        candidates = data_file_candidates(self.plan, specs, self.metadata.spec(), clustering, sizes, options)
        packed = pack(candidates, sizes, options)
        return _compacted_files(packed.groups, self.files.column("file_size_in_bytes").take(packed.rows))

    @cached_property
    def expired_ids(self) -> tuple[int, ...]:
        """The snapshots that an expiry by the retention of the table and its branches removes; none while a property cannot be read."""
        try:
            return retention(self.metadata, RetentionRules(now_ms=self.now_ms)).expired_ids
        except ValidationError:
            return ()

    @property
    def may_delete_files(self) -> bool:
        """Whether `gc.enabled` permits expiry and removal of orphan files."""
        return bool(self.threshold(GC_ENABLED))

    def threshold(self, definition: TableProperty[Any]) -> Any:
        """Return the value of a property, or its default if the table sets a text that is not a value of it."""
        text = self.metadata.properties.get(definition.name)
        value = None if text is None else definition.kind.parse(text)
        return definition.default if value is None else value


def _compacted_files(groups: pa.Table, sizes: pa.Array) -> pa.Table:
    counts = groups.column("files").to_pylist()
    numbers = [number for number, count in enumerate(counts) for _ in range(count)]
    numbers = pa.array(numbers, pa.int64())
    return pa.table(
        {
            "group": numbers,
            "reason": groups.column("reason").take(numbers),
            "new_files": groups.column("new_files").take(numbers),
            "size": sizes,
        }
    )


def _scattered(positions: pa.ChunkedArray, values: pa.ChunkedArray, length: int) -> pa.Array:
    """Return an array with `values` at `positions` and 0 elsewhere."""
    order = pc.index_in(pa.array(range(length), pa.int32()), value_set=positions.cast(pa.int32()))
    return pc.fill_null(pc.take(values.combine_chunks(), order), 0)
