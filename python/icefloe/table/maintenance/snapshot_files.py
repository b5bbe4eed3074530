"""The files that snapshots of table metadata refer to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.expressions.filter import Filter
from icefloe.manifest.reading import MANIFEST_SCHEMA
from icefloe.table.inspect.manifest_lists import DELETES, distinct_manifests, with_content
from icefloe.table.inspect.schemas import metadata_table_schema
from icefloe.table.maintenance.deletion import FILE_SCHEMA, KINDS, file_table
from icefloe.table.read_context import context_json, schema_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata


@dataclass(frozen=True)
class UnusedFiles:
    """The files of removed snapshots that nothing else in the table refers to.

    Attributes:
        files: The files, in the columns of `FILE_SCHEMA`.
        ambiguous: Locations that stay because the table refers to the same path below another scheme or authority.
        unread: `(location, reason)` of lists and manifests of removed snapshots that could not be read; missing files are omitted.
        used_spec_ids: The partition specs of the manifests of the other snapshots.
    """

    files: pa.Table
    ambiguous: tuple[str, ...]
    unread: tuple[tuple[str, str], ...]
    used_spec_ids: frozenset[int]


def unused_files(io: FileIO, before: TableMetadata, after: TableMetadata) -> UnusedFiles:
    """Return the files that a version of a table refers to and a later one does not, except metadata files.

    Args:
        io: The table's storage.
        before: A version of the table.
        after: The current version.

    Raises:
        IcebergError: A manifest list or manifest of `after` could not be read: no file is known to be unused.
    """
    remaining = set(after.snapshots.positions())
    removed = [snapshot_id for snapshot_id in before.snapshots.positions() if snapshot_id not in remaining]
    lists, manifests = manifest_locations(before, removed)
    kept_lists, kept_manifests = manifest_locations(after, remaining)
    if removed:
        found = _core.files_of_snapshots(
            io.core, lists=lists, manifests=manifests, kept_lists=kept_lists, kept_manifests=kept_manifests
        )
        files = pa.concat_tables([kinds_as_text(found.files), _unused_statistics(before, after)])
        unread = tuple((location, reason) for location, reason, is_missing in found.unread if not is_missing)
        return UnusedFiles(files, tuple(found.ambiguous), unread, frozenset(found.kept_spec_ids))
    return UnusedFiles(_unused_statistics(before, after), (), (), frozenset())


def manifest_locations(metadata: TableMetadata, snapshot_ids: Collection[int]) -> tuple[list[str], list[str]]:
    """Return the manifest lists of snapshots, and the manifests of snapshots that have no list."""
    lists, manifests = list[str](), list[str]()
    columns = (metadata.snapshots.column(key) for key in ("snapshot-id", "manifest-list", "manifests"))
    for snapshot_id, location, paths in zip(*columns, strict=True):
        if snapshot_id in snapshot_ids:
            if location is not None:
                lists.append(location)
            else:
                manifests += paths or []
    return lists, manifests


def kinds_as_text(files: pa.RecordBatch) -> pa.Table:
    """Return files of the core with their kinds as text, in the columns of `FILE_SCHEMA`."""
    kinds = pa.DictionaryArray.from_arrays(files.column("kind").cast(pa.int8()), pa.array(KINDS)).cast(pa.string())
    return pa.table([kinds, files.column("location"), files.column("size")], schema=FILE_SCHEMA)


def statistics_of(metadata: TableMetadata) -> list[tuple[str, str, int | None]]:
    """Return kind, location and size of all statistics files of a version of a table."""
    return [
        *(("statistics", file.statistics_path, file.file_size_in_bytes) for file in metadata.statistics),
        *(
            ("partition_statistics", file.statistics_path, file.file_size_in_bytes)
            for file in metadata.partition_statistics
        ),
    ]


def _unused_statistics(before: TableMetadata, after: TableMetadata) -> pa.Table:
    """Return the statistics files of `before` that are not in `after`; snapshots may share a file."""
    in_use = set(normalized(location for _, location, _ in statistics_of(after)))
    found: dict[str, tuple[str, str, int | None]] = {}
    candidates = statistics_of(before)
    for name, row in zip(normalized(row[1] for row in candidates), candidates, strict=True):
        if name not in in_use:
            found.setdefault(name, row)
    return file_table(found.values())


def normalized(locations: Iterable[str]) -> list[str]:
    """Return the normalised spellings of locations."""
    texts: list[str] = _core.normalized_locations(pa.array(list(locations), pa.string())).to_pylist()
    return texts


def unused_schemas(io: FileIO, metadata: TableMetadata, snapshot_ids: Collection[int]) -> tuple[int, ...]:
    """Return the ids of schemas that are not the current one and that these snapshots do not need.

    A snapshot needs the schema that it was written with. A live equality delete file needs the newest schema that has its key columns:
    readers take the types of the keys from there after the columns were dropped. The manifest lists, and the manifests of delete files,
    are read if the other schemas are not the newest ones of all their columns.

    Raises:
        IcebergError: A manifest list or manifest could not be read.
    """
    ids, schemas = (metadata.snapshots.column(key) for key in ("snapshot-id", "schema-id"))
    used = {schema for snapshot_id, schema in zip(ids, schemas, strict=True) if snapshot_id in snapshot_ids}
    used.add(metadata.current_schema_id)
    oldest_first = (*metadata.schemas, metadata.schema())
    newest = {field_id: schema.schema_id for schema in oldest_first for field_id in schema.field_ids}
    dropped = {field_id: schema_id for field_id, schema_id in newest.items() if schema_id not in used}
    if dropped:
        used |= {dropped[field_id] for field_id in _equality_ids(io, metadata, snapshot_ids) if field_id in dropped}
    return tuple(schema.schema_id for schema in metadata.schemas if schema.schema_id not in used)


def _equality_ids(io: FileIO, metadata: TableMetadata, snapshot_ids: Collection[int]) -> set[int]:
    """Return the field ids that live equality delete files of snapshots compare."""
    lists, _ = manifest_locations(metadata, snapshot_ids)  # Snapshots without a list are from before delete files.
    listed = pa.Table.from_batches(_core.read_manifest_lists(io.core, lists), schema=MANIFEST_SCHEMA)
    manifests = distinct_manifests(with_content(listed, DELETES))
    if manifests.num_rows == 0:
        return set()
    schema = metadata_table_schema("delete_files", metadata)
    keys = schema.select("equality_ids")
    batches = _core.file_table(
        io.core,
        context_json(metadata, metadata.schema()),
        manifests,
        table=schema_json(schema),
        columns=schema_json(keys),
        filter=Filter.everything(schema).json,
        row_filter=Filter.everything(metadata.schema()).json,
        keep="live",
    )
    return {
        field_id
        for batch in batches
        for field_id in pc.unique(pc.list_flatten(batch.column("equality_ids"))).to_pylist()
    }


def unused_specs(io: FileIO, metadata: TableMetadata, snapshot_ids: Collection[int]) -> tuple[int, ...]:
    """Return the ids of partition specs that are not the current one and that no manifest of these snapshots has.

    The manifest list of every snapshot is read if the table has several specs.

    Raises:
        IcebergError: A manifest list could not be read.
    """
    if len(metadata.partition_specs) == 1:
        return ()
    lists, manifests = manifest_locations(metadata, snapshot_ids)
    if manifests:
        # Manifests without a list state their spec in their headers alone.
        rows = _core.describe_manifests(io.core, manifests)
        described = set(rows.column("partition_spec_id").to_pylist())
    else:
        described = set()
    found = _core.files_of_snapshots(io.core, lists=[], manifests=[], kept_lists=lists, kept_manifests=[])
    used = {*found.kept_spec_ids, *described, metadata.default_spec_id}
    return tuple(spec.spec_id for spec in metadata.partition_specs if spec.spec_id not in used)
