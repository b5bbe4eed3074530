"""A table that icefloe writes to S3, read there by another implementation, and the reverse."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table import StaticTable
from icefloe.transforms import IdentityTransform
from icefloe.types import LongType, NestedField, StringType

pytestmark = pytest.mark.interop
KINDS = ["plain", "a b", "100%", "c#1", "d/e", "é", "f=g&h"]
ROWS = pa.table({"id": pa.array(range(70), pa.int64()), "kind": [KINDS[i % 7] for i in range(70)]})


def sorted_rows(table):
    return table.select(["id", "kind"]).sort_by("id").to_pylist()


def test_another_reads_what_icefloe_wrote(s3, bucket, tmp_path):
    from pyiceberg.table import StaticTable as Theirs

    catalog = load_catalog(
        "lake", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"s3://{bucket}/w", **s3.properties()
    )
    catalog.create_namespace("db")
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "kind", StringType()))
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
    table = catalog.create_table("db.t", schema, partition_spec=spec)
    table.append(ROWS)
    table.delete("id < 10")
    settings = {key: value for key, value in s3.properties().items() if "retry" not in key}
    theirs = Theirs.from_metadata(table.metadata_location, settings)
    assert sorted_rows(theirs.scan().to_arrow()) == sorted_rows(ROWS.slice(10))


def test_icefloe_reads_what_another_wrote(s3, bucket, tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog as Theirs

    settings = {key: value for key, value in s3.properties().items() if "retry" not in key}
    catalog = Theirs("lake", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"s3://{bucket}/w", **settings)
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", ROWS.schema)
    with table.update_spec() as update:
        update.add_identity("kind")
    table.append(ROWS)
    ours = StaticTable.from_metadata(table.metadata_location, s3.properties())
    assert sorted_rows(ours.scan().to_arrow()) == sorted_rows(ROWS)
    assert ours.scan(row_filter="kind = '100%'").to_arrow()["id"].to_pylist() == list(range(2, 70, 7))
