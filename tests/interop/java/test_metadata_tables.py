"""Metadata tables and statistics beside those of the Java reference: columns, types, nullability, order, rows, estimates."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.table import StaticTable
from icefloe.table.inspect import METADATA_TABLES
from icefloe.table.maintenance.statistics.compute_partition_statistics import statistics_rows
from icefloe.table.maintenance.statistics.compute_statistics import ComputeStatistics

from tests.interop.java.metadata_tables import NAMES

ROOT = Path(__file__).parents[3]
JARS = Path(sys.prefix) / "jars"

pytestmark = pytest.mark.interop


@pytest.fixture
def folder(java) -> Path:
    java.check("metadata-tables")
    return java.folder


def table(folder: Path, name: str = "described") -> StaticTable:
    return StaticTable.from_metadata(str(folder / "warehouse" / "db" / name))


def answer(folder: Path, name: str) -> pa.Table:
    with pa.OSFile(str(folder / "metadata-tables" / f"{name}.arrow")) as source:
        return pa.ipc.open_file(source).read_all()


def plain(kind: Any) -> Any:
    """A Spark type as JSON, without comments."""
    if isinstance(kind, dict):
        return {key: plain(value) for key, value in kind.items() if key != "metadata"}
    return [plain(each) for each in kind] if isinstance(kind, list) else kind


def comparable(value: Any) -> Any:
    """A value with maps in the order of their keys and paths without a scheme."""
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(each, tuple) for each in value):
            return sorted((key, comparable(each)) for key, each in value)
        return [comparable(each) for each in value]
    if isinstance(value, str):
        return value.removeprefix("file:")
    return value


def rows(found: pa.Table) -> list[str]:
    return sorted(repr(comparable(row)) for row in found.to_pylist())


def test_every_metadata_table_is_compared():
    assert sorted(NAMES) == list(METADATA_TABLES)


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_those_of_java(folder, name):
    to_spark = pytest.importorskip("icefloe.spark.types.to_spark")
    own = json.loads(to_spark.to_spark_schema(table(folder).inspect.scan(name).schema()).json())
    assert plain(own) == plain(json.loads((folder / "metadata-tables" / "schemas.json").read_text())[name])


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_java(folder, name):
    found, expected = table(folder).inspect.scan(name).to_arrow(), answer(folder, name)
    assert found.column_names == expected.column_names
    assert expected.num_rows > 0
    assert rows(found) == rows(expected)


def test_bounds_of_a_dropped_partition_column_are_those_of_java(folder):
    found, expected = table(folder, "lost").inspect.manifests(), answer(folder, "lost-manifests")
    assert rows(found) == rows(expected)
    assert any(bounds[0]["lower_bound"] == "null" for bounds in found.column("partition_summaries").to_pylist())


def test_distinct_counts_are_those_of_java(folder):
    counted = table(folder, "counted")
    (theirs,) = counted.metadata.statistics
    names = {field.field_id: field.name for field in counted.schema().fields}
    expected = {names[blob.fields[0]]: int(blob.properties["ndv"]) for blob in theirs.blob_metadata}
    columns = list(expected)
    paths = [[counted.schema().column_names.index(name)] for name in columns]
    from icefloe import _core

    found = dict(zip(columns, _core.distinct_values(counted.scan().plan().stream(), paths), strict=True))
    for name in ("few", "text", "price"):
        assert int(found[name][0]) == expected[name]
    # Both estimate 50,000 ids with a standard error of 1.6 %.
    assert abs(found["id"][0] / expected["id"] - 1) < 0.07
    assert ComputeStatistics(counted).plan().is_empty


def test_java_reads_our_puffin_files(folder, tmp_path):
    from icefloe import _core

    jars = sorted(JARS.glob("iceberg-spark-runtime-*.jar"))
    counted = table(folder, "counted")
    sketches = _core.distinct_values(counted.scan().plan().stream(), [[0], [1], [2]])
    snapshot = counted.current_snapshot().snapshot_id
    blobs = [
        ("apache-datasketches-theta-v1", [place], snapshot, 1, sketch, "compress", {"ndv": str(int(estimate))})
        for place, (estimate, sketch) in enumerate(sketches, 1)
    ]
    content, _ = _core.encode_puffin(blobs, {"created-by": "icefloe"})
    path = tmp_path / "own.stats"
    path.write_bytes(content)
    command = [sys.executable, "-m", "tests.interop.java.puffin_reader", str(jars[-1]), str(path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr[-6000:]
    found = json.loads(run.stdout)
    assert [blob["fields"] for blob in found] == [[1], [2], [3]]
    assert [blob["properties"] for blob in found] == [blob[6] for blob in blobs]
    for blob, (estimate, sketch) in zip(found, sketches, strict=True):
        assert bytes.fromhex(blob["content"]) == sketch
        assert blob["estimate"] == pytest.approx(estimate, rel=1e-12)


def test_partition_statistics_are_those_of_java(folder):
    described = table(folder)
    (theirs,) = described.metadata.partition_statistics
    expected = pq.read_table(theirs.statistics_path.removeprefix("file:"))
    found = statistics_rows(described, described.metadata, theirs.snapshot_id)
    assert found.column_names == expected.column_names
    assert rows(found) == rows(expected)
