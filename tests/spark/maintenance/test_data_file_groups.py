"""Parts of a group of data files, as executors rewrite them. No session is needed."""

import pickle
import uuid
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.catalog import load_catalog
from icefloe.spark.maintenance.data_file_groups import RewriteParts, parts_of
from icefloe.spark.writer.write_task import collected
from icefloe.table.maintenance.groups.options import FileSizes
from icefloe.table.maintenance.rewrite.clustering import Clustering
from icefloe.table.maintenance.rewrite.group_writer import GroupLayout

SIZES = FileSizes(100, 75, 180)


@pytest.fixture
def table():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        made = catalog.create_table(
            "db.t", pa.schema([("id", pa.int64())]), properties={"write.delete.mode": "merge-on-read"}
        )
        for number in range(6):
            made.append(pa.table({"id": range(number * 10, number * 10 + 10)}))
        made.delete("id = 31")
        yield made


def layout_of(table):
    clustering = table.maintenance.rewrite_data_files().plan().clustering
    return GroupLayout(table.spec(), clustering, one_partition=True, file_bytes=1 << 20, memory_bytes=1 << 20)


def scan_of(table, *sizes):
    """Return a scan of whole files whose stated sizes are replaced."""
    scan = table.scan().plan_whole_files()
    files = scan.files.slice(0, len(sizes))
    for name in ("file_size_in_bytes", "length"):
        place = files.schema.get_field_index(name)
        files = files.set_column(place, files.schema.field(place), pa.array(sizes, pa.int64()))
    return replace(scan, files=files)


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [
        ((50, 40), [[50, 40]]),
        ((50, 50, 50, 50), [[50, 50], [50, 50]]),
        ((10, 10, 10, 10, 160), [[10, 10, 10, 10], [160]]),
        ((300,), [[300]]),
        ((300, 10), [[300], [10]]),
        ((90, 90, 90, 90, 90, 90), [[90], [90], [90, 90], [90], [90]]),
    ],
)
def test_files_are_divided_in_order(table, sizes, parts):
    found = [
        scan.files.column("file_size_in_bytes").to_pylist()
        for scan, _ in parts_of(scan_of(table, *sizes), layout_of(table), SIZES)
    ]
    assert found == parts


def test_rows_to_sort_are_not_divided(table):
    clustered = replace(layout_of(table), clustering=Clustering("zorder", ("id",)))
    assert len(list(parts_of(scan_of(table, 100, 100, 100), clustered, SIZES))) == 1


def test_parts_are_written_by_a_pickled_task(table):
    scan = table.scan().plan_whole_files()
    total = pc.sum(scan.files.column("file_size_in_bytes")).as_py()
    half = total // 2
    parts = tuple(parts_of(scan, layout_of(table), FileSizes(half, half // 2, half * 2)))
    assert sum(part.deletes.num_rows for part, _ in parts) == 1
    task = pickle.loads(pickle.dumps(RewriteParts(table.io, table.metadata, str(uuid.uuid4()), parts)))
    results = list(task([pa.record_batch({"id": list(range(len(parts)))})]))
    files = collected([batch.column(0)[0].as_py() for batch in results])
    assert files.num_rows == len(parts) > 1
    assert pc.sum(files.column("record_count")).as_py() == 59
