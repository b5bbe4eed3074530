"""Batches of changes of a handle that is older than changes of the table."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import BucketTransform, IdentityTransform
from icefloe.types import LongType

SCHEMA = pa.schema([("id", pa.int32()), ("part", pa.string()), ("n", pa.int64())])
BY_ID = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "id"))
BY_BUCKET = PartitionSpec(PartitionField(1, 1000, BucketTransform(4), "shard"))
KEYS = ["id", "part"]
INITIAL = [(1, "a", 1), (2, "b", 2)]


def batch(*rows):
    return pa.table([pa.array(column) for column in zip(*rows, strict=True)], names=["id", "part", "n", "op"])


def rows_of(table):
    return sorted(tuple(row.values()) for row in table.refresh().scan().to_arrow().to_pylist())


def create(catalog, spec=None):
    table = catalog.create_table("db.cdc", SCHEMA, **({} if spec is None else {"partition_spec": spec}))
    append(table, *INITIAL)
    return table


def append(table, *rows):
    table.append(pa.table([pa.array(column) for column in zip(*rows, strict=True)], schema=SCHEMA))


def repartition(catalog):
    """Replace the partition spec by one of `part`, by another handle, which is returned."""
    other = catalog.load_table("db.cdc")
    with other.update_spec() as update:
        for field in other.spec().fields:
            update.remove_field(field.name)
        update.add_identity("part")
    return other


@pytest.mark.parametrize("operation", ["U", "D"])
@pytest.mark.parametrize("spec", [BY_ID, BY_BUCKET], ids=["identity", "bucket"])
def test_batch_of_a_handle_older_than_a_partition_spec_with_rows_conflicts(catalog, spec, operation):
    table = create(catalog, spec)
    append(repartition(catalog), (3, "a", 3))
    changes = batch((3, "a", 30, operation), (1, "a", 10, operation))
    with pytest.raises(
        ValidationException, match=r"concurrent commit added partition spec 1.*refresh the table and apply"
    ):
        table.apply_changes(changes, KEYS, "op", batch_id="1")
    assert rows_of(table) == [*INITIAL, (3, "a", 3)]
    assert table.apply_changes(changes, KEYS, "op", batch_id="1").applied
    assert rows_of(table) == ([(1, "a", 10), (2, "b", 2), (3, "a", 30)] if operation == "U" else [(2, "b", 2)])


def test_batch_of_a_handle_older_than_a_partition_spec_outside_of_the_keys_conflicts(catalog):
    table = create(catalog, BY_ID)
    append(repartition(catalog), (3, "a", 3))
    changes = batch((3, "b", 30, "U"))
    with pytest.raises(ValidationException, match="added partition spec 1"):
        table.apply_changes(changes, ["id"], "op")
    with pytest.raises(ValidationError, match="partition field 'part' of spec 1 is not of a key"):
        table.refresh().apply_changes(changes, ["id"], "op")
    assert rows_of(table) == [*INITIAL, (3, "a", 3)]


def test_batch_of_an_unpartitioned_table_reaches_rows_of_a_new_spec(catalog):
    table = create(catalog)
    append(repartition(catalog), (3, "a", 3))
    assert table.apply_changes(batch((3, "a", 30, "U"), (1, "a", None, "D")), ["id"], "op").applied
    assert rows_of(table) == [(2, "b", 2), (3, "a", 30)]


def test_batch_of_a_handle_older_than_a_spec_without_rows_is_applied(catalog):
    table = create(catalog, BY_ID)
    other = repartition(catalog)
    assert table.apply_changes(batch((1, "a", 10, "U")), KEYS, "op").applied
    append(other.refresh(), (3, "a", 3))
    assert rows_of(table) == [(1, "a", 10), (2, "b", 2), (3, "a", 3)]


def test_batch_after_a_change_of_the_spec_in_its_transaction_reaches_rows_of_both_specs(catalog):
    table = create(catalog, BY_ID)
    other = catalog.load_table("db.cdc")
    with table.transaction() as transaction:
        with transaction.update_spec() as update:
            update.remove_field("id")
            update.add_identity("part")
        transaction.append(pa.table({"id": [3], "part": ["a"], "n": [3]}, schema=SCHEMA))
        transaction.apply_changes(batch((3, "a", 30, "U"), (1, "a", 10, "U")), KEYS, "op")
        append(other, (4, "a", 4))
    assert rows_of(table) == [(1, "a", 10), (2, "b", 2), (3, "a", 30), (4, "a", 4)]


def test_batch_in_a_transaction_conflicts_with_a_partition_spec_of_another_writer(catalog):
    table = create(catalog, BY_ID)
    transaction = table.transaction()
    transaction.apply_changes(batch((3, "a", 30, "U")), KEYS, "op")
    append(repartition(catalog), (3, "a", 3))
    with pytest.raises(ValidationException, match="added partition spec 1"):
        transaction.commit_transaction()
    assert rows_of(table) == [*INITIAL, (3, "a", 3)]


def test_batch_conflicts_with_the_drop_of_a_key_column(catalog):
    table = create(catalog)
    other = catalog.load_table("db.cdc")
    with other.update_schema(allow_incompatible_changes=True) as update:
        update.delete_column("id")
    with other.update_schema() as update:
        update.add_column("id", LongType())
    other.append(pa.table({"part": ["c"], "n": [3], "id": [3]}))
    with pytest.raises(ValidationException, match="a concurrent commit dropped key column 'id'"):
        table.apply_changes(batch((3, "c", 30, "U")), ["id"], "op")
    assert len(table.refresh().snapshots()) == 2
    assert table.apply_changes(batch((3, "c", 30, "U")), ["id"], "op").applied
    assert rows_of(table) == [("a", 1, None), ("b", 2, None), ("c", 30, 3)]


@pytest.mark.parametrize("spec", [None, BY_ID, BY_BUCKET], ids=["flat", "identity", "bucket"])
def test_batch_reaches_rows_of_a_key_column_that_was_renamed_and_promoted_meanwhile(catalog, spec):
    table = create(catalog, spec)
    other = catalog.load_table("db.cdc")
    with other.update_schema() as update:
        update.rename_column("id", "key")
        update.update_column("id", field_type=LongType())
    other.append(pa.table({"key": [3], "part": ["a"], "n": [3]}))
    assert table.apply_changes(batch((3, "a", 30, "U"), (1, "a", None, "D")), ["id"], "op").applied
    assert rows_of(table) == [(2, "b", 2), (3, "a", 30)]
