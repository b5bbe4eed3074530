"""Streams more rows through `append` than fit into memory: peak memory and the sizes of the files.

Run `python benches/large_stream.py --gigabytes 10`; the table is deleted in the end. Rows are a key, a measure with few digits, a
category and a text of repeated words, which compress to a third or less.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from icefloe.catalog import load_catalog

BATCH_ROWS = 64 * 1024
SCHEMA = pa.schema([("key", pa.int64()), ("measure", pa.float64()), ("category", pa.string()), ("note", pa.string())])
WORDS = ["carefully", "final", "packages", "sleep", "quickly", "above", "the", "ironic", "requests", "deposits"]
MIB = 1 << 20


def batches(total_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield batches until they hold `total_bytes` bytes of Arrow data together."""
    random = np.random.default_rng(1)
    notes = pa.array([" ".join(random.choice(WORDS, 12)) for _ in range(50_000)])
    categories = pa.array([f"category {n:03}" for n in range(200)])
    sent, key = 0, 0
    while sent < total_bytes:
        batch = pa.record_batch(
            [
                pa.array(np.arange(key, key + BATCH_ROWS)),
                pa.array(np.round(random.normal(100, 20, BATCH_ROWS), 2)),
                categories.take(pa.array(random.integers(0, len(categories), BATCH_ROWS))),
                notes.take(pa.array(random.integers(0, len(notes), BATCH_ROWS))),
            ],
            schema=SCHEMA,
        )
        sent += batch.nbytes
        key += BATCH_ROWS
        yield batch


def peak_bytes() -> int:
    """Return the greatest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=10, help="bytes of Arrow data in units of 10^9")
    parser.add_argument("--target-mib", type=int, default=128, help="write.target-file-size-bytes in MiB")
    parser.add_argument("--format", choices=("parquet", "avro", "orc"), default="parquet")
    parser.add_argument(
        "--folder", type=Path, default=None, help="where the table is written; a new temporary folder below it"
    )
    return parser.parse_args()


def measured(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Append the stream to a new table and return the figures."""
    catalog = load_catalog("large", type="hadoop", warehouse=str(folder))
    catalog.create_namespace("db")
    target = given.target_mib * MIB
    properties = {"write.format.default": given.format, "write.target-file-size-bytes": str(target)}
    table = catalog.create_table("db.t", SCHEMA, properties=properties)
    before, started = peak_bytes(), time.perf_counter()
    table.append(pa.RecordBatchReader.from_batches(SCHEMA, batches(int(given.gigabytes * 10**9))))
    seconds, peak = time.perf_counter() - started, peak_bytes()
    sizes = sorted(size / target for size in table.inspect.files()["file_size_in_bytes"].to_pylist())
    # The last file holds the rows that are left.
    full = [round(sizes[min(1, len(sizes) - 1)], 3), round(sizes[-1], 3)]
    return {
        "format": given.format,
        "gigabytes": given.gigabytes,
        "seconds": round(seconds, 1),
        "peak MiB": round(peak / MIB),
        "MiB before": round(before / MIB),
        "files": len(sizes),
        "least and greatest size of the full files, of the target": full,
        "rows": table.scan().count(),
    }


def main() -> None:
    given = arguments()
    folder = Path(tempfile.mkdtemp(dir=given.folder, prefix="large-stream-"))
    try:
        print(json.dumps(measured(given, folder)))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
