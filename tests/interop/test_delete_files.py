"""Random tables with position and equality delete files that icefloe writes: DuckDB and pyiceberg-core read the rows of a plain model."""

from __future__ import annotations

import random

import duckdb
import duckdb_extensions
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.transforms import BucketTransform, IdentityTransform
from icefloe.types import IntegerType, LongType, NestedField, StringType

pytestmark = pytest.mark.interop

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "kind", IntegerType()),
    NestedField(3, "name", StringType()),
)
SPECS = (
    UNPARTITIONED_PARTITION_SPEC,
    PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind")),
    PartitionSpec(PartitionField(1, 1000, BucketTransform(3), "id_bucket")),
)
ARROW = SCHEMA.as_arrow()
KEYS = (("id",), ("id", "kind"), ("kind", "name"))
DUCKDB_KEYS = (("id",), ("id", "kind"))
DUCKDB_SPECS = (SPECS[0], SPECS[2])
"""DuckDB 1.5 loses rows where the partition is no function of the key, and ends in an error for keys that are partition columns."""


class Model:
    """A table and the rows that it must have.

    Args:
        folder: Folder of the catalog.
        seed: Seed of the changes; columns of odd seeds have nulls.
        keys: Key columns to choose from.
        specs: Partition specs to choose from.
    """

    def __init__(self, folder, seed, keys=KEYS, specs=SPECS):
        self.random = random.Random(seed)
        self.nulls = seed % 2 == 1
        self.keys = keys
        catalog = load_catalog("c", type="sql", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}/w")
        catalog.create_namespace("db")
        properties = {
            "write.delete.mode": "merge-on-read",
            "write.update.mode": "merge-on-read",
            "write.delete.granularity": self.random.choice(["file", "partition"]),
        }
        spec = self.random.choice(specs)
        self.table = catalog.create_table("db.t", SCHEMA, partition_spec=spec, properties=properties)
        self.rows = []

    def row(self):
        null = self.nulls and self.random.random() < 0.2
        name = None if null else self.random.choice(["a", "b", "", "ü"])
        return {"id": self.random.randrange(40), "kind": self.random.randrange(3), "name": name}

    def append(self):
        added = [self.row() for _ in range(self.random.randint(1, 12))]
        self.table.append(pa.Table.from_pylist(added, schema=ARROW))
        self.rows += added

    def delete(self):
        low = self.random.randrange(40)
        self.table.delete(f"id >= {low} and id < {low + 6}")
        self.rows = [row for row in self.rows if not low <= row["id"] < low + 6]

    def update(self):
        low = self.random.randrange(40)
        self.table.update(f"id >= {low} and id < {low + 4}", {"name": "'updated'"})
        self.rows = [{**row, "name": "updated"} if low <= row["id"] < low + 4 else row for row in self.rows]

    def equality_delete(self):
        """Delete keys in their own partitions, and add rows in the same commit: these stay."""
        names = self.random.choice(self.keys)
        deleted = [self.row() for _ in range(self.random.randint(1, 6))]
        deleted += self.random.sample(self.rows, min(len(self.rows), 3))
        ids = [SCHEMA.find_field(name).field_id for name in names]
        # The partition of a key is that of the whole row, so the rows of other partitions stay.
        metadata = self.table.refresh().metadata
        delta = self.table.new_row_delta()
        keys = pa.Table.from_pylist(deleted, schema=ARROW)
        for file in write_equality_deletes(self.table.io, metadata, keys, ids):
            delta.add_deletes(file)
        delta.commit()
        gone = {(self.partition(row), *(row[name] for name in names)) for row in deleted}
        self.rows = [row for row in self.rows if (self.partition(row), *(row[name] for name in names)) not in gone]

    def partition(self, row):
        (field,) = self.table.spec().fields or (None,)
        if field is None:
            return None
        source = SCHEMA.find_column_name(field.source_id)
        return field.transform.transform(SCHEMA.find_field(source).field_type)(row[source])

    def change(self):
        changes = [self.append, self.append, self.delete, self.update, self.equality_delete, self.equality_delete]
        self.random.choice(changes)()

    def expected(self):
        return ordered(self.rows)


def ordered(rows):
    return sorted((tuple(row[name] for name in ("id", "kind", "name")) for row in rows), key=repr)


@pytest.fixture
def connection():
    with duckdb.connect() as made:
        for name in ("avro", "iceberg"):
            duckdb_extensions.import_extension(name, con=made)
            made.load_extension(name)
        yield made


def changed(model):
    """Return a model after random changes that icefloe reads as the model does."""
    model.append()
    for _ in range(8):
        model.change()
    assert ordered(model.table.scan().to_arrow().to_pylist()) == model.expected()
    return model


@pytest.mark.parametrize("seed", range(12))
def test_duckdb_reads_the_rows_of_the_model(tmp_path, connection, seed):
    model = changed(Model(tmp_path, seed, DUCKDB_KEYS, DUCKDB_SPECS))
    found = connection.execute(f"SELECT * FROM iceberg_scan('{model.table.metadata_location}')").to_arrow_table()
    assert ordered(found.to_pylist()) == model.expected()


@pytest.mark.parametrize("seed", range(24))
def test_pyiceberg_core_reads_the_rows_of_the_model(tmp_path, seed):
    datafusion = pytest.importorskip("datafusion")
    core = pytest.importorskip("pyiceberg_core.datafusion")
    model = changed(Model(tmp_path, seed))
    provider = core.IcebergDataFusionTable(
        identifier=["db", "t"], metadata_location=model.table.metadata_location, file_io_properties={}
    )
    context = datafusion.SessionContext()
    context.register_table("t", provider)
    found = context.sql("SELECT id, kind, name FROM t").to_arrow_table()
    assert ordered(found.to_pylist()) == model.expected()


@pytest.mark.parametrize("seed", range(3))
def test_duckdb_reads_the_rows_of_folded_changes(tmp_path, connection, seed):
    catalog = load_catalog("local", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    rows = pa.table({"id": pa.array(range(2000), pa.int64()), "n": pa.array(range(2000), pa.int64())})
    table = catalog.create_table("db.t", schema=rows.schema, properties={"write.icefloe.fold-min-files": "8"})
    table.append(rows)
    expected, source = dict(enumerate(range(2000))), random.Random(seed)
    for number in range(14):
        batch = [(source.randrange(2100), number, source.choice("UD")) for _ in range(20)]
        for key, value, op in batch:
            expected.pop(key, None)
            if op == "U":
                expected[key] = value
        ids, values, ops = zip(*batch, strict=True)
        table.apply_changes(pa.table({"id": ids, "n": values, "op": ops}), ["id"], "op")
    operations = [snapshot.summary.operation.value for snapshot in table.snapshots()]
    assert operations.count("replace") == 3
    found = connection.execute(f"SELECT id, n FROM iceberg_scan('{table.metadata_location}')").fetchall()
    assert dict(found) == expected
    assert len(found) == len(expected)
