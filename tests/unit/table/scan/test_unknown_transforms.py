"""Tables with partition fields of unknown transforms, and of ``void`` with another type than the source column's, are readable."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table import StaticTable
from icefloe.transforms import IdentityTransform
from icefloe.types import IntegerType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "n", IntegerType()), NestedField(2, "s", StringType()))
SPEC = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "p"))
ROWS = pa.table({"n": pa.array([1, 2, None], pa.int32()), "s": ["a", "b", "c"]})


@pytest.fixture
def read_with(tmp_path):
    """Return a function that reads a table of three partitions by metadata with another transform in its place."""

    def read(**changes):
        with load_catalog("scratch", type="hadoop", warehouse=str(tmp_path)) as catalog:
            catalog.create_namespace("db")
            rows = ROWS if changes["transform"] != "void" else ROWS.filter(pa.compute.field("n").is_null())
            table = catalog.create_table("db.t", SCHEMA, partition_spec=SPEC)
            table.append(rows)
        metadata = json.loads(Path(table.metadata_location).read_text())
        metadata["partition-specs"][0]["fields"][0].update(changes)
        location = tmp_path / "changed.metadata.json"
        location.write_text(json.dumps(metadata))
        return StaticTable.from_metadata(str(location))

    return read


@pytest.mark.parametrize("transform", ["zorder[4]", "void"])
def test_table_with_a_transform_of_another_type_is_read(read_with, transform):
    table = read_with(**{"transform": transform, "source-id": 2})
    expected = ["a", "b", "c"] if transform != "void" else ["c"]
    assert sorted(table.scan().to_arrow()["s"].to_pylist()) == expected
    assert table.scan("s = 'c'").to_arrow()["s"].to_pylist() == ["c"]
    assert table.scan("s = 'x'").to_arrow().num_rows == 0
    assert table.scan().count() == len(expected)


@pytest.mark.parametrize("transform", ["zorder[4]", "void"])
def test_metadata_tables_leave_out_a_transform_of_another_type(read_with, transform):
    table = read_with(**{"transform": transform, "source-id": 2})
    files = 3 if transform != "void" else 1
    assert table.inspect.files().num_rows == files
    assert "partition" not in table.inspect.files().column_names
    assert table.inspect.partitions()["file_count"].to_pylist() == [files]
    [[summary]] = table.inspect.manifests()["partition_summaries"].to_pylist()
    bound = "null" if transform == "void" else None
    assert (summary["lower_bound"], summary["upper_bound"]) == (bound, bound)
