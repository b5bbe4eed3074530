"""Reading tables with deletes: 500,000 positions, and 10,000 keys, of the same data files that are read clean."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peers.case import Case, Work
from peers.cases.scan import duckdb_connection
from peers.tables import NAMESPACE, catalog, metadata_file, once

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

ROWS_PER_FILE = 1_250_000
POSITIONS = 500_000
KEYS = 10_000
NUMBERS = ("id", "price")


def batch(start: int, count: int) -> pa.RecordBatch:
    """Rows `start..`: ids without gaps, and columns of the usual kinds."""
    import numpy as np
    import pyarrow as pa

    random = np.random.default_rng(start)
    ids = np.arange(start, start + count)
    first = np.datetime64("2024-01-01", "us")
    return pa.record_batch(
        {
            "id": pa.array(ids),
            "customer": pa.array(random.integers(0, 1_000_000, count).astype(np.int32)),
            "at": pa.array(first + random.integers(0, 10**13, count).astype("timedelta64[us]")),
            "price": pa.array(random.integers(0, 10**7, count) / 100),
            "code": pa.array(np.char.add("order-", (ids * 7919 % 100_000_007).astype(str))),
            "state": pa.array(np.array(["new", "paid", "sent", "returned"])[random.integers(0, 4, count)]),
        }
    )


def made_table(data: Path, name: str, rows: int, per_file: int = ROWS_PER_FILE) -> Any | None:
    """Create a table of `rows` rows in files of `per_file`; None if it exists."""
    import pyarrow as pa

    if not once(folder(data, name) / ".done"):
        return None
    tables = catalog(data)
    if tables.table_exists((NAMESPACE, name)):
        tables.drop_table((NAMESPACE, name))
    schema = batch(0, 1).schema
    whole = {"write.target-file-size-bytes": str(1 << 40)}
    table = tables.create_table((NAMESPACE, name), schema=schema, properties=whole)
    for start in range(0, rows, per_file):
        count = min(per_file, rows - start)
        parts = (batch(at, min(65536, start + count - at)) for at in range(start, start + count, 65536))
        table.append(pa.RecordBatchReader.from_batches(schema, parts))
    return table


def folder(data: Path, name: str) -> Path:
    return data / "warehouse" / NAMESPACE / name


def spread(rows: int, count: int) -> np.ndarray:
    """Return `count` distinct numbers below `rows`, ascending, at random."""
    import numpy as np

    return np.sort(np.random.default_rng(7).choice(rows, count, replace=False))


def prepare_positions(data: Path, name: str = "positions", per_file: int = ROWS_PER_FILE) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    table = made_table(data, name, 10_000_000, per_file)
    if table is None:
        return
    from icefloe.table.write.file_writer import FileWriter

    found = table.scan(selected_fields=("id", "_file", "_pos")).to_arrow()
    found = found.filter(pc.is_in(found["id"], pa.array(spread(10_000_000, POSITIONS))))
    rows = pa.table({"file_path": found["_file"], "pos": found["_pos"]})
    targets = table.scan().plan().files.select(["file_path", "spec_id", "partition"])
    writer = FileWriter(table.io, table.metadata, str(uuid.uuid4()))
    deletes = writer.position_deletes(rows, pa.table(targets))
    table.new_row_delta().add_deletes(deletes).commit()
    (folder(data, name) / ".done").touch()


def prepare_one_file(data: Path) -> None:
    prepare_positions(data, "one_file", 10_000_000)


def prepare_keys(data: Path, name: str = "keys", rows: int = 10_000_000) -> None:
    """Add equality deletes of (customer, id); half of the keys match no row."""
    import pyarrow as pa
    from icefloe import _core
    from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
    from icefloe.schema import Schema
    from icefloe.table.read_context import schema_json, spec_json

    table = made_table(data, name, rows)
    if table is None:
        return
    keys = table.scan(selected_fields=("customer", "id")).to_arrow().take(pa.array(spread(rows, KEYS)))
    ids = keys["id"].to_numpy().copy()
    ids[::2] += rows
    keys = keys.set_column(keys.schema.get_field_index("id"), "id", pa.array(ids))
    fields = [table.schema().find_field(name) for name in ("customer", "id")]
    files = _core.write_data_files(
        table.io.core,
        keys,
        schema=schema_json(Schema(*fields)),
        spec=spec_json(UNPARTITIONED_PARTITION_SPEC),
        sort_order=None,
        table_location=table.location(),
        properties={},
        operation_id=str(uuid.uuid4()),
        partition_id=0,
        task_id=0,
    )
    changed = {
        "content": pa.array([2], pa.int32()),
        "equality_ids": pa.array([[f.field_id for f in fields]], files.schema.field("equality_ids").type),
    }
    columns = [changed.get(f.name, files.column(f.name)) for f in files.schema]
    deletes = pa.RecordBatch.from_arrays(columns, schema=files.schema)
    table.new_row_delta().add_deletes(deletes).commit()
    (folder(data, name) / ".done").touch()


def prepare_few(data: Path) -> None:
    prepare_keys(data, "keys_1m", 1_000_000)


def icefloe_scan(data: Path, name: str, *, clean: bool, columns: tuple[str, ...] = ("*",)):
    from icefloe.table import StaticTable

    table = StaticTable.from_metadata(metadata_file(folder(data, name)))
    snapshot = clean_snapshot(data, name) if clean else None
    return table.scan(selected_fields=columns, snapshot_id=snapshot)


def clean_snapshot(data: Path, name: str) -> int:
    """Return the id of the snapshot before the deletes."""
    metadata = json.loads(Path(metadata_file(folder(data, name))).read_text())
    return sorted(metadata["snapshots"], key=lambda it: it["sequence-number"])[-2]["snapshot-id"]


def icefloe(name: str, *, clean: bool = False, columns: tuple[str, ...] = ("*",)):
    return lambda data: lambda: icefloe_scan(data, name, clean=clean, columns=columns).to_arrow()


def icefloe_polars(name: str, *, clean: bool = False):
    return lambda data: lambda: icefloe_scan(data, name, clean=clean).to_polars()


def polars(name: str):
    def setup(data: Path) -> Work:
        import polars as pl

        return lambda: pl.scan_iceberg(metadata_file(folder(data, name))).collect()

    return setup


def polars_clean(name: str):
    def setup(data: Path) -> Work:
        import polars as pl

        snapshot = clean_snapshot(data, name)
        return lambda: pl.scan_iceberg(metadata_file(folder(data, name)), snapshot_id=snapshot).collect()

    return setup


def pyiceberg(name: str, columns: tuple[str, ...] = ("*",)):
    def setup(data: Path) -> Work:
        from pyiceberg.table import StaticTable

        table = StaticTable.from_metadata(metadata_file(folder(data, name)))
        return lambda: table.scan(selected_fields=columns).to_arrow()

    return setup


def duckdb(name: str):
    def setup(data: Path) -> Work:
        connection, location = duckdb_connection(), metadata_file(folder(data, name))
        return lambda: connection.execute(f"select * from iceberg_scan('{location}')").to_arrow_table()

    return setup


CASES = [
    Case(
        name="position_deletes",
        what="10M rows x 6 columns, 500,000 scattered position deletes, into memory",
        prepare=prepare_positions,
        contenders={
            "icefloe to_arrow": icefloe("positions"),
            "icefloe clean": icefloe("positions", clean=True),
            "icefloe to_polars": icefloe_polars("positions"),
            "icefloe to_polars, clean": icefloe_polars("positions", clean=True),
            "polars scan_iceberg": polars("positions"),
            "polars scan_iceberg, clean": polars_clean("positions"),
            "pyiceberg to_arrow": pyiceberg("positions"),
            "duckdb iceberg_scan": duckdb("positions"),
        },
        floors=frozenset({"icefloe clean", "icefloe to_polars, clean", "polars scan_iceberg, clean"}),
    ),
    Case(
        name="position_deletes_one_file",
        what="the same rows and positions in one file, into memory",
        prepare=prepare_one_file,
        contenders={
            "icefloe to_arrow": icefloe("one_file"),
            "icefloe clean": icefloe("one_file", clean=True),
            "polars scan_iceberg": polars("one_file"),
            "pyiceberg to_arrow": pyiceberg("one_file"),
            "duckdb iceberg_scan": duckdb("one_file"),
        },
        floors=frozenset({"icefloe clean"}),
    ),
    Case(
        name="position_deletes_two_columns",
        what="two numeric columns of the same file, into memory",
        prepare=prepare_one_file,
        contenders={
            "icefloe to_arrow": icefloe("one_file", columns=NUMBERS),
            "icefloe clean": icefloe("one_file", clean=True, columns=NUMBERS),
            "pyiceberg to_arrow": pyiceberg("one_file", NUMBERS),
        },
        floors=frozenset({"icefloe clean"}),
    ),
    Case(
        name="equality_deletes",
        what="10M rows x 6 columns, 10,000 equality delete keys of two columns, into memory",
        prepare=prepare_keys,
        contenders={
            "icefloe to_arrow": icefloe("keys"),
            "icefloe clean": icefloe("keys", clean=True),
            "icefloe to_polars": icefloe_polars("keys"),
            "icefloe to_polars, clean": icefloe_polars("keys", clean=True),
            "polars scan_iceberg": polars("keys"),
        },
        floors=frozenset({"icefloe clean", "icefloe to_polars, clean"}),
    ),
    Case(
        name="equality_deletes_1m",
        what="the same keys on 1M rows",
        prepare=prepare_few,
        contenders={
            "icefloe to_arrow": icefloe("keys_1m"),
            "icefloe clean": icefloe("keys_1m", clean=True),
        },
        floors=frozenset({"icefloe clean"}),
    ),
]
