"""TPC-H lineitem as other implementations write it, eight files of one row group each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq

from peers.tables import NAMESPACE, catalog, once, plain, raw_lineitem

FILES = 8


def pyiceberg_lineitem(data: Path) -> Path:
    """Return the directory of the table that PyIceberg writes by eight appends."""
    folder = _folder(data, "pyiceberg")
    if once(folder / ".done"):
        from pyiceberg.catalog.sql import SqlCatalog

        source = pq.read_table(raw_lineitem(data))
        source = source.cast(plain(source.schema))
        written = SqlCatalog("lineitem", uri="sqlite:///:memory:", warehouse=str(folder.parent))
        written.create_namespace(NAMESPACE)
        name = (NAMESPACE, folder.name)
        # PyIceberg's default is a row group of 1,048,576 rows, more than a file has here.
        table = written.create_table(name, schema=source.schema, location=str(folder))
        step = -(-source.num_rows // FILES)
        for start in range(0, source.num_rows, step):
            table.append(source.slice(start, step))
        (folder / ".done").touch()
    return folder


def duckdb_lineitem(data: Path) -> Path:
    """Return the directory of a table whose files DuckDB writes; they have no field ids and no page index."""
    folder = _folder(data, "duckdb")
    if once(folder / ".done"):
        import duckdb

        name = (NAMESPACE, folder.name)
        tables = catalog(data)
        if tables.table_exists(name):
            tables.drop_table(name)
        schema = plain(pq.read_schema(raw_lineitem(data)))
        table = tables.create_table(name, schema=schema)
        (folder / "data").mkdir(exist_ok=True)
        rows = pq.read_metadata(raw_lineitem(data)).num_rows
        step = -(-rows // FILES)
        paths = [str(folder / "data" / f"{number}.parquet") for number in range(FILES)]
        for number, path in enumerate(paths):
            duckdb.connect().execute(
                f"copy (select * exclude (file_row_number) from read_parquet('{raw_lineitem(data)}', file_row_number = true) "
                f"where file_row_number between {number * step} and {(number + 1) * step - 1}) "
                f"to '{path}' (format parquet, compression zstd, row_group_size {step})"
            )
        table.add_files(paths)
        (folder / ".done").touch()
    return folder


def spark_lineitem(data: Path) -> Path:
    """Return the directory of the table that Spark writes through the Java runtime."""
    folder = _folder(data, "spark")
    if once(folder / ".done"):
        # In a process of its own: no JVM stays beside the contenders.
        subprocess.run([sys.executable, "-m", "peers.writers", str(data)], check=True)
        (folder / ".done").touch()
    return folder


def _write_with_spark(data: Path) -> None:
    from peers.spark_session import java_session

    spark = java_session(data)
    source = spark.read.parquet(str(raw_lineitem(data))).repartition(FILES)
    table = f"ref.{NAMESPACE}.{_folder(data, 'spark').name}"
    # Row groups are cut at 128 MiB; lineitem's files are smaller. No shuffle of Iceberg's own changes the eight files.
    source.writeTo(table).tableProperty("write.distribution-mode", "none").createOrReplace()


def _folder(data: Path, writer: str) -> Path:
    return data / "warehouse" / NAMESPACE / f"lineitem_{writer}"


if __name__ == "__main__":
    _write_with_spark(Path(sys.argv[1]))
