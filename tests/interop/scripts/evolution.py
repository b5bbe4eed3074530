"""Schemas, specs, orders, properties, references: changed one by one and together."""

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform
from pyiceberg.types import (
    DateType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
)


def table_in(warehouse, **options):
    catalog = SqlCatalog("c", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    catalog.create_namespace("db")
    schema = Schema(
        NestedField(1, "id", IntegerType(), required=True),
        NestedField(2, "at", TimestampType()),
        NestedField(3, "name", StringType()),
        NestedField(4, "point", StructType(NestedField(5, "x", FloatType()), NestedField(6, "y", FloatType()))),
    )
    table = catalog.create_table("db.t", schema, **options)
    row = {"id": [1], "at": [None], "name": ["a"], "point": [{"x": 1.5, "y": 2.5}]}
    table.append(pa.table(row, schema=table.schema().as_arrow()))
    return table


def schema(warehouse):
    table = table_in(warehouse)
    seen = [str(table.schema())]
    with table.update_schema() as update:
        update.add_column("tags", ListType(0, StringType(), False), doc="labels")
        update.add_column("counts", MapType(0, StringType(), 0, LongType(), False))
        update.add_column(("point", "z"), DoubleType())
    seen.append(str(table.schema()))
    with table.update_schema() as update:
        update.rename_column("name", "label").update_column("id", LongType(), doc="key")
        update.rename_column("point.x", "east").delete_column("counts")
    seen.append(str(table.schema()))
    with table.update_schema() as update:
        update.move_first("label").move_after("at", "id")
    seen.append(str(table.schema()))
    with table.update_schema() as update:
        update.union_by_name(pa.schema([("id", pa.int64()), ("extra", pa.date32())]))
    seen.append(str(table.schema()))
    with table.update_schema(allow_incompatible_changes=True) as update:
        update.make_column_optional("id")
    seen.append(str(table.schema()))
    return seen, table.scan().to_arrow().to_pylist(), len(table.schemas()), table.metadata.last_column_id


def spec_and_order(warehouse):
    table = table_in(warehouse)
    seen = []
    with table.update_spec() as update:
        update.add_field("at", DayTransform(), "day").add_field("id", BucketTransform(8)).add_identity("name")
    seen.append(str(table.spec()))
    with table.update_spec() as update:
        update.rename_field("day", "the_day").remove_field("name")
    seen.append(str(table.spec()))
    with table.update_spec() as update:
        update.add_field("name", "truncate[2]", "start")
    seen.append(str(table.spec()))
    with table.update_sort_order() as update:
        update.asc("id", IdentityTransform(), NullOrder.NULLS_LAST).desc("name", "truncate[3]", NullOrder.NULLS_FIRST)
    seen.append(str(table.sort_order()))
    return seen, sorted(table.specs()), table.metadata.last_partition_id, sorted(table.sort_orders())


def transaction(warehouse):
    table = table_in(warehouse)
    with table.transaction() as transaction:
        transaction.set_properties({"a": "1"})
        transaction.set_properties(b="2")
        with transaction.update_schema() as update:
            update.add_column("day", DateType())
        transaction.append(table.scan().to_arrow())
    with table.transaction() as transaction:
        transaction.remove_properties("a")
    return (
        {key: value for key, value in table.properties.items() if key in "ab"},
        table.schema().column_names[-1],
        table.scan().count(),
        len(table.snapshots()),
        table.transaction().set_properties(c="3").commit_transaction().properties["c"],
    )


def references(warehouse):
    table = table_in(warehouse)
    first = table.current_snapshot().snapshot_id
    table.manage_snapshots().create_tag(first, "v1").create_branch(first, "audit").commit()
    table.append(table.scan().to_arrow(), branch="audit")
    table.append(table.scan().to_arrow())
    counts = [table.scan().use_ref(name).count() for name in ("v1", "audit", "main")]
    seen = [counts, table.scan(snapshot_id=first).count(), sorted(table.refs())]
    seen += [str(table.refs()["v1"].snapshot_ref_type), table.snapshot_by_name("v1").snapshot_id == first]
    table.manage_snapshots().remove_tag("v1").remove_branch("audit").commit()
    seen.append(sorted(table.metadata.refs))
    seen.append([one.parent_snapshot_id == first for one in table.snapshots()])
    return seen


SCRIPTS = [schema, spec_and_order, transaction, references]
