"""Tables of many data files in few or many manifests, of which only the metadata exists."""

from __future__ import annotations

import json
import struct
import uuid
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from peers.tables import NAMESPACE, catalog, metadata_file, once

FILES_PER_MANIFEST = 10_000
ROWS_PER_FILE = 100_000
COLUMNS = 12
DAYS = 365
FIRST_DAY = 19_000

SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {"id": 2, "name": "day", "required": False, "type": "date"},
    ]
    + [
        {"id": n, "name": f"c{n}", "required": False, "type": "long" if n % 2 else "string"}
        for n in range(3, COLUMNS + 1)
    ],
}
SPEC = {"spec-id": 0, "fields": [{"source-id": 2, "field-id": 1000, "name": "day_day", "transform": "day"}]}


@dataclass(frozen=True)
class Layout:
    """How many files a table has, and in which manifests."""

    name: str
    manifests: int
    files_per_manifest: int
    manifests_per_commit: int = 10

    @property
    def files(self) -> int:
        return self.manifests * self.files_per_manifest


TEN_MANIFESTS = Layout("metadata_only", 10, FILES_PER_MANIFEST)
THOUSAND_MANIFESTS = Layout("thousand_manifests", 1_000, 10, manifests_per_commit=1)
MILLION_FILES = Layout("million_files", 100, FILES_PER_MANIFEST)

SCHEMA_JSON = json.dumps(SCHEMA)
SPECS_JSON = json.dumps([SPEC])


def maps(keys: np.ndarray, values: pa.Array, files: int) -> pa.MapArray:
    offsets = np.arange(0, files * COLUMNS + 1, COLUMNS, dtype=np.int32)
    return pa.MapArray.from_arrays(offsets, pa.array(keys, pa.int32()), values)


def bounds(first: int, days: np.ndarray, *, upper: bool) -> pa.Array:
    shift = ROWS_PER_FILE - 1 if upper else 0
    values = []
    for file, day in enumerate(days):
        start = (first + file) * ROWS_PER_FILE + shift
        values.append(struct.pack("<q", start))
        values.append(struct.pack("<i", day))
        for column in range(3, COLUMNS + 1):
            number = (start * column) % 1_000_003
            values.append(struct.pack("<q", number) if column % 2 else f"value-{number:010}".encode())
    return pa.array(values, pa.binary())


def data_files(manifest: int, location: str, layout: Layout = TEN_MANIFESTS) -> pa.RecordBatch:
    """The DataFile columns of one manifest: clustered by day, ids ascending."""
    files, first = layout.files_per_manifest, manifest * layout.files_per_manifest
    random = np.random.default_rng(manifest)
    days = FIRST_DAY + (np.arange(first, first + files) * DAYS // layout.files)
    iso = np.datetime_as_string(days.astype("datetime64[D]"))
    keys = np.tile(np.arange(1, COLUMNS + 1, dtype=np.int32), files)
    sizes = pa.array(random.integers(10_000, 5_000_000, files * COLUMNS), pa.int64())
    counts = pa.array(np.full(files * COLUMNS, ROWS_PER_FILE), pa.int64())
    nulls = pa.array(random.integers(0, 50, files * COLUMNS), pa.int64())
    columns = {
        "content": pa.array(np.zeros(files), pa.int32()),
        "file_path": pa.array(
            [f"{location}/data/day_day={day}/{uuid.UUID(int=first + n)}.parquet" for n, day in enumerate(iso)]
        ),
        "file_format": pa.array(["PARQUET"] * files),
        "spec_id": pa.array(np.zeros(files), pa.int32()),
        "partition": pa.array([json.dumps([day]) for day in iso]),
        "record_count": pa.array(np.full(files, ROWS_PER_FILE), pa.int64()),
        "file_size_in_bytes": pa.array(random.integers(10_000_000, 60_000_000, files), pa.int64()),
        "column_sizes": maps(keys, sizes, files),
        "value_counts": maps(keys, counts, files),
        "null_value_counts": maps(keys, nulls, files),
        "lower_bounds": maps(keys, bounds(first, days, upper=False), files),
        "upper_bounds": maps(keys, bounds(first, days, upper=True), files),
        "split_offsets": pa.array([[4]] * files, pa.list_(pa.int64())),
    }
    return pa.RecordBatch.from_pydict(columns)


def metadata_only_table(data: Path, layout: Layout = TEN_MANIFESTS) -> Path:
    """The directory of the table; made once."""
    folder = data / "warehouse" / NAMESPACE / layout.name
    if once(folder / ".done"):
        from icefloe.partitioning import PartitionSpec
        from icefloe.schema import Schema

        tables, name = catalog(data), (NAMESPACE, layout.name)
        if tables.table_exists(name):
            tables.drop_table(name)
        table = tables.create_table(
            name, schema=Schema.model_validate(SCHEMA), partition_spec=PartitionSpec.model_validate(SPEC)
        )
        with table.transaction() as transaction:
            for first in range(0, layout.manifests, layout.manifests_per_commit):
                append = transaction.new_fast_append()
                for manifest in range(first, first + layout.manifests_per_commit):
                    append = append.append(data_files(manifest, table.location(), layout))
                append.commit()
        forget_history(folder)
        (folder / ".done").touch()
    return folder


def forget_history(folder: Path) -> None:
    """Leave only the current snapshot in the newest metadata: planning is compared, not the reading of a long history."""
    newest = Path(metadata_file(folder))
    metadata = json.loads(newest.read_text())
    current = metadata["current-snapshot-id"]
    metadata["snapshots"] = [each for each in metadata["snapshots"] if each["snapshot-id"] == current]
    metadata["snapshot-log"] = [each for each in metadata["snapshot-log"] if each["snapshot-id"] == current]
    newest.write_text(json.dumps(metadata))
    for manifest_list in (folder / "metadata").glob("snap-*.avro"):
        if manifest_list.name != Path(metadata["snapshots"][0]["manifest-list"]).name:
            manifest_list.unlink()
