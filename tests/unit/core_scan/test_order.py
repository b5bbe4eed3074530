"""Order of a scan on several threads: splits, parts of row groups, limits."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import (
    CorruptFileError,
)

from tests.unit.scan_tables import (
    ID,
    NAME,
    POS,
    arrow_field,
    leaf,
    position_deletes,
    read,
    schema,
    stream,
    task,
    write,
)


def test_splits_at_any_byte_read_each_row_once(numbers):
    size = task(numbers)["file_size_in_bytes"]
    for parts in (1, 2, 3, 7, 50):
        cuts = [size * part // parts for part in range(parts + 1)]
        tasks = [task(numbers, start=a, length=b - a) for a, b in itertools.pairwise(cuts)]
        assert read(tasks, schema(ID))["id"].to_pylist() == list(range(1000))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_files_and_rows_keep_their_order_on_any_number_of_threads(tmp_path, threads):
    paths = []
    for number in range(40):
        rows = list(range(number * 100, number * 100 + (number * 13) % 100))
        paths.append(write(tmp_path / f"{number}.parquet", {arrow_field(1, "id", pa.int64()): rows}, row_group_size=17))
    table = read([task(path) for path in paths], schema(ID), threads=threads, batch_size=10)
    assert table["id"].to_pylist() == sorted(table["id"].to_pylist())
    assert table.num_rows == sum((number * 13) % 100 for number in range(40))
    assert max(chunk.num_rows for chunk in table.to_batches()) <= 10


@pytest.mark.parametrize("offset_index", [False, True])
def test_row_group_larger_than_a_part_is_read_whole(tmp_path, offset_index):
    rows = 700_001
    column = {arrow_field(1, "id", pa.int64()): pa.array(range(rows))}
    path = write(tmp_path / "big.parquet", column, row_group_size=rows, write_page_index=offset_index)
    gone = [0, 262_143, 262_144, 400_000, rows - 1]
    deletes = [position_deletes(tmp_path / "d.parquet", [(path, position) for position in gone])]
    table = read([task(path, deletes=[0])], schema(ID), deletes=deletes, projection=schema(ID, POS))
    assert table["id"].equals(table["_pos"])
    assert table["id"].to_pylist() == sorted(set(range(rows)) - set(gone))


@pytest.mark.parametrize("limit", [0, 1, 99, 100, 101, 5000])
def test_limit_takes_the_first_rows(numbers, limit):
    residual = json.dumps(leaf("gt-eq", "id", 50))
    table = read([task(numbers, residual=residual)] * 2, schema(ID), limit=limit)
    assert table["id"].to_pylist() == ([*range(50, 1000)] * 2)[:limit]


def test_no_columns_still_count_rows(numbers):
    table = stream([task(numbers, residual=json.dumps(leaf("lt", "id", 7)))], schema(ID), projection=schema())
    assert sum(batch.num_rows for batch in table) == 7


def test_no_tasks_give_no_rows_of_the_right_schema():
    assert read([], schema(ID, NAME)).schema == pa.schema([("id", pa.int64()), ("name", pa.string())])


@pytest.mark.parametrize("every", [2, 20, 500])
@pytest.mark.parametrize("offset_index", [False, True])
def test_deletes_of_any_density_in_a_large_row_group(tmp_path, every, offset_index):
    rows = 600_000
    columns = {
        arrow_field(1, "id", pa.int64()): pa.array(range(rows)),
        arrow_field(2, "name", pa.string()): pa.array([f"n{i % 999}" for i in range(rows)]),
    }
    path = write(tmp_path / "big.parquet", columns, row_group_size=rows, write_page_index=offset_index)
    deletes = [position_deletes(tmp_path / "d.parquet", [(path, position) for position in range(0, rows, every)])]
    residual = json.dumps(leaf("gt-eq", "id", 100_000))
    options = {"deletes": deletes, "projection": schema(POS, NAME), "batch_size": 10_000}
    table = read([task(path, deletes=[0], residual=residual)], schema(ID, NAME), **options)
    kept = [position for position in range(100_000, rows) if position % every]
    assert table["_pos"].to_pylist() == kept
    assert table["name"].to_pylist() == [f"n{position % 999}" for position in kept]
    plain = read([task(path, deletes=[0])], schema(ID, NAME), **options)
    assert plain["_pos"].to_pylist() == [position for position in range(rows) if position % every]


def test_part_reads_only_its_own_pages(tmp_path):
    rows = 700_001
    column = {arrow_field(1, "id", pa.int64()): pa.array(range(rows))}
    path = write(tmp_path / "big.parquet", column, row_group_size=rows, write_page_index=True, use_dictionary=False)
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    with Path(path).open("r+b") as damaged:
        damaged.seek(chunk.data_page_offset)
        damaged.write(b"\xff" * 64)
    deletes = [position_deletes(tmp_path / "d.parquet", [(path, position) for position in range(400_000)])]
    table = read([task(path, deletes=[0])], schema(ID), deletes=deletes)
    assert table["id"].to_pylist() == list(range(400_000, rows))
    with pytest.raises(CorruptFileError):
        list(stream([task(path)], schema(ID)))
