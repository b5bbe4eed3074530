"""Manifests that state a wrong file size or row count: scans read every row, or refuse the file."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import CorruptFileError
from pyarrow import orc

from tests.unit.core_scan.avro_tables import avro_field, write_avro

ROWS = 20_000
FORMATS = ("PARQUET", "AVRO", pytest.param("ORC", marks=pytest.mark.recent_pyarrow))
SIZES = {"no bytes": 0.0, "a tenth": 0.1, "all but a byte": -1, "three times as much": 3.0}
IDS = list(range(ROWS))


def write_file(path: Path, file_format: str) -> None:
    """Write ``ROWS`` ids to a file of several row groups, blocks or stripes."""
    if file_format == "AVRO":
        write_avro(path, [avro_field(1, "id", "long")], [{"id": i} for i in IDS])
        return
    metadata = {"PARQUET:field_id": "1", "iceberg.id": "1"}
    table = pa.table([pa.array(IDS)], schema=pa.schema([pa.field("id", pa.int64(), metadata=metadata)]))
    if file_format == "ORC":
        orc.write_table(table, str(path), stripe_size=16 << 10, compression="uncompressed", batch_size=1024)
        assert orc.ORCFile(str(path)).nstripes > 2
    else:
        pq.write_table(table, path, row_group_size=1_000)


@pytest.fixture
def table():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        schema = pa.schema([("id", pa.int64())])
        yield catalog.create_table("db.t", schema, properties={"write.delete.mode": "merge-on-read"})


def append_file(
    table, file_format: str, *, stated: float = 1.0, record_count: int = ROWS, split_offsets: list[int] | None = None
) -> Path:
    """Commit a data file with a stated size: a factor of the true size, or a number of bytes less if negative."""
    path = Path(table.location(), "data", f"a.{file_format.lower()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, file_format)
    size = path.stat().st_size
    row = {
        "content": 0,
        "spec_id": 0,
        "partition": "[]",
        "file_path": str(path),
        "file_format": file_format,
        "record_count": record_count,
        "file_size_in_bytes": int(size + stated if stated < 0 else size * stated),
        "split_offsets": split_offsets,
    }
    table.new_append().append(pa.RecordBatch.from_pylist([row], schema=data_file_schema(table))).commit()
    return path


def data_file_schema(table) -> pa.Schema:
    from tests.storage.lake_of_all_kinds import keys

    return keys(table).schema


def group_offsets(path: Path) -> list[int]:
    footer = pq.ParquetFile(path).metadata
    return [footer.row_group(i).column(0).data_page_offset for i in range(footer.num_row_groups)]


def ids_of(table, **options) -> list[int]:
    return sorted(table.scan(**options).to_arrow()["id"].to_pylist())


def split_ids(table, split_size: int) -> list[int]:
    """Read a table group by group, its file split into several tasks."""
    groups = list(table.scan(options={"split-size": str(split_size), "file-open-cost": "1"}).plan_tasks())
    return sorted(i for group in groups for batch in group.read() for i in batch["id"].to_pylist())


@pytest.mark.parametrize("stated", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("file_format", FORMATS)
def test_scan_reads_all_rows_of_a_file_whose_stated_size_is_wrong(table, file_format, stated):
    append_file(table, file_format, stated=stated)
    assert ids_of(table) == IDS
    assert table.scan().count() == ROWS
    assert ids_of(table, row_filter="id >= 19000") == IDS[19_000:]
    assert table.scan("id >= 19000").count() == 1_000
    [task] = table.scan().plan_files()
    assert pa.Table.from_batches(task.read())["id"].to_pylist() == IDS


@pytest.mark.parametrize("stated", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("file_format", FORMATS)
def test_position_deletes_apply_to_all_rows_of_a_file_whose_stated_size_is_wrong(table, file_format, stated):
    append_file(table, file_format, stated=stated)
    table.delete("id >= 19990")
    table.delete("id < 5")
    assert ids_of(table) == IDS[5:19_990]
    assert table.scan().count() == 19_985


@pytest.mark.parametrize("stated", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("offsets", [False, True], ids=["bytes", "row groups"])
def test_split_tasks_cover_all_rows_of_a_file_whose_stated_size_is_wrong(table, tmp_path, stated, offsets):
    write_file(tmp_path / "like.parquet", "PARQUET")
    append_file(
        table,
        "PARQUET",
        stated=stated,
        split_offsets=group_offsets(tmp_path / "like.parquet") if offsets else None,
    )
    assert split_ids(table, 4_000) == IDS


def test_split_tasks_cover_row_groups_before_the_first_split_offset(table, tmp_path):
    write_file(tmp_path / "like.parquet", "PARQUET")
    append_file(table, "PARQUET", split_offsets=group_offsets(tmp_path / "like.parquet")[3:])
    assert split_ids(table, 4_000) == IDS


@pytest.mark.parametrize("record_count", [1, ROWS - 1, ROWS + 1])
@pytest.mark.parametrize("file_format", FORMATS)
def test_scan_refuses_a_file_whose_rows_differ_from_its_record_count(table, file_format, record_count):
    path = append_file(table, file_format, record_count=record_count)
    expected = f"{re.escape(str(path))}.*expected {record_count} rows by the table's metadata, got {ROWS}"
    if file_format == "AVRO" and record_count < ROWS:
        # Blocks beyond the stated count are not decoded.
        expected = f"{re.escape(str(path))}.*expected {record_count} rows by the table's metadata, got "
    for options in ({}, {"row_filter": "id >= 19000"}):
        with pytest.raises(CorruptFileError, match=expected):
            table.scan(**options).to_arrow()


@pytest.mark.parametrize("options", [{}, {"limit": ROWS + 1}], ids=["all", "limit"])
def test_scan_refuses_a_row_group_with_fewer_rows_than_its_footer_states(table, options):
    path = append_file(table, "PARQUET", record_count=ROWS + 1)
    pq.write_table(pq.read_table(path), path, write_statistics=False, store_schema=False)
    stated, wrong = (b"\x16" + zigzag_varint(count) for count in (ROWS, ROWS + 1))
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    assert data.count(stated, footer) >= 2
    path.write_bytes(data[:footer] + data[footer:].replace(stated, wrong))
    with pytest.raises(CorruptFileError, match=f"row group 0 holds {ROWS} rows, its footer says {ROWS + 1}"):
        table.scan(**options).to_arrow()


def zigzag_varint(value: int) -> bytes:
    rest, encoded = value << 1, bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*encoded, rest])
