"""Consecutive parts of files. No session is needed."""

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.spark.maintenance.file_pieces import consecutive_parts, with_byte_ranges

ROWS = 4_000


@pytest.fixture
def table():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        properties = {"write.delete.mode": "merge-on-read", "write.parquet.row-group-limit": "500"}
        made = catalog.create_table("db.t", pa.schema([("id", pa.int64())]), properties=properties)
        for first in (0, ROWS):
            made.append(pa.table({"id": range(first, first + ROWS)}))
        made.delete("id = 700 or id = 4500")
        yield made


@pytest.mark.parametrize("range_bytes", [1, 1_000, 2_000, 1 << 30])
def test_byte_ranges_have_every_row_once_in_order(table, range_bytes):
    scan = table.scan().plan_whole_files()
    cut = with_byte_ranges(scan, range_bytes)
    assert (cut.files.num_rows > 2) == (range_bytes <= 2_000)
    parts = list(consecutive_parts(cut, 5))
    assert 2 <= len(parts) <= 5
    whole, found = (
        [row for one in plans for batch in one.stream() for row in batch.column("id").to_pylist()]
        for plans in ([scan], parts)
    )
    assert found == whole
    assert sorted(found) == [row for row in range(2 * ROWS) if row not in (700, 4500)]


def test_files_of_other_formats_are_not_cut(table):
    with table.update_properties() as update:
        update.set_properties({"write.format.default": "avro"})
    table.append(pa.table({"id": range(3)}))
    cut = with_byte_ranges(table.scan().plan_whole_files(), 1_000)
    lengths = zip(cut.files.column("file_format").to_pylist(), cut.files.column("length").to_pylist(), strict=True)
    assert [length > 0 for name, length in lengths if name == "AVRO"] == [True]
