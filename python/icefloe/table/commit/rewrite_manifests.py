"""Snapshots that arrange the entries of data manifests anew: no file is added or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.manifest.reading import MANIFEST_SCHEMA
from icefloe.table.commit.manifest_writer import DATA
from icefloe.table.commit.snapshot_producer import Manifests, SnapshotProducer
from icefloe.table.commit.summary import file_columns
from icefloe.table.properties.definitions import MANIFEST_TARGET_SIZE
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

EXISTING = 0


class RewriteManifests(SnapshotProducer):
    """Writes the live entries of data manifests into manifests of `commit.manifest.target-size-bytes`, clustered by partition.

    Delete manifests stay as they are. Entries keep their snapshot ids and sequence numbers, so that no reader sees a difference but the
    plan's cost. A concurrent commit never conflicts: the manifests of the newest head are rewritten.

    Examples:
        >>> table.rewrite_manifests().commit()
        >>> table.current_snapshot().summary["entries-processed"]
        '1'
    """

    _spec_id: int | None = None
    _chosen: Callable[[dict[str, Any]], bool] | None = None

    def spec_id(self, spec_id: int) -> Self:
        """Rewrite only manifests of one partition spec.

        Raises:
            ValidationError: The table has no such spec.
        """
        specs = self._transaction.table_metadata.specs()
        if spec_id not in specs:
            raise ValidationError(
                f"rewrite manifests: expected the id of a partition spec {sorted(specs)}, got {spec_id}"
            )
        self._spec_id = spec_id
        return self

    def rewrite_if(self, predicate: Callable[[dict[str, Any]], bool]) -> Self:
        """Rewrite only data manifests that a predicate accepts.

        Args:
            predicate: A function of the columns of a manifest, by the names of the manifest list: `manifest_path`,
                `manifest_length`, `partition_spec_id`, `added_files_count` and others.
        """
        self._chosen = predicate
        return self

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.REPLACE

    def _manifests(self, base: TableMetadata, head: Snapshot | None) -> Manifests:
        previous = self._writer.list_of(head)
        chosen = pa.array([self._is_chosen(row) for row in previous.to_pylist()], pa.bool_())
        replaced, kept = previous.filter(chosen), previous.filter(pc.invert(chosen))
        written = [MANIFEST_SCHEMA.empty_table()]
        processed = 0
        if replaced.num_rows > 0:
            entries = self._writer.live_entries(base, replaced)
            processed = entries.num_rows
            status = entries.schema.get_field_index("status")
            existing = pa.repeat(pa.scalar(EXISTING, pa.int32()), processed)
            entries = entries.set_column(status, entries.schema.field(status), existing)
            size = pc.sum(replaced.column("manifest_length")).as_py()
            parts = _parts(entries, size, MANIFEST_TARGET_SIZE.of(base.properties))
            written.extend(self._writer.rewrite(base, part) for part in parts)
        new = pa.concat_tables(written)
        self._properties["entries-processed"] = str(processed)
        return Manifests(
            rows=pa.concat_tables([new, kept]),
            removed=file_columns(),
            created=new.num_rows,
            kept=kept.num_rows,
            replaced=replaced.num_rows,
        )

    def _is_chosen(self, manifest: dict[str, Any]) -> bool:
        if manifest["content"] != DATA or self._spec_id not in (None, manifest["partition_spec_id"]):
            return False
        return self._chosen is None or bool(self._chosen(manifest))


def _parts(entries: pa.Table, size_bytes: int, target_bytes: int) -> Iterator[pa.Table]:
    """Cut entries, sorted by spec and partition, into parts of about the target size of a manifest; a part has one spec."""
    if entries.num_rows == 0:
        return
    entries = entries.sort_by([("spec_id", "ascending"), ("partition", "ascending")])
    per_manifest = max(1, entries.num_rows * target_bytes // max(size_bytes, 1))
    for spec_id in pc.unique(entries.column("spec_id")).to_pylist():
        of_spec = entries.filter(pc.equal(entries.column("spec_id"), spec_id))
        parts = -(-of_spec.num_rows // per_manifest)
        length = -(-of_spec.num_rows // parts)
        for start in range(0, of_spec.num_rows, length):
            yield of_spec.slice(start, length)
