"""Another implementation of Iceberg reads the table, in a process of its own, and prints what it found as JSON.

    python -m tpch.peer duckdb <metadata file>

The peers: ``duckdb`` (its iceberg extension), ``pyiceberg``, ``datafusion`` (pyiceberg-core, the Rust implementation).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tpch.checksum import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

SUMS = ("l_orderkey", "l_partkey", "l_quantity", "l_extendedprice", "l_discount", "l_tax")


def read_by(peer: str, metadata: str) -> dict[str, Any]:
    """Return ``count``, ``sums``, ``fingerprint`` and ``seconds`` as a peer sees a table, or ``failure``."""
    command = [sys.executable, "-m", "tpch.peer", peer, metadata]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        return {"failure": [f"{peer} ended with {done.returncode}", *done.stderr.strip().splitlines()][-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def duckdb_reads(metadata: str) -> tuple[int, dict[str, str], Iterator[pa.RecordBatch]]:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    _load_extensions(connection)
    table = f"iceberg_scan('{metadata}')"
    sums = ", ".join(f"sum({name})::VARCHAR" for name in SUMS)
    count, *values = connection.execute(f"SELECT count(*), {sums} FROM {table}").fetchone()
    rows = connection.execute(f"SELECT * FROM {table}")
    reader = rows.to_arrow_reader(65536) if hasattr(rows, "to_arrow_reader") else rows.fetch_record_batch(65536)
    return count, dict(zip(SUMS, values, strict=True)), iter(reader)


def _load_extensions(connection: Any) -> None:
    """Load the iceberg extension: from its PyPI package, else one that DuckDB has or downloads."""
    try:
        from duckdb_extensions import import_extension
    except ImportError:
        connection.execute("INSTALL avro; LOAD avro; INSTALL iceberg; LOAD iceberg")
        return
    for name in ("avro", "iceberg"):
        import_extension(name, con=connection)
        connection.execute(f"LOAD {name}")


def pyiceberg_reads(metadata: str) -> tuple[int, dict[str, str], Iterator[pa.RecordBatch]]:
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(metadata).scan().to_arrow()
    return table.num_rows, _sums(table), iter(table.to_batches())


def datafusion_reads(metadata: str) -> tuple[int, dict[str, str], Iterator[pa.RecordBatch]]:
    from datafusion import SessionContext
    from pyiceberg_core.datafusion import IcebergDataFusionTable

    context = SessionContext()
    provider = IcebergDataFusionTable(
        identifier=["tpch", "lineitem"], metadata_location=metadata, file_io_properties={}
    )
    context.register_table("lineitem", provider)
    table = context.sql("SELECT * FROM lineitem").to_arrow_table()
    return table.num_rows, _sums(table), iter(table.to_batches())


def _sums(table: pa.Table) -> dict[str, str]:
    import pyarrow.compute as pc

    return {name: str(pc.sum(table.column(name)).as_py()) for name in SUMS}


def main() -> None:
    peer, metadata = sys.argv[1:]
    readers = {"duckdb": duckdb_reads, "pyiceberg": pyiceberg_reads, "datafusion": datafusion_reads}
    start = time.perf_counter()
    count, sums, batches = readers[peer](metadata)
    found = {"count": count, "sums": sums, "fingerprint": fingerprint(batches), "seconds": time.perf_counter() - start}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
