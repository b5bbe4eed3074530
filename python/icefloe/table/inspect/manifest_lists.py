"""The manifests of one snapshot and of all snapshots, as rows of manifest lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.manifest.reading import MANIFEST_SCHEMA
from icefloe.table.inspect.inspected_table import snapshot_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table.inspect.inspected_table import InspectedTable
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

REFERENCE = "reference_snapshot_id"
DATA, DELETES = 0, 1
_BOUNDS = ("lower_bound", "upper_bound")
_COUNTS = ("added_files_count", "existing_files_count", "deleted_files_count")


def manifests_of_snapshot(table: InspectedTable, snapshot_id: int | None) -> pa.Table:
    """Return the manifests of a snapshot, the current one for None; no rows for a table without snapshots.

    Raises:
        ValidationError: The table has no such snapshot.
    """
    snapshot = snapshot_of(table, snapshot_id)
    if snapshot is None:
        return MANIFEST_SCHEMA.empty_table()
    return _described(table, snapshot, snapshot.manifest_rows(table.io))


def manifests_of_all_snapshots(table: InspectedTable) -> pa.Table:
    """Return the manifests of every snapshot, a manifest once for each, with the snapshot as `reference_snapshot_id`."""
    listed = [one for one in table.metadata.snapshots if one.manifest_list is not None]
    lists = _core.read_manifest_lists(table.io.core, [str(one.manifest_list) for one in listed])
    rows = {one.snapshot_id: pa.Table.from_batches([found]) for one, found in zip(listed, lists, strict=True)}
    parts = []
    for snapshot in table.metadata.snapshots:
        found = rows.get(snapshot.snapshot_id)
        found = _described(table, snapshot, snapshot.manifest_rows(table.io) if found is None else found)
        own = pa.array([snapshot.snapshot_id] * found.num_rows, pa.int64())
        parts.append(found.append_column(REFERENCE, own))
    return pa.concat_tables(parts) if parts else _without_rows()


def distinct_manifests(manifests: pa.Table) -> pa.Table:
    """Return the first row of each manifest, since snapshots share manifests."""
    places = manifests.select(["manifest_path"]).append_column("place", pa.array(range(manifests.num_rows), pa.int64()))
    first = places.group_by("manifest_path").aggregate([("place", "min")]).column("place_min")
    return manifests.take(first.combine_chunks().sort())


def with_content(manifests: pa.Table, content: int) -> pa.Table:
    """Return the manifests of data files (`DATA`) or of delete files (`DELETES`)."""
    return manifests.filter(pc.equal(pc.fill_null(manifests.column("content"), DATA), content))


def without_bounds_of_dropped_columns(metadata: TableMetadata, manifests: pa.Table) -> pa.Table:
    """Return manifests without the bounds of partition fields whose column was dropped, which the Java reference shows as `null`."""
    known = metadata.schema().field_ids
    lost = [
        (spec.spec_id, place)
        for spec in metadata.partition_specs
        for place, field in enumerate(spec.fields)
        if field.source_id not in known
    ]
    lists = manifests.column("partitions").combine_chunks()
    if not lost or lists.null_count == len(lists):
        return manifests
    values = lists.flatten()
    ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(lists), 0))
    is_lost = _is_field_of(lists, manifests.column("partition_spec_id").combine_chunks(), lost)
    columns = [
        pc.if_else(is_lost, None, part) if name in _BOUNDS else part
        for name, part in zip(values.type.names, values.flatten(), strict=True)
    ]
    blanked = pa.StructArray.from_arrays(columns, fields=list(values.type))
    offsets = pa.concat_arrays([pa.array([0], ends.type), ends])
    found = pa.ListArray.from_arrays(offsets, blanked, type=lists.type, mask=lists.is_null())
    return _with(manifests, "partitions", found)


def _is_field_of(lists: pa.ListArray, spec_ids: pa.Array, fields: list[tuple[int, int]]) -> pa.BooleanArray:
    """Return, for each value of the lists, whether it is one of the fields, each given as a spec id and a position in its list."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    starts = pc.subtract(pc.cumulative_sum(lengths), lengths)
    parents = pc.list_parent_indices(lists)
    specs = spec_ids.take(parents)
    positions = pc.subtract(pa.array(range(len(parents)), starts.type), starts.take(parents))
    found = pa.array([False] * len(parents), pa.bool_())
    for spec_id, position in fields:
        found = pc.or_(found, pc.and_(pc.equal(specs, spec_id), pc.equal(positions, position)))
    return found


def _described(table: InspectedTable, snapshot: Snapshot, manifests: pa.Table) -> pa.Table:
    """Fill in what old writers did not record: the adding snapshot, and counts of files."""
    if manifests.column("added_snapshot_id").null_count > 0:
        adders = _first_snapshots(table, snapshot)
        paths = manifests.column("manifest_path").to_pylist()
        first = pa.array([adders.get(path, snapshot.snapshot_id) for path in paths], pa.int64())
        filled = pc.coalesce(manifests.column("added_snapshot_id"), first)
        manifests = _with(manifests, "added_snapshot_id", filled)
    if all(manifests.column(name).null_count == 0 for name in _COUNTS):
        return manifests
    counted = _core.describe_manifests(table.io.core, manifests.column("manifest_path").to_pylist())
    for name in _COUNTS:
        manifests = _with(manifests, name, pc.coalesce(manifests.column(name), counted.column(name)))
    return manifests


def _first_snapshots(table: InspectedTable, snapshot: Snapshot) -> Mapping[str, int]:
    """Return the oldest snapshot that lists each manifest itself: with format version 1, the one that added the manifest."""
    first: dict[str, int] = {}
    for older in sorted(table.metadata.snapshots, key=lambda one: one.timestamp_ms):
        if older.timestamp_ms <= snapshot.timestamp_ms:
            for path in older.manifest_paths or ():
                first.setdefault(path, older.snapshot_id)
    return first


def _with(manifests: pa.Table, name: str, values: pa.ChunkedArray) -> pa.Table:
    return manifests.set_column(manifests.schema.get_field_index(name), manifests.schema.field(name), values)


def _without_rows() -> pa.Table:
    return pa.schema([*MANIFEST_SCHEMA, pa.field(REFERENCE, pa.int64())]).empty_table()
