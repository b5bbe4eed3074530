"""Tables on object storage: 30 ms to the first byte of each request, 100 MB in a second."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from peers.case import Case, Setup, Work
from peers.tables import once

LATENCY_MS, BYTES_PER_SECOND = 30, 100_000_000
BUCKET = "bench"
FILES, FILE_ROWS, ROW_GROUPS = 16, 120_000, 4
SMALL_FILES, SMALL_FILE_ROWS = 400, 200


def store(data: Path, latency_ms: float, bandwidth: float) -> dict[str, str]:
    """Start a store that ends with this process and return the properties of a client."""
    command = [sys.executable, "-m", "peers.far_store", str(data / "far"), str(latency_ms), str(bandwidth)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    SERVERS.append(server)
    return {
        "s3.endpoint": server.stdout.readline().strip(),
        "s3.region": "us-east-1",
        "s3.access-key-id": "nobody",
        "s3.secret-access-key": "nothing",
    }


# The servers of this process: one ends when its standard input is closed.
SERVERS: list[subprocess.Popen[str]] = []


def prepared(name: str, files: int, rows: int) -> Callable[[Path], None]:
    """Return a preparation of a table of `files` files of `rows` rows each, in four row groups."""

    def prepare(data: Path) -> None:
        import pyarrow as pa
        from icefloe.catalog import load_catalog
        from icefloe.table.write.file_writer import FileWriter

        (data / "far" / BUCKET).mkdir(parents=True, exist_ok=True)
        if not once(data / "far" / f"{name}.location"):
            return
        catalog = load_catalog("far", type="memory", warehouse=f"s3://{BUCKET}/{name}", **store(data, 0, 1e12))
        catalog.create_namespace("far")
        schema = batch(0, 1).schema
        limit = {"write.parquet.row-group-size-bytes": str(batch(0, rows).nbytes // ROW_GROUPS)}
        table = catalog.create_table(("far", name), schema=schema, properties=limit)
        writer = [FileWriter(table.io, table.metadata, str(uuid.uuid4())) for _ in range(files)]
        written = [one.data_files(batch(number, rows)) for number, one in enumerate(writer)]
        table.new_append().append(pa.Table.from_batches(written).combine_chunks().to_batches()[0]).commit()
        location = catalog.load_table(("far", name)).metadata_location
        (data / "far" / f"{name}.location").write_text(location, encoding="utf-8")

    return prepare


def batch(number: int, rows: int) -> Any:
    """Return doubles, which compress little, and texts, which compress well."""
    import numpy as np
    import pyarrow as pa

    values = np.random.default_rng(number)
    columns = {"id": pa.array(np.arange(number * rows, (number + 1) * rows))}
    columns |= {f"d{n}": pa.array(values.random(rows)) for n in range(7)}
    columns["text"] = pa.array(values.integers(0, 1 << 40, rows).astype(str))
    return pa.table(columns)


def location(data: Path, name: str) -> str:
    return (data / "far" / f"{name}.location").read_text(encoding="utf-8")


def static_table(package: str, name: str) -> Setup:
    """Return a scan into memory by icefloe or by PyIceberg, which have the same names."""

    def setup(data: Path) -> Work:
        tables = import_module(f"{package}.table").StaticTable
        properties = store(data, LATENCY_MS, BYTES_PER_SECOND)
        scan = tables.from_metadata(location(data, name), properties).scan()
        return scan.to_arrow

    return setup


def polars(name: str) -> Setup:
    def setup(data: Path) -> Work:
        import polars as pl
        from pyiceberg.table import StaticTable

        properties = store(data, LATENCY_MS, BYTES_PER_SECOND)
        table = StaticTable.from_metadata(location(data, name), properties)
        options = {
            "aws_endpoint_url": properties["s3.endpoint"],
            "aws_region": properties["s3.region"],
            "aws_access_key_id": properties["s3.access-key-id"],
            "aws_secret_access_key": properties["s3.secret-access-key"],
            "aws_allow_http": "true",
        }
        scan = pl.scan_iceberg(table, reader_override="native", storage_options=options)
        return scan.collect

    return setup


def contenders(name: str) -> dict[str, Setup]:
    return {
        "icefloe to_arrow": static_table("icefloe", name),
        "pyiceberg to_arrow": static_table("pyiceberg", name),
        "polars scan_iceberg": polars(name),
    }


CASES = [
    Case(
        name="remote_scan",
        what="16 files x 4 row groups, 115 MB on S3 at 30 ms and 100 MB/s, into memory",
        prepare=prepared("scanned", FILES, FILE_ROWS),
        contenders=contenders("scanned"),
        rounds=5,
    ),
    Case(
        name="remote_small_files",
        what="400 files of 200 rows on S3 at 30 ms and 100 MB/s, into memory",
        prepare=prepared("small", SMALL_FILES, SMALL_FILE_ROWS),
        contenders=contenders("small"),
        rounds=5,
    ),
]
