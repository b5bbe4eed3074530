"""Rows in and out: append, scan, overwrite, delete, upsert, partitions."""

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import And, EqualTo, GreaterThan, In, IsNull, Not, NotNull, Or, StartsWith
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

ROWS = {"id": [1, 2, 3, 4, 5], "country": ["fr", "de", None, "fr", "it"], "n": [10, 20, 30, None, 50]}
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "country", StringType()),
    NestedField(3, "n", IntegerType()),
    identifier_field_ids=[1],
)


def catalog_in(warehouse):
    catalog = SqlCatalog("c", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    catalog.create_namespace("db")
    return catalog


def table_in(warehouse, **options):
    table = catalog_in(warehouse).create_table("db.t", SCHEMA, **options)
    table.append(pa.table(ROWS, schema=table.schema().as_arrow()))
    return table


def rows(result):
    return sorted(result.to_pylist(), key=str)


def scan(warehouse):
    table = table_in(warehouse)
    filters = [
        EqualTo("country", "fr"),
        GreaterThan("n", 15),
        "n > 15 and country = 'it'",
        And(NotNull("country"), In("id", [1, 3, 5])),
        Or(IsNull("country"), StartsWith("country", "f")),
        Not(In("id", [1, 2])),
        "id in (1, 2)",
    ]
    return (
        [rows(table.scan(one).to_arrow()) for one in filters],
        table.scan(selected_fields=("n", "id")).to_arrow().num_rows,
        table.scan(limit=2).to_arrow().num_rows,
        table.scan("id > 3").count(),
        table.scan().to_arrow().schema.names,
        rows(table.scan().to_arrow_batch_reader().read_all()),
        len(list(table.scan("id = 1").plan_files())),
        [str(field) for field in table.scan(selected_fields=("id",)).projection().fields],
    )


def change_rows(warehouse):
    table = table_in(warehouse)
    seen = []
    table.delete("id = 1")
    seen.append(rows(table.scan().to_arrow()))
    table.overwrite(pa.table({"id": [2], "country": ["es"], "n": [7]}, schema=table.schema().as_arrow()), "id = 2")
    seen.append(rows(table.scan().to_arrow()))
    update = pa.table({"id": [3, 9], "country": ["pt", "at"], "n": [1, 2]}, schema=table.schema().as_arrow())
    seen.append(table.upsert(update))
    seen.append(rows(table.scan().to_arrow()))
    table.overwrite(pa.table({"id": [8], "country": ["x"], "n": [0]}, schema=table.schema().as_arrow()))
    seen.append(rows(table.scan().to_arrow()))
    return seen


def partitions(warehouse):
    spec = PartitionSpec(
        PartitionField(2, 1000, IdentityTransform(), "country"),
        PartitionField(1, 1001, BucketTransform(4), "id_bucket"),
        PartitionField(3, 1002, TruncateTransform(10), "n_trunc"),
    )
    table = table_in(warehouse, partition_spec=spec)
    files = sorted((str(task.file.partition), task.file.record_count) for task in table.scan().plan_files())
    return files, str(table.spec()), rows(table.scan("country = 'fr'").to_arrow()), table.scan("n = 30").count()


def overwrite_partitions(warehouse):
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "country"))
    table = table_in(warehouse, partition_spec=spec)
    new = pa.table({"id": [7, 8], "country": ["fr", None], "n": [11, 12]}, schema=table.schema().as_arrow())
    table.dynamic_partition_overwrite(new)
    return rows(table.scan().to_arrow())


def inspect(warehouse):
    table = table_in(warehouse)
    table.delete("id = 1")
    return (
        table.inspect.snapshots()["operation"].to_pylist(),
        table.inspect.files()["record_count"].to_pylist(),
        table.inspect.history()["is_current_ancestor"].to_pylist(),
        [one.summary["added-records"] for one in table.snapshots()],
        [one.summary["total-records"] for one in table.snapshots()],
        len(table.history()),
        [
            str(entry.status)
            for manifest in table.current_snapshot().manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io)
        ],
    )


SCRIPTS = [scan, change_rows, partitions, overwrite_partitions, inspect]
