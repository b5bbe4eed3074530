"""Tables after each operation on files, as PyIceberg and DuckDB read them."""

from __future__ import annotations

import duckdb
import duckdb_extensions
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import IdentityTransform, TruncateTransform
from icefloe.types import LongType, NestedField, StringType
from pyiceberg.table import StaticTable

pytestmark = pytest.mark.interop

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "part", StringType()))
BY_PART = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))


@pytest.fixture
def catalog():
    with load_catalog("scratch", type="memory") as made:
        made.create_namespace("db")
        yield made


@pytest.fixture
def check():
    """Compare the rows of a table as icefloe, PyIceberg and DuckDB read them."""
    with duckdb.connect() as connection:
        for name in ("avro", "iceberg"):
            duckdb_extensions.import_extension(name, con=connection)
            connection.load_extension(name)

        def compare(table, expected):
            def rows(found):
                return sorted(tuple(row.values()) for row in found.select(["id", "part"]).to_pylist())

            location = table.refresh().metadata_location
            assert rows(table.scan().to_arrow()) == expected
            assert rows(StaticTable.from_metadata(location).scan().to_arrow()) == expected
            found = connection.execute(f"SELECT id, part FROM iceberg_scan('{location}') ORDER BY id, part").fetchall()
            assert found == expected

        yield compare


def rows(*pairs):
    ids, parts = zip(*pairs, strict=True)
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array(parts, pa.string())})


@pytest.mark.parametrize("spec", [None, BY_PART, PartitionSpec(PartitionField(1, 1000, TruncateTransform(10), "ten"))])
def test_added_files_are_read_by_others(catalog, check, tmp_path, spec):
    table = catalog.create_table("db.t", SCHEMA, **({} if spec is None else {"partition_spec": spec}))
    paths = []
    for name, data in {"a": rows((1, "a"), (2, "a")), "b": rows((11, "b"), (12, "b"))}.items():
        paths.append(f"{tmp_path}/{name}.parquet")
        pq.write_table(data, paths[-1])
    table.add_files(paths)
    table.append(rows((21, "c")))
    check(table, [(1, "a"), (2, "a"), (11, "b"), (12, "b"), (21, "c")])
