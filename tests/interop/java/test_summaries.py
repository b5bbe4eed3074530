"""Snapshot summaries of icefloe and of the Java reference after the same operations."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog

ROOT = Path(__file__).parents[3]
JARS = Path(sys.prefix) / "jars"
PATIENCE = 600
# Names of engines and sizes of files differ; Spark's rewriting of manifests counts no entries.
IGNORED = ("engine", "iceberg-version", "app-", "spark.", "entries-processed")
SIZES = {"added-files-size", "removed-files-size", "total-files-size"}

pytestmark = pytest.mark.interop


def rows(*pairs):
    ids, parts = zip(*pairs, strict=True)
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array(parts, pa.string())})


def write(warehouse: Path):
    """A table after the operations of `summaries.STATEMENTS`."""
    catalog = load_catalog("ours", type="hadoop", warehouse=str(warehouse))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", rows((1, "a")).schema)
    table.update_spec().add_field("part", "identity", "part").commit()

    def written(data):
        return table.transaction().target().writer.data_files(data)

    table.append(rows((1, "a"), (2, "b")))
    table.append(rows((3, "a")))
    table.append(rows((4, "b")))
    table.delete("part = 'b'")
    table.new_replace_partitions().append(written(rows((9, "a")))).commit()
    table.append(rows((5, "c")))
    table.rewrite_manifests().commit()
    files = table.scan().plan_whole_files().files.column("file_path")
    table.new_rewrite().delete(files).append(written(table.scan().to_arrow())).commit()
    return table


def comparable(summary):
    return {key: value for key, value in summary.items() if not key.startswith(IGNORED) and key not in SIZES}


def test_summaries_equal_those_of_the_reference(tmp_path):
    jars = sorted(JARS.glob("iceberg-spark-runtime-*.jar"))
    if not jars:
        pytest.skip(f"the Java reference is not in {JARS}: make java-reference")
    table = write(tmp_path / "ours")
    command = [
        sys.executable,
        "-m",
        "tests.interop.java.summaries",
        str(jars[-1]),
        str(tmp_path),
        str(tmp_path / "ours"),
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == 0, run.stderr[-6000:]
    found = json.loads((tmp_path / "summaries.json").read_text())
    ours = [
        (one.operation.value, comparable({key: one.summary[key] for key in one.summary.additional_properties}))
        for one in table.snapshots()
    ]
    assert ours == [(operation, comparable(summary)) for operation, summary in found["summaries"]]
    assert found["rows"] == [[5, "c"], [9, "a"]]
