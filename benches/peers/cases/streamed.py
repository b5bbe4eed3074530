"""Rows passed on batch by batch, none of them kept: 1.6 GB in 60 columns. The peak above the start is what counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from peers.case import Case, Work
from peers.cases.scan import duckdb_connection
from peers.tables import NAMESPACE, catalog, data_files, metadata_file, once

ROWS = 2_400_000
BATCH_ROWS = 60_000
DOUBLES, LONGS, TEXTS = 30, 15, 15


def folder(data: Path) -> Path:
    return data / "warehouse" / NAMESPACE / "wide"


def batches(schema: Any) -> Iterator[Any]:
    import numpy as np
    import pyarrow as pa

    values = np.random.default_rng(1)
    words = np.array([f"word-{n:06d}-{'x' * (n % 17)}" for n in range(5_000)])
    for _ in range(0, ROWS, BATCH_ROWS):
        columns = [values.random(BATCH_ROWS) for _ in range(DOUBLES)]
        columns += [values.integers(0, 1 << 40, BATCH_ROWS) for _ in range(LONGS)]
        few = [words[values.integers(0, len(words), BATCH_ROWS)] for _ in range(TEXTS // 2)]
        many = [values.integers(0, 1 << 62, BATCH_ROWS).astype(str) for _ in range(TEXTS - TEXTS // 2)]
        yield pa.record_batch([pa.array(column) for column in columns + few + many], schema=schema)


def prepare(data: Path) -> None:
    import pyarrow as pa

    if not once(folder(data) / ".done"):
        return
    kinds = [pa.float64()] * DOUBLES + [pa.int64()] * LONGS + [pa.string()] * TEXTS
    schema = pa.schema([pa.field(f"c{n}", kind) for n, kind in enumerate(kinds)])
    tables = catalog(data)
    if tables.table_exists((NAMESPACE, "wide")):
        tables.drop_table((NAMESPACE, "wide"))
    table = tables.create_table((NAMESPACE, "wide"), schema=schema)
    table.append(pa.RecordBatchReader.from_batches(schema, batches(schema)))
    (folder(data) / ".done").touch()


def passed(batches: Any) -> int:
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        del batch
    return rows


def icefloe_scan(data: Path):
    from icefloe.table import StaticTable

    return StaticTable.from_metadata(metadata_file(folder(data))).scan()


def icefloe_reader(data: Path) -> Work:
    return lambda: passed(icefloe_scan(data).to_arrow_batch_reader())


def icefloe_stream(data: Path) -> Work:
    import pyarrow as pa

    return lambda: passed(pa.RecordBatchReader.from_stream(icefloe_scan(data)))


def polars_batches(data: Path) -> Work:
    import polars as pl

    files = data_files(folder(data))

    def work() -> int:
        return sum(frame.height for frame in pl.scan_parquet(files).collect_batches())

    return work


def pyarrow_scanner(data: Path) -> Work:
    import pyarrow.dataset as ds

    files = data_files(folder(data))
    return lambda: passed(ds.dataset(files).scanner().to_batches())


def duckdb_reader(data: Path) -> Work:
    connection, location = duckdb_connection(), metadata_file(folder(data))
    query = f"select * from iceberg_scan('{location}')"
    return lambda: passed(connection.execute(query).to_arrow_reader(65_536))


CASES = [
    Case(
        name="streamed_scan",
        what="1.6 GB in 2.4M rows x 60 columns, batch by batch, none kept",
        prepare=prepare,
        contenders={
            "icefloe to_arrow_batch_reader": icefloe_reader,
            "icefloe Arrow stream": icefloe_stream,
            "polars collect_batches": polars_batches,
            "pyarrow dataset scanner": pyarrow_scanner,
            "duckdb iceberg_scan": duckdb_reader,
        },
    ),
]
