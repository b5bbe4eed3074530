"""Many files for one scan: 10,000 data files of eight rows; 500 data files that share one delete file; 500 delete files."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from peers.case import Case
from peers.cases.deletes import (
    batch,
    duckdb,
    folder,
    icefloe,
    made_table,
    polars,
    polars_clean,
    pyiceberg,
)
from peers.tables import NAMESPACE, catalog, once

SMALL_FILES = 10_000
SMALL_FILE_ROWS = 8
SHARING_FILES = 500
SHARING_FILE_ROWS = 1_000
DELETE_FILES = 500
KEYS_PER_FILE = 20
MANY_ROWS = 15_000_000


def written(table: Any, rows: Any) -> Any:
    """Write one data file of these rows and return it, not committed."""
    from icefloe.table.write.file_writer import FileWriter

    return FileWriter(table.io, table.metadata, str(uuid.uuid4())).data_files(rows)


def table_of_files(data: Path, name: str, files: int, rows: int) -> Any | None:
    """Create a table of `files` data files of `rows` rows each; None if it exists."""
    import pyarrow as pa

    if not once(folder(data, name) / ".done"):
        return None
    tables = catalog(data)
    if tables.table_exists((NAMESPACE, name)):
        tables.drop_table((NAMESPACE, name))
    table = tables.create_table((NAMESPACE, name), schema=batch(0, 1).schema)
    written_files = [written(table, batch(start, rows)) for start in range(0, files * rows, rows)]
    joined = pa.Table.from_batches(written_files).combine_chunks().to_batches()[0]
    table.new_append().append(joined).commit()
    return table


def prepare_small(data: Path) -> None:
    if table_of_files(data, "small_files", SMALL_FILES, SMALL_FILE_ROWS) is not None:
        (folder(data, "small_files") / ".done").touch()


def prepare_sharing(data: Path) -> None:
    """Delete every second row of every file, by one delete file."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from icefloe.table.write.file_writer import FileWriter

    table = table_of_files(data, "sharing", SHARING_FILES, SHARING_FILE_ROWS)
    if table is None:
        return
    with table.transaction() as transaction:
        transaction.set_properties({"write.delete.granularity": "partition"})
    table = catalog(data).load_table((NAMESPACE, "sharing"))
    found = table.scan(selected_fields=("id", "_file", "_pos")).to_arrow()
    found = found.filter(pc.equal(pc.bit_wise_and(found["id"], 1), 0))
    rows = pa.table({"file_path": found["_file"], "pos": found["_pos"]}).sort_by("file_path")
    targets = table.scan().plan().files.select(["file_path", "spec_id", "partition"])
    deletes = FileWriter(table.io, table.metadata, str(uuid.uuid4())).position_deletes(rows, pa.table(targets))
    table.new_row_delta().add_deletes(deletes).commit()
    (folder(data, "sharing") / ".done").touch()


def prepare_many(data: Path) -> None:
    """Add delete files, each with the ids of rows anywhere in the table."""
    import numpy as np
    import pyarrow as pa

    table = made_table(data, "many_keys", MANY_ROWS)
    if table is None:
        return
    ids = np.random.default_rng(3).choice(MANY_ROWS, DELETE_FILES * KEYS_PER_FILE, replace=False)
    files = [key_file(table, pa.table({"id": one})) for one in np.split(ids, DELETE_FILES)]
    joined = pa.Table.from_batches(files).combine_chunks().to_batches()[0]
    table.new_row_delta().add_deletes(joined).commit()
    (folder(data, "many_keys") / ".done").touch()


def key_file(table: Any, keys: Any) -> Any:
    """Write an equality delete file of these ids and return it."""
    import pyarrow as pa
    from icefloe import _core
    from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
    from icefloe.schema import Schema
    from icefloe.table.read_context import schema_json, spec_json

    field = table.schema().find_field("id")
    files = _core.write_data_files(
        table.io.core,
        keys,
        schema=schema_json(Schema(field)),
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
        "equality_ids": pa.array([[field.field_id]], files.schema.field("equality_ids").type),
    }
    return pa.RecordBatch.from_arrays(
        [changed.get(f.name, files.column(f.name)) for f in files.schema], schema=files.schema
    )


CASES = [
    Case(
        name="small_files",
        what="10,000 files of 8 rows x 6 columns, into memory",
        prepare=prepare_small,
        contenders={
            "icefloe to_arrow": icefloe("small_files"),
            "pyiceberg to_arrow": pyiceberg("small_files"),
            "polars scan_iceberg": polars("small_files"),
            "duckdb iceberg_scan": duckdb("small_files"),
        },
        rounds=5,
    ),
    Case(
        name="shared_position_deletes",
        what="500 files of 1,000 rows, half of them deleted by one delete file, into memory",
        prepare=prepare_sharing,
        contenders={
            "icefloe to_arrow": icefloe("sharing"),
            "icefloe clean": icefloe("sharing", clean=True),
            "pyiceberg to_arrow": pyiceberg("sharing"),
            "polars scan_iceberg": polars("sharing"),
            "polars scan_iceberg, clean": polars_clean("sharing"),
            "duckdb iceberg_scan": duckdb("sharing"),
        },
        floors=frozenset({"icefloe clean", "polars scan_iceberg, clean"}),
    ),
    Case(
        name="many_equality_deletes",
        what="15M rows x 6 columns, 500 equality delete files of 20 keys each, into memory",
        prepare=prepare_many,
        contenders={
            "icefloe to_arrow": icefloe("many_keys"),
            "icefloe clean": icefloe("many_keys", clean=True),
        },
        floors=frozenset({"icefloe clean"}),
    ),
]
