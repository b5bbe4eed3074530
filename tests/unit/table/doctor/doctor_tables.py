"""Tables for the doctor, and its findings by their codes."""

import json
from pathlib import Path

import pyarrow as pa
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import IdentityTransform
from icefloe.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "kind", StringType()))
BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))


def rows_from(start, count=3):
    return pa.table({"id": range(start, start + count), "kind": ["a", "b", "a", "b", "a"][:count]})


def found(table, **options):
    return {one.code: one for one in table.doctor(**options).findings}


def rewrite_metadata(catalog, table, change):
    """Register a version of a table whose metadata JSON was changed by hand, as another writer would have written it."""
    metadata = json.loads(Path(table.metadata_location).read_text())
    change(metadata)
    location = str(Path(table.metadata_location).with_name("00099-by-hand.metadata.json"))
    Path(location).write_text(json.dumps(metadata))
    return catalog.register_table("db.t", location, overwrite=True)
