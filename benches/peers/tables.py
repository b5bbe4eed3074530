"""The tables that cases share: TPC-H lineitem, and a table that is all metadata."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

NAMESPACE = "bench"
# TPC-H's scale factor. Tables of one data directory share one: give `--data` with another.
SCALE = os.environ.get("PEERS_SCALE", "1")


def once(marker: Path) -> bool:
    """Return whether the preparation that ends with this marker is still to be done."""
    marker.parent.mkdir(parents=True, exist_ok=True)
    return not marker.exists()


def raw_lineitem(data: Path) -> Path:
    """TPC-H lineitem as Parquet, generated."""
    folder = data / f"tpch-sf{SCALE}"
    if once(folder / ".done"):
        tool = Path(sys.executable).with_name("tpchgen-cli")
        command = [tool, "parquet", f"--scale-factor={SCALE}", "--tables=lineitem", f"--output-dir={folder}"]
        subprocess.run(command, check=True)
        (folder / ".done").touch()
    return folder / "lineitem.parquet"


def catalog(data: Path) -> Any:
    from icefloe.catalog import load_catalog

    found = load_catalog("bench", type="hadoop", warehouse=str(data / "warehouse"))
    found.create_namespace_if_not_exists(NAMESPACE)
    return found


def plain(schema: pa.Schema) -> pa.Schema:
    """The schema that every peer can write: strings as plain strings, no dictionaries or views."""
    types = {pa.string_view(): pa.string(), pa.large_string(): pa.string()}
    return pa.schema([pa.field(f.name, types.get(f.type, f.type)) for f in schema])


def lineitem_table(data: Path) -> Path:
    """An unpartitioned Iceberg table of lineitem; returns its directory."""
    folder = data / "warehouse" / NAMESPACE / "lineitem"
    if once(folder / ".done"):
        source = pq.ParquetFile(raw_lineitem(data))
        schema = plain(source.schema_arrow)
        tables = catalog(data)
        if tables.table_exists((NAMESPACE, "lineitem")):
            tables.drop_table((NAMESPACE, "lineitem"))
        table = tables.create_table((NAMESPACE, "lineitem"), schema=schema)
        batches = (batch.cast(schema) for batch in source.iter_batches(batch_size=65536))
        table.append(pa.RecordBatchReader.from_batches(schema, batches))
        (folder / ".done").touch()
    return folder


def metadata_file(table: Path) -> str:
    """Return the newest metadata file of a table directory: by its hint, else the last by name."""
    hint = table / "metadata" / "version-hint.text"
    if hint.exists():
        return str(table / "metadata" / f"v{hint.read_text().strip()}.metadata.json")
    return str(max((table / "metadata").glob("*.metadata.json")))


def data_files(table: Path) -> list[str]:
    return sorted(str(path) for path in (table / "data").rglob("*.parquet"))
