"""Manifests, manifest lists and position delete files with the paths of another location, written to a staging directory.

Files are written from the bottom up, so that every size that a copy states is the size of the copy: position deletes, manifests,
manifest lists.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.table.properties.core import delete_file_properties, manifest_properties
from icefloe.table.properties.definitions import (
    DATA_PATH,
    DELETE_FORMAT,
    DELETE_GRANULARITY,
    DELETE_TARGET_FILE_SIZE,
)
from icefloe.table.read_context import schema_json, schemas_json, specs_json
from icefloe.table.write.position_deletes import deleted_positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from icefloe.io import FileIO
    from icefloe.table.maintenance.path_rewrite.prefixes import Prefixes
    from icefloe.table.metadata import TableMetadata

ADDED = 1
DELETED = 2
POSITION_DELETES = 1
_THREADS = 8
_OF_CONTENT = (
    "record_count",
    "file_size_in_bytes",
    "column_sizes",
    "value_counts",
    "null_value_counts",
    "nan_value_counts",
    "lower_bounds",
    "upper_bounds",
    "split_offsets",
)
"""Columns of a delete file that its new content changes."""


class StagedManifests:
    """Copies of manifests and of position delete files.

    Args:
        io: Storage of the table.
        metadata: The version of the table that is copied.
        prefixes: The source and the target prefix.
        staging: The staging directory, without a trailing slash.
    """

    def __init__(self, io: FileIO, metadata: TableMetadata, prefixes: Prefixes, staging: str) -> None:
        self.staged: dict[str, list[tuple[str, str]]] = {}
        self.delete_files: dict[str, str] = {}
        self._io = io
        self._metadata = metadata
        self._prefixes = prefixes
        self._staging = staging
        self._written: dict[str, pa.Table] = {}
        self._deletes: dict[str, pa.RecordBatch] = {}

    def write(self, manifests: pa.Table) -> None:
        """Write copies of manifests, each of them once, and of the live position delete files in them.

        Args:
            manifests: Rows of manifest lists.
        """
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="icefloe-paths") as pool:
            entries = dict(
                zip(
                    manifests.column("manifest_path").to_pylist(),
                    pool.map(self._entries, (manifests.slice(row, 1) for row in range(manifests.num_rows))),
                    strict=True,
                )
            )
            self._stage_deletes(pool, entries.values())
            jobs = [
                pool.submit(self._write, number, manifests.slice(number, 1), one)
                for number, one in enumerate(entries.values())
            ]
            for path, job in zip(entries, jobs, strict=True):
                self._written[path], self.staged[path] = job.result()

    def write_list(self, location: str, rows: pa.Table, snapshot: Mapping[str, Any]) -> None:
        """Write the copy of a manifest list.

        Args:
            location: The location of the copy.
            rows: The rows of the manifest list.
            snapshot: `snapshot_id`, `parent_snapshot_id` and `sequence_number` of the snapshot.
        """
        manifests = [self._written[path] for path in rows.column("manifest_path").to_pylist()]
        schema = rows.schema
        table = pa.concat_tables([schema.empty_table(), *(one.select(schema.names).cast(schema) for one in manifests)])
        _core.write_manifest_list(
            self._io.core, location, table, format_version=self._metadata.format_version, **snapshot
        )

    # ---- manifests

    def _entries(self, manifest: pa.Table) -> pa.Table:
        metadata = self._metadata
        return _core.read_manifest(
            self._io.core, manifest, schema=schemas_json(metadata), specs=specs_json(metadata), keep="all"
        )

    def _write(self, number: int, row: pa.Table, entries: pa.Table) -> tuple[pa.Table, list[tuple[str, str]]]:
        """Write the copy of a manifest; return its rows of a manifest list, and location and target of each file."""
        metadata = self._metadata
        written = pa.Table.from_batches(
            [
                _core.write_manifests(
                    self._io.core,
                    f"{self._staging}/manifest-{number}",
                    self._with_paths(entries),
                    schema=schemas_json(metadata),
                    specs=specs_json(metadata),
                    format_version=metadata.format_version,
                    snapshot_id=row.column("added_snapshot_id")[0].as_py() or 0,
                    content=row.column("content")[0].as_py() or 0,
                    first_index=0,
                    properties=manifest_properties(metadata.properties),
                )
            ]
        )
        target = self._prefixes.of_location(row.column("manifest_path")[0].as_py())
        paths = [target]
        if written.num_rows > 1:
            # The core writes at most 10,000 entries to one manifest.
            stem, dot, extension = target.rpartition(".")
            paths = [f"{stem}-{part}{dot}{extension}" for part in range(written.num_rows)]
            for name in ("sequence_number", "min_sequence_number", "added_snapshot_id", "key_metadata"):
                written = _with(written, name, pa.repeat(row.column(name)[0], written.num_rows))
            row = written
        locations = written.column("manifest_path").to_pylist()
        row = _with(row, "manifest_length", written.column("manifest_length"))
        return _with(row, "manifest_path", pa.array(paths, pa.string())), list(zip(locations, paths, strict=True))

    def _with_paths(self, entries: pa.Table) -> pa.Table:
        """Return entries with new paths, and with the sizes and bounds of the staged position delete files."""
        entries = entries.combine_chunks()
        if self._deletes:
            count = entries.num_rows
            own = pa.array(range(count), pa.int64())
            place = pc.index_in(entries.column("file_path"), value_set=pa.array(self._deletes, pa.string()))
            chosen = pc.coalesce(pc.add(place.cast(pa.int64()), count), own)
            new = pa.Table.from_batches(list(self._deletes.values()))
            for name in _OF_CONTENT:
                values = entries.column(name)
                both = pa.chunked_array([*values.chunks, *new.column(name).cast(values.type).chunks], values.type)
                entries = _with(entries, name, both.combine_chunks().take(chosen))
        # An added file has the sequence number of its manifest, which readers take from the manifest list.
        numbers = entries.column("file_sequence_number")
        is_added = pc.equal(entries.column("status"), ADDED)
        entries = _with(entries, "file_sequence_number", pc.if_else(is_added, pa.scalar(None, numbers.type), numbers))
        for name in ("file_path", "referenced_data_file"):
            entries = _with(entries, name, self._prefixes.of_column(entries.column(name)))
        return entries

    # ---- position delete files

    def _stage_deletes(self, pool: ThreadPoolExecutor, manifests: Iterable[pa.Table]) -> None:
        """Write copies of the live position delete files of manifests."""
        found: dict[str, pa.Table] = {}
        for entries in manifests:
            live = pc.not_equal(entries.column("status"), DELETED)
            deletes = entries.filter(pc.and_(live, pc.equal(entries.column("content"), POSITION_DELETES)))
            for row, path in enumerate(deletes.column("file_path").to_pylist()):
                found.setdefault(path, deletes.slice(row, 1))
        jobs = [pool.submit(self._stage_delete, number, file) for number, file in enumerate(found.values())]
        for path, job in zip(found, jobs, strict=True):
            self._deletes[path] = job.result()
            self.delete_files[path] = self._deletes[path].column("file_path")[0].as_py()

    def _stage_delete(self, number: int, file: pa.Table) -> pa.RecordBatch:
        metadata = self._metadata
        numbered = file.append_column("data_sequence_number", file.column("sequence_number"))
        batches = [
            pa.record_batch(
                [self._prefixes.of_column(batch.column("file_path")), batch.column("pos")], names=["file_path", "pos"]
            )
            for batch in deleted_positions(self._io.core, numbered.combine_chunks().to_batches()[0])
        ]
        schema = pa.schema([("file_path", pa.string()), ("pos", pa.int64())])
        positions = pa.Table.from_batches(batches, schema)
        paths = pc.unique(positions.column("file_path"))
        targets = pa.table(
            {
                "file_path": paths,
                "spec_id": pa.repeat(file.column("spec_id")[0], len(paths)),
                "partition": pa.repeat(file.column("partition")[0], len(paths)),
            }
        )
        # One file stays one file, in its format.
        properties = {
            **delete_file_properties(metadata.properties),
            DELETE_GRANULARITY.name: "partition",
            DELETE_FORMAT.name: file.column("file_format")[0].as_py().lower(),
            DELETE_TARGET_FILE_SIZE.name: str(2**62),
        }
        properties.pop(DATA_PATH.name, None)
        return _core.write_position_deletes(
            self._io.core,
            positions,
            targets=targets,
            schema=schema_json(metadata.schema()),
            specs=specs_json(metadata),
            table_location=f"{self._staging}/deletes-{number}",
            properties=properties,
            operation_id=str(number),
            partition_id=0,
            task_id=0,
        )


def _with(table: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    """Return a table with one column replaced."""
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(place), values)
