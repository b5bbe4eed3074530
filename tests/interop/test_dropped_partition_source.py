"""A column that a former partition spec divides by is dropped; its old files are still deleted from, rightly."""

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import IdentityTransform
from pyiceberg.table import StaticTable

pytestmark = pytest.mark.interop


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def table(request, tmp_path):
    catalog = load_catalog("dropped", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    rows = pa.table({"id": [1, 2, 3, 4], "kind": ["a", "b", "a", "b"]})
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
    made = catalog.create_table(
        "db.t", rows.schema, partition_spec=spec, properties={"write.delete.mode": request.param}
    )
    made.append(rows)
    with made.update_spec() as update:
        update.remove_field("kind")
    with made.update_schema() as update:
        update.delete_column("kind")
    made.append(pa.table({"id": [5, 6]}))
    return made


def test_rows_of_old_and_new_files_are_deleted(table):
    for gone in (2, 6):
        table.delete(f"id = {gone}")
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 3, 4, 5]


def test_another_reader_agrees(table):
    table.delete("id = 3")
    theirs = StaticTable.from_metadata(table.metadata_location).scan().to_arrow()
    assert sorted(theirs["id"].to_pylist()) == sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 2, 4, 5, 6]
