"""Fixtures of small tables, written by the public write path."""

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import BucketTransform, IdentityTransform
from icefloe.types import DoubleType, LongType, NestedField, StringType

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "kind", StringType()),
    NestedField(3, "value", DoubleType()),
    identifier_field_ids=[1],
)
BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
BY_BUCKET = PartitionSpec(PartitionField(1, 1000, BucketTransform(4), "id_bucket"))


def rows_of(*rows):
    """Rows (id, kind, value) as an Arrow table."""
    ids, kinds, values = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {"id": pa.array(ids, pa.int64()), "kind": pa.array(kinds, pa.string()), "value": pa.array(values, pa.float64())}
    )


@pytest.fixture
def rows():
    return rows_of


@pytest.fixture
def content():
    """Return the rows of a table as a set of tuples, and fail on repeated rows."""

    def read(table, *filters):
        found = [tuple(row.values()) for row in table.scan(*filters).to_arrow().to_pylist()]
        assert len(found) == len(set(found))
        return set(found)

    return read


@pytest.fixture
def catalog():
    with load_catalog("scratch", type="memory") as made:
        made.create_namespace("db")
        yield made


@pytest.fixture
def new_table(catalog):
    """Return a function that creates a table of rows 1 to 6 in two files: kinds a, b and null, values n / 2 and null."""

    def make(spec=None, properties=None):
        table = catalog.create_table(
            "db.t",
            SCHEMA,
            partition_spec=UNPARTITIONED_PARTITION_SPEC if spec is None else spec,
            properties=properties or {},
        )
        table.append(rows_of((1, "a", 0.5), (2, "b", None), (3, None, 1.5)))
        table.append(rows_of((4, "a", 2.0), (5, "b", 2.5), (6, None, None)))
        return table

    return make


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def mode(request):
    """Properties of a row-level mode."""
    return {"write.delete.mode": request.param, "write.merge.mode": request.param}


@pytest.fixture(params=["unpartitioned", "by kind", "by bucket"])
def spec(request):
    return {"unpartitioned": UNPARTITIONED_PARTITION_SPEC, "by kind": BY_KIND, "by bucket": BY_BUCKET}[request.param]
