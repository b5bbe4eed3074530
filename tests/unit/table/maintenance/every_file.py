"""A table with every kind of file that the specification knows, and the files in its storage."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone

import pyarrow as pa
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.statistics import PartitionStatisticsFile, StatisticsFile
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.transforms import IdentityTransform
from icefloe.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "kind", StringType()))
BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
LONG_AGO = 1_000_000_000


def rows(*ids):
    return pa.table({"id": pa.array(ids, pa.int64()), "kind": [f"k{one % 2}" for one in ids]})


def ids_of(scan):
    return sorted(scan.to_arrow().column("id").to_pylist())


def future():
    return datetime.now(timezone.utc) + timedelta(hours=1)


def snapshot_ids(table):
    return [snapshot.snapshot_id for snapshot in table.snapshots()]


def files_of(table):
    """The files below the table's location."""
    return set(table.io.core.list(table.location()).column("location").to_pylist())


def make_old(table, location=None):
    """Set the time of modification of a file, or of all files of the table, to 2001."""
    for path in files_of(table) if location is None else [location]:
        os.utime(path.removeprefix("file://"), (LONG_AGO, LONG_AGO))


def put(table, name, data=b"orphan"):
    """Store an old file below the table's location."""
    location = f"{table.location()}/{name}"
    table.io.core.write(location, data, overwrite=True)
    make_old(table, location)
    return location


def add_statistics(table, snapshot_id, name="s", partition=True):
    """Give a snapshot statistics, and with `partition` partition statistics."""
    location = put(table, f"metadata/{snapshot_id}-{name}.puffin", b"statistics")
    file = StatisticsFile(
        snapshot_id=snapshot_id,
        statistics_path=location,
        file_size_in_bytes=10,
        file_footer_size_in_bytes=1,
        blob_metadata=[],
    )
    with table.update_statistics() as update:
        update.set_statistics(file)
        if partition:
            location = put(table, f"metadata/{snapshot_id}-{name}.parquet", b"statistics")
            update.set_partition_statistics(
                PartitionStatisticsFile(snapshot_id=snapshot_id, statistics_path=location, file_size_in_bytes=10)
            )


def table_of_every_kind(catalog, name="db.every", properties=None):
    """Create a table whose branches, tags and staged snapshots refer to files of every kind."""
    table = catalog.create_table(
        name,
        SCHEMA,
        partition_spec=BY_KIND,
        properties={
            "write.delete.mode": "merge-on-read",
            "write.metadata.compression-codec": "gzip",
            **(properties or {}),
        },
    )
    for start in (0, 10, 20):
        table.append(rows(*range(start, start + 6)))
    first = table.snapshots()[0].snapshot_id
    with table.update_properties() as update:
        update.set_properties({"write.format.default": "avro"})
    table.append(rows(30, 31))
    table.delete("id = 1")
    keys = write_equality_deletes(table.io, table.metadata, pa.table({"id": [2], "kind": ["k0"]}), [1])
    delta = table.new_row_delta()
    for file in keys:
        delta.add_deletes(file)
    delta.commit()
    table.manage_snapshots().create_tag(first, "v1").create_branch(table.current_snapshot().snapshot_id, "dev").commit()
    table.append(rows(40), branch="dev")
    table.append(rows(50), branch=None, snapshot_properties={"wap.id": "staged"})
    table.overwrite(rows(60), "kind = 'k1' and id > 20")
    table.rewrite_manifests().commit()
    add_statistics(table, first)
    add_statistics(table, table.current_snapshot().snapshot_id)
    with table.update_spec() as update:
        update.remove_field("kind")
    with table.update_schema() as update:
        update.add_column("note", StringType())
    table.append(pa.table({"id": [70], "kind": ["k0"], "note": ["n"]}))
    return table
