"""Tables after each operation on files, as PyIceberg and DuckDB read them."""

from __future__ import annotations

import duckdb
import duckdb_extensions
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.statistics import BlobMetadata, StatisticsFile
from icefloe.transforms import IdentityTransform, TruncateTransform
from icefloe.types import LongType, NestedField, StringType
from pyiceberg.table import StaticTable

pytestmark = pytest.mark.interop

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "part", StringType()))
BY_PART = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))


@pytest.fixture
def catalog():
    with load_catalog("scratch", type="memory") as made:
        made.create_namespace("db")
        yield made


@pytest.fixture
def check():
    """Compare the rows of a table as icefloe, PyIceberg and DuckDB read them."""
    with duckdb.connect() as connection:
        for name in ("avro", "iceberg"):
            duckdb_extensions.import_extension(name, con=connection)
            connection.load_extension(name)

        def compare(table, expected):
            def rows(found):
                return sorted(tuple(row.values()) for row in found.select(["id", "part"]).to_pylist())

            location = table.refresh().metadata_location
            assert rows(table.scan().to_arrow()) == expected
            assert rows(StaticTable.from_metadata(location).scan().to_arrow()) == expected
            found = connection.execute(f"SELECT id, part FROM iceberg_scan('{location}') ORDER BY id, part").fetchall()
            assert found == expected

        yield compare


def rows(*pairs):
    ids, parts = zip(*pairs, strict=True)
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array(parts, pa.string())})


@pytest.mark.parametrize("spec", [None, BY_PART, PartitionSpec(PartitionField(1, 1000, TruncateTransform(10), "ten"))])
def test_added_files_are_read_by_others(catalog, check, tmp_path, spec):
    table = catalog.create_table("db.t", SCHEMA, **({} if spec is None else {"partition_spec": spec}))
    paths = []
    for name, data in {"a": rows((1, "a"), (2, "a")), "b": rows((11, "b"), (12, "b"))}.items():
        paths.append(f"{tmp_path}/{name}.parquet")
        pq.write_table(data, paths[-1])
    table.add_files(paths)
    table.append(rows((21, "c")))
    check(table, [(1, "a"), (2, "a"), (11, "b"), (12, "b"), (21, "c")])


def test_statistics_files_are_read_by_pyiceberg(catalog):
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows((1, "a")))
    snapshot = table.current_snapshot()
    blob = BlobMetadata(
        type="apache-datasketches-theta-v1",
        snapshot_id=snapshot.snapshot_id,
        sequence_number=1,
        fields=[1],
        properties={"ndv": "6"},
    )
    file = StatisticsFile(
        snapshot_id=snapshot.snapshot_id,
        statistics_path="s3://lake/s.puffin",
        file_size_in_bytes=100,
        file_footer_size_in_bytes=20,
        blob_metadata=[blob],
    )
    table.update_statistics().set_statistics(file).commit()
    (read,) = StaticTable.from_metadata(table.metadata_location).metadata.statistics
    assert (read.statistics_path, read.blob_metadata[0].properties) == ("s3://lake/s.puffin", {"ndv": "6"})


def test_cherry_picked_snapshots_are_read_by_others(catalog, check):
    table = catalog.create_table("db.t", SCHEMA, partition_spec=BY_PART)
    table.append(rows((1, "a")))
    table.append(rows((2, "a"), (3, "b")), {"wap.id": "w"}, branch=None)
    table.append(rows((4, "b")))
    table.manage_snapshots().publish_changes("w").commit()
    check(table, [(1, "a"), (2, "a"), (3, "b"), (4, "b")])


def written(table, data):
    """New data files of a table that are not committed."""
    return table.transaction().target().writer.data_files(data)


def replaced_partitions(table):
    table.new_replace_partitions().append(written(table, rows((7, "a")))).commit()


def rewritten_files(table):
    plan = table.scan().plan_whole_files()
    started = table.current_snapshot().sequence_number
    rewrite = table.new_rewrite().delete(plan.files.column("file_path")).append(written(table, table.scan().to_arrow()))
    rewrite.delete_deletes(plan.deletes.column("file_path")).data_sequence_number(started).commit()


def rewritten_manifests(table):
    table.rewrite_manifests().commit()


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("spec", [None, BY_PART], ids=["unpartitioned", "partitioned"])
@pytest.mark.parametrize(
    ("operation", "left"),
    [
        (replaced_partitions, {True: [(2, "b"), (4, "b"), (7, "a")], False: [(7, "a")]}),
        (rewritten_files, [(1, "a"), (2, "b"), (4, "b")]),
        (rewritten_manifests, [(1, "a"), (2, "b"), (4, "b")]),
    ],
)
def test_replaced_files_are_read_by_others(catalog, check, version, spec, operation, left):
    properties = {"format-version": str(version)} | ({"write.delete.mode": "merge-on-read"} if version == 2 else {})
    partitioning = {} if spec is None else {"partition_spec": spec}
    table = catalog.create_table("db.t", SCHEMA, properties=properties, **partitioning)
    table.append(rows((1, "a"), (2, "b"), (3, "a")))
    table.append(rows((4, "b")))
    table.delete("id = 3")
    operation(table)
    check(table, left[spec is not None] if isinstance(left, dict) else left)
    table.append(rows((9, "a")))
    assert table.scan().count() == table.refresh().scan().to_arrow().num_rows
