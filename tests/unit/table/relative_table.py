"""A table as old Hadoop writers wrote it, with locations relative to the working directory."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from icefloe import _core
from icefloe.catalog import load_catalog
from icefloe.table.read_context import schema_json, specs_json


def without(prefix, texts):
    """Return texts without a prefix."""
    return pa.array([None if text is None else text.removeprefix(prefix) for text in texts.to_pylist()], pa.string())


def relative_table(directory, *, with_bounds=True):
    """Write the table `warehouse/db/t` below a directory: ids 0 to 8, of which position deletes of relative paths delete 1 and 4.

    Args:
        directory: The directory that locations are relative to.
        with_bounds: Whether the bounds of delete files name their data file; else a delete file is of a partition.
    """
    prefix = f"{directory}/"
    catalog = load_catalog("cat", type="hadoop", warehouse=f"{directory}/warehouse")
    catalog.create_namespace("db")
    properties = {"write.delete.mode": "merge-on-read"}
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]), properties=properties)
    for start in (0, 3, 6):
        table.append(pa.table({"id": range(start, start + 3)}))
    table.delete("id in (1, 4)")
    for path in table.inspect.delete_files().column("file_path").to_pylist():
        rows = pq.read_table(path)
        place = rows.column_names.index("file_path")
        field = rows.schema.field(place)
        named = without(prefix, rows.column("file_path")).cast(field.type)
        pq.write_table(rows.set_column(place, field, named), path)
    raw = _core.FileIo({})
    for snapshot in table.snapshots():
        _rewrite(raw, table, snapshot, prefix, with_bounds)
    for path in (Path(table.location()) / "metadata").glob("v*.metadata.json"):
        path.write_text(path.read_text().replace(json.dumps(prefix)[1:-1], ""))
    return "warehouse/db/t"


def _rewrite(raw, table, snapshot, prefix, with_bounds):
    listed = _core.read_manifest_list(raw, snapshot.manifest_list)
    rewritten = []
    for row in range(listed.num_rows):
        manifest = listed.slice(row, 1)
        content = manifest.column("content")[0].as_py()
        old = manifest.column("manifest_path")[0].as_py()
        entries = _core.read_manifest(
            raw, manifest, schema=schema_json(table.schema()), specs=specs_json(table.metadata), keep="all"
        )
        for name in ("file_path", "referenced_data_file"):
            entries = entries.set_column(entries.column_names.index(name), name, without(prefix, entries.column(name)))
        # Added entries inherit their sequence numbers.
        added = pc.equal(entries.column("status"), 1)
        for name in ("sequence_number", "file_sequence_number"):
            inherited = pc.if_else(added, pa.scalar(None, pa.int64()), entries.column(name))
            entries = entries.set_column(entries.column_names.index(name), name, inherited)
        if content == 1:
            entries = _delete_entries(entries, prefix, with_bounds)
        written = _core.write_manifests(
            raw,
            old.removesuffix(".avro") + f"-{snapshot.snapshot_id}",
            entries,
            schema=schema_json(table.schema()),
            specs=specs_json(table.metadata),
            format_version=2,
            snapshot_id=snapshot.snapshot_id,
            content=content,
            first_index=0,
            properties={},
        )
        columns = {name: manifest.column(name) for name in manifest.schema.names}
        columns["manifest_path"] = without(prefix, written.column("manifest_path"))
        columns["manifest_length"] = written.column("manifest_length")
        rewritten.append(pa.RecordBatch.from_pydict(columns, schema=manifest.schema))
    Path(snapshot.manifest_list).unlink()
    _core.write_manifest_list(
        raw,
        snapshot.manifest_list,
        pa.Table.from_batches(rewritten, listed.schema),
        format_version=2,
        snapshot_id=snapshot.snapshot_id,
        parent_snapshot_id=snapshot.parent_snapshot_id,
        sequence_number=snapshot.sequence_number,
    )


def _delete_entries(entries, prefix, with_bounds):
    # Old writers wrote no referenced data file: the bounds of the paths name the file.
    nulls = pa.nulls(len(entries), pa.string())
    entries = entries.set_column(entries.column_names.index("referenced_data_file"), "referenced_data_file", nulls)
    for name in ("lower_bounds", "upper_bounds"):
        place = entries.column_names.index(name)
        relative = [
            [(key, value.removeprefix(prefix.encode())) for key, value in bounds or []] if with_bounds else None
            for bounds in entries.column(name).to_pylist()
        ]
        entries = entries.set_column(place, name, pa.array(relative, entries.schema.field(place).type))
    sizes = [Path(prefix + path).stat().st_size for path in entries.column("file_path").to_pylist()]
    size = entries.column_names.index("file_size_in_bytes")
    assert pc.min(pa.array(sizes)).as_py() > 0
    return entries.set_column(size, "file_size_in_bytes", pa.array(sizes, pa.int64()))
