"""Ranges of a sorted group as tasks cut and write them, in this process. No session is needed."""

import pickle
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.catalog import load_catalog
from icefloe.spark.maintenance.sorted_ranges import CutRows, RowRanges, WriteRanges, parts_to_cut
from icefloe.spark.writer.write_task import collected
from icefloe.table.maintenance.groups.options import FileSizes
from icefloe.table.maintenance.rewrite.clustering import Clustering, parsed
from icefloe.table.maintenance.rewrite.group import groups_of
from icefloe.table.maintenance.rewrite.group_writer import GroupLayout
from icefloe.table.write.file_writer import FileWriter

ROWS = 3_000
SIZES = FileSizes(12_000, 9_000, 21_600)
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("text", pa.string()),
        ("list", pa.list_(pa.int32())),
        ("place", pa.struct([("x", pa.int64())])),
    ]
)


def rows(first):
    numbers = range(first, first + ROWS)
    return pa.table(
        {
            # Every value is in every file, so equal keys have to keep the order of the files.
            "id": [number * 7919 % 1000 if number % 50 else None for number in numbers],
            "text": [f"a text of row {number}" for number in numbers],
            "list": [[number] * (number % 3) for number in numbers],
            "place": [{"x": number % 97} for number in numbers],
        },
        SCHEMA,
    )


@pytest.fixture
def table():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        properties = {"write.delete.mode": "merge-on-read", "write.parquet.row-group-limit": "400"}
        made = catalog.create_table("db.t", SCHEMA, properties=properties)
        for first in (0, ROWS, 2 * ROWS):
            made.append(rows(first))
        made.delete("text = 'a text of row 77'")
        yield made


def layout_of(table, clustering, memory_bytes=1 << 26):
    return GroupLayout(table.spec(), clustering, one_partition=True, file_bytes=1 << 20, memory_bytes=memory_bytes)


def written(table, layout, sizes):
    """Return the new files as tasks write them, with the records of each range in the order of Spark's sort."""
    # Older files come first in a group.
    scan = next(groups_of(table.maintenance.rewrite_data_files().options(rewrite_all=True).plan())).scan(table)
    ranges = RowRanges.of(scan, layout, table.metadata, sizes)
    parts = parts_to_cut(scan, sizes)
    cut, write = pickle.loads(
        pickle.dumps(
            (
                CutRows(table.metadata, parts, ranges, tuple(range(ranges.count))),
                WriteRanges(table.io, table.metadata, str(uuid.uuid4()), ranges),
            )
        )
    )
    batches = list(cut([pa.record_batch({"id": list(range(len(parts)))})]))
    if not batches:
        return ranges, len(parts), None
    records = pa.Table.from_batches(batches).sort_by([(name, "ascending") for name in ("range", "part", "chunk")])
    results = list(write(records.combine_chunks().to_batches(max_chunksize=16)))
    return ranges, len(parts), collected([one.column(0)[0].as_py() for one in results])


def content(table, files):
    return pa.concat_tables([pq.read_table(path).cast(SCHEMA) for path in files.column("file_path").to_pylist()])


@pytest.mark.parametrize("memory_bytes", [1 << 26, 1 << 16])
@pytest.mark.parametrize("order", ["id DESC NULLS LAST", "place.x, truncate(9, text)", "text"])
def test_rows_are_those_of_a_sort_in_one_task(table, order, memory_bytes):
    clustering = parsed(order, table.metadata, "rewrite_data_files")
    ranges, parts, files = written(table, layout_of(table, clustering, memory_bytes), SIZES)
    assert ranges.count > 2
    assert parts > 2
    assert files.num_rows >= ranges.count
    found = content(table, files)
    table.maintenance.rewrite_data_files().sort(order).options(rewrite_all=True).execute()
    assert found.equals(table.scan().to_arrow().cast(SCHEMA))


def test_rows_on_a_curve_are_those_of_one_task(table):
    clustering = Clustering("hilbert", columns=("id", "place.x"))
    _, _, files = written(table, layout_of(table, clustering), SIZES)
    found = content(table, files)
    table.maintenance.rewrite_data_files().hilbert("id", "place.x").options(rewrite_all=True).execute()
    assert found.equals(table.scan().to_arrow().cast(SCHEMA))


def test_one_key_is_one_range(table):
    clustering = parsed("truncate(1, text)", table.metadata, "rewrite_data_files")
    ranges, _, files = written(table, layout_of(table, clustering), SIZES)
    assert ranges.count == 2
    assert content(table, files).num_rows == 3 * ROWS - 1


def test_group_without_live_rows_has_one_range(table):
    keys = pa.table({"id": [*range(1000), None]}, pa.schema([("id", pa.int64())]))
    writer = FileWriter(table.io, table.metadata, str(uuid.uuid4()))
    table.new_row_delta().add_deletes(writer.equality_deletes(keys, [1])).commit()
    clustering = parsed("id", table.metadata, "rewrite_data_files")
    ranges, _, files = written(table, layout_of(table, clustering), SIZES)
    assert ranges.bounds == ()
    assert files is None
