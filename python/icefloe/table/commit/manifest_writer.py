"""Writing the manifests and manifest lists of one snapshot, and recording their locations for the clean-up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationException
from icefloe.io.arrow_values import empty_table, int_scalar
from icefloe.manifest.reading import MANIFEST_SCHEMA
from icefloe.table.metadata.files import metadata_directory
from icefloe.table.properties.core import manifest_properties
from icefloe.table.properties.definitions import MANIFEST_MIN_MERGE_COUNT, MANIFEST_TARGET_SIZE
from icefloe.table.read_context import schemas_json, specs_json

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

DATA = 0
DELETES = 1


def manifests_of(io: FileIO, snapshot: Snapshot) -> pa.Table:
    """Return the manifests of a snapshot as rows of a manifest list.

    Manifests that an old snapshot of version 1 lists in the table metadata count as added by that snapshot, since nothing records the
    snapshot that added them.
    """
    rows = snapshot.manifest_rows(io)
    position = rows.schema.get_field_index("added_snapshot_id")
    added_by = pc.coalesce(rows.column(position), int_scalar(snapshot.snapshot_id, pa.int64()))
    return rows.set_column(position, rows.schema.field(position), added_by)


class ManifestWriter:
    """Writes the manifests of one snapshot: manifests of added files once, all others for each attempt.

    Args:
        io: Storage.
        snapshot_id: The new snapshot.
        commit_uuid: The UUID in the names of its files.
    """

    def __init__(self, io: FileIO, snapshot_id: int, commit_uuid: str) -> None:
        self.written: list[str] = []
        self._io = io
        self._snapshot_id = snapshot_id
        self._commit_uuid = commit_uuid
        self._next_index = 0
        self._added: dict[tuple[int, int], pa.Table] = {}

    def list_of(self, snapshot: Snapshot | None) -> pa.Table:
        """Return the manifests of a snapshot; an empty table for None."""
        if snapshot is None:
            return empty_table(MANIFEST_SCHEMA)
        return manifests_of(self._io, snapshot)

    def add(self, base: TableMetadata, content: int, batches: list[pa.RecordBatch]) -> pa.Table:
        """Return manifests of added files. Later attempts share them unless the format version has changed."""
        if not batches:
            return empty_table(MANIFEST_SCHEMA)
        key = (content, base.format_version)
        if key not in self._added:
            entries = pa.Table.from_batches(batches)
            written = _core.write_manifests(
                self._io.core,
                self._prefix(base),
                entries,
                content=content,
                first_index=self._next_index,
                **self._table(base),
            )
            self._added[key] = self._remember(pa.Table.from_batches([written]))
        return self._added[key]

    def remove(self, base: TableMetadata, manifests: pa.Table, paths: pa.Array) -> _core.FilteredManifests:
        """Mark files as deleted, rewriting the manifests that list them.

        Raises:
            ValidationException: A file is not live: another commit removed it, or it never was part of the table.
        """
        filtered = _core.filter_manifests(
            self._io.core,
            self._prefix(base),
            manifests,
            deleted_paths=paths,
            first_index=self._next_index,
            **self._table(base),
        )
        self._remember_new(filtered.manifests, manifests)
        if filtered.missing:
            more = f" and {len(filtered.missing) - 1} more" if len(filtered.missing) > 1 else ""
            raise ValidationException(
                f"cannot remove {filtered.missing[0]}{more}: not part of the table any more; reload the table and repeat the "
                "operation"
            )
        return filtered

    def live_entries(self, base: TableMetadata, manifests: pa.Table, *, statistics: bool = True) -> pa.Table:
        """Return the live entries of manifests; without statistics, which are most of an entry, these are null."""
        return _core.read_manifest(
            self._io.core,
            manifests,
            schema=schemas_json(base),
            specs=specs_json(base),
            keep="live",
            statistics=statistics,
        )

    def rewrite(self, base: TableMetadata, entries: pa.Table, content: int = DATA) -> pa.Table:
        """Write entries of one content as they are into new manifests; each attempt writes its own."""
        written = _core.write_manifests(
            self._io.core,
            self._prefix(base),
            entries,
            content=content,
            first_index=self._next_index,
            **self._table(base),
        )
        return self._remember(pa.Table.from_batches([written]))

    def merge(self, base: TableMetadata, manifests: pa.Table) -> pa.Table:
        """Merge small manifests of one kind as the table properties `commit.manifest.*` require."""
        if manifests.num_rows < 2:
            return manifests
        merged = _core.merge_manifests(
            self._io.core,
            self._prefix(base),
            manifests,
            first_index=self._next_index,
            target_size_bytes=MANIFEST_TARGET_SIZE.of(base.properties),
            min_count_to_merge=MANIFEST_MIN_MERGE_COUNT.of(base.properties),
            **self._table(base),
        )
        self._remember_new(merged, manifests)
        return pa.Table.from_batches([merged])

    def write_list(
        self, base: TableMetadata, manifests: pa.Table, attempt: int, parent_id: int | None, sequence_number: int
    ) -> str:
        """Write the manifest list of one attempt and return its location."""
        name = f"snap-{self._snapshot_id}-{attempt}-{self._commit_uuid}.avro"
        location = f"{metadata_directory(base)}/{name}"
        self.written.append(location)
        _core.write_manifest_list(
            self._io.core,
            location,
            manifests,
            format_version=base.format_version,
            snapshot_id=self._snapshot_id,
            parent_snapshot_id=parent_id,
            sequence_number=sequence_number,
        )
        return location

    def _prefix(self, base: TableMetadata) -> str:
        return f"{metadata_directory(base)}/{self._commit_uuid}"

    def _table(self, base: TableMetadata) -> dict[str, Any]:
        return {
            "schema": schemas_json(base),
            "specs": specs_json(base),
            "format_version": base.format_version,
            "snapshot_id": self._snapshot_id,
            "properties": manifest_properties(base.properties),
        }

    def _remember(self, manifests: pa.Table) -> pa.Table:
        self._next_index += manifests.num_rows
        self.written += manifests.column("manifest_path").to_pylist()
        return manifests

    def _remember_new(self, after: pa.RecordBatch, before: pa.Table) -> None:
        rows = pa.Table.from_batches([after])
        earlier = before.column("manifest_path").combine_chunks()
        self._remember(rows.filter(pc.invert(pc.is_in(rows.column("manifest_path"), earlier))))
