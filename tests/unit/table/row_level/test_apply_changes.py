"""Batches of changes by key."""

from __future__ import annotations

import random
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest
from icefloe.exceptions import ResolveError, SchemaMismatchError, ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table.metadata.entries import Snapshots
from icefloe.table.row_level.batch_delta import BATCH_ID
from icefloe.transforms import BucketTransform, IdentityTransform, VoidTransform

SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.string()), ("n", pa.int64())])


def rows_of(table):
    return {row["id"]: row["n"] for row in table.scan().to_arrow().to_pylist()}


def changes(*rows):
    names = ["id", "part", "n", "op", "at"]
    return pa.table([pa.array(column) for column in zip(*rows, strict=True)], names=names)


@pytest.fixture
def table(catalog):
    table = catalog.create_table("db.cdc", SCHEMA)
    table.append(pa.table({"id": range(5), "part": ["a"] * 5, "n": range(5)}, schema=SCHEMA))
    return table


def test_last_change_of_each_key_is_applied(table):
    batch = changes(
        (1, "a", 10, "U", 5),
        (1, "a", 11, "u", 4),
        (2, "a", 20, "update", 1),
        (2, "a", None, "D", 2),
        (7, "a", 70, "I", 1),
        (8, "a", 80, "insert", 1),
        (8, "a", None, "delete", 2),
        (9, "a", None, "D", 1),
        (9, "a", 90, "I", 1),
    )
    result = table.apply_changes(batch, ["id"], "op", "at", batch_id="b1")
    assert (result.applied, result.rows_upserted, result.rows_deleted) == (True, 3, 2)
    assert rows_of(table) == {0: 0, 1: 10, 3: 3, 4: 4, 7: 70, 9: 90}
    assert len(table.snapshots()) == 2
    assert table.current_snapshot().summary[BATCH_ID] == "b1"


def test_batch_is_applied_once(table):
    batch = changes((1, "a", 10, "U", 1))
    assert table.apply_changes(batch, ["id"], "op", "at", batch_id="x").applied
    table.delete("id = 1")
    assert not table.apply_changes(batch, ["id"], "op", "at", batch_id="x").applied
    assert 1 not in rows_of(table)
    assert table.apply_changes(batch, ["id"], "op", "at", batch_id="y").applied
    assert rows_of(table)[1] == 10


def test_a_batch_of_another_branch_is_not_applied_yet(table):
    batch = changes((1, "a", 10, "U", 1))
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "other").commit()
    assert table.apply_changes(batch, ["id"], "op", "at", batch_id="x", branch="other").applied
    assert table.apply_changes(batch, ["id"], "op", "at", batch_id="x").applied
    assert not table.apply_changes(batch, ["id"], "op", "at", batch_id="x", branch="other").applied
    assert rows_of(table)[1] == 10


def test_a_new_batch_reads_as_many_snapshots_after_forty_batches_as_after_ten(table, monkeypatch):
    counts, by_id = [0], Snapshots.by_id

    def counted(self, snapshot_id):
        counts[-1] += 1
        return by_id(self, snapshot_id)

    monkeypatch.setattr(Snapshots, "by_id", counted)
    for number in range(40):
        counts.append(0)
        table.apply_changes(changes((1, "a", number, "U", 1)), ["id"], "op", "at", batch_id=str(number))
    assert counts[11] == counts[40] > 0
    assert not table.apply_changes(changes((1, "a", 0, "U", 1)), ["id"], "op", "at", batch_id="0").applied


def test_batch_that_another_writer_commits_meanwhile_is_applied_once(catalog, table):
    other = catalog.load_table("db.cdc")
    batch = changes((1, "a", 10, "U", 1), (6, "a", 60, "I", 1))
    assert other.apply_changes(batch, ["id"], "op", "at", batch_id="x").applied
    # This handle still has the version before the batch, so the batch meets its twin when it commits.
    assert not table.apply_changes(batch, ["id"], "op", "at", batch_id="x").applied
    table.refresh()
    assert len(table.snapshots()) == 2
    assert rows_of(table) == {0: 0, 1: 10, 2: 2, 3: 3, 4: 4, 6: 60}


def test_batches_apply_in_the_order_of_commits(table):
    table.apply_changes(changes((1, "a", 10, "U", 9)), ["id"], "op", "at")
    table.apply_changes(changes((1, "a", 11, "U", 3)), ["id"], "op", "at")
    assert rows_of(table)[1] == 11


def test_changes_of_data_frames_are_applied(catalog):
    table = catalog.create_table("db.texts", pa.schema([("key", pa.string()), ("n", pa.int64())]))
    frame = pl.DataFrame({"key": ["a", "b", "a"], "n": [1, 2, 3], "op": ["I", "I", "U"]})
    assert table.apply_changes(frame, ["key"], "op").rows_upserted == 2
    encoded = pa.table({"key": ["b"], "n": [0], "op": pa.array(["D"]).dictionary_encode()})
    assert table.apply_changes(encoded, ["key"], "op").rows_deleted == 1
    assert table.scan().to_arrow().to_pylist() == [{"key": "a", "n": 3}]


def test_merge_of_data_frames_joins_texts(table):
    frame = pl.DataFrame({"part": ["a"], "id": [3], "op": ["U"], "name": ["x"]})
    merge = table.merge(frame, ["part", "id"]).when_matched_update({"n": "0"}, "source.op = 'U' and source.name = 'x'")
    assert merge.execute().rows_updated == 1


def test_last_row_counts_without_sequence_numbers(table):
    batch = changes((1, "a", 10, "U", 9), (1, "a", 11, "U", 3)).drop_columns(["at"])
    table.apply_changes(batch, ["id"], "op")
    assert rows_of(table)[1] == 11


@pytest.mark.parametrize(
    "fields", [[("id", BucketTransform(4))], [("part", IdentityTransform()), ("id", BucketTransform(2))]]
)
def test_changes_of_partitioned_tables_reach_the_rows_of_their_keys(catalog, fields):
    names = SCHEMA.names
    spec = PartitionSpec(
        *(PartitionField(names.index(name) + 1, 1000 + at, kind, f"p{at}") for at, (name, kind) in enumerate(fields))
    )
    table = catalog.create_table("db.parts", SCHEMA, partition_spec=spec)
    table.append(pa.table({"id": range(8), "part": ["a", "b"] * 4, "n": range(8)}, schema=SCHEMA))
    batch = changes((1, "b", None, "D", 1), (2, "a", 20, "U", 1), (3, "a", 0, "D", 1))
    table.apply_changes(batch, ["id", "part"], "op", "at")
    assert rows_of(table) == {0: 0, 2: 20, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7}


def test_partitions_outside_of_the_keys_are_refused(catalog):
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))
    table = catalog.create_table("db.part", SCHEMA, partition_spec=spec)
    with pytest.raises(ValidationError, match="partition field 'part' of spec 0 is not of a key"):
        table.apply_changes(changes((1, "b", None, "D", 1)), ["id"], "op", "at")


@pytest.mark.parametrize("seed", range(3))
def test_random_batches_leave_the_rows_of_a_dictionary(table, seed):
    source, expected = random.Random(seed), rows_of(table)
    for number in range(6):
        batch = []
        for at in range(source.randrange(1, 12)):
            key, op = source.randrange(8), source.choice("IUD")
            batch.append((key, "a", number * 100 + at, op, at))
            expected.pop(key, None)
            if op != "D":
                expected[key] = number * 100 + at
        source.shuffle(batch)
        table.apply_changes(changes(*batch), ["id"], "op", "at", batch_id=str(number))
    assert rows_of(table) == expected


@pytest.mark.parametrize("sequence", [None, "at"])
@pytest.mark.parametrize("seed", range(3))
def test_last_change_of_each_key_of_several_columns_is_applied(table, seed, sequence):
    source, expected, rows = random.Random(seed), {}, []
    for _ in range(60):
        key, op = (source.randrange(5), source.choice("abc")), source.choice("IUD")
        rows.append((*key, source.randrange(99), op, source.randrange(9)))
    table.delete()
    batch = changes(*rows) if sequence is not None else changes(*rows).drop_columns(["at"])
    result = table.apply_changes(batch, ["id", "part"], "op", sequence)
    for row in sorted(rows, key=lambda row: row[4] if sequence is not None else 0):
        expected[row[:2]] = row
    remaining = sorted(row[:3] for row in expected.values() if row[3] != "D")
    assert sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist()) == remaining
    assert (result.rows_upserted, result.rows_deleted) == (len(remaining), len(expected) - len(remaining))


@pytest.mark.parametrize(
    ("batch", "arguments", "error", "message"),
    [
        (changes((1, "a", 1, "X", 1)), (["id"], "op", "at"), ValidationError, "unknown operation 'X'"),
        (
            changes((None, "a", 1, "U", 1), (1, "a", 1, "U", 1)),
            (["id"], "op", "at"),
            ValidationError,
            "'id' is null in 1",
        ),
        (
            changes((1, "a", 1, None, 1), (1, "a", 1, "U", 1)),
            (["id"], "op", "at"),
            ValidationError,
            "'op' is null in 1",
        ),
        (
            changes((1, "a", 1, "U", None), (1, "a", 1, "U", 1)),
            (["id"], "op", "at"),
            ValidationError,
            "'at' is null in 1",
        ),
        (changes((1, "a", 1, "U", 1)), ([], "op", "at"), ValidationError, "no key columns"),
        (changes((1, "a", 1, "U", 1)), ("id", "op", "at"), ValidationError, "expected a list or tuple of names"),
        (changes((1, "a", 1, "U", 1)), (["key"], "op", "at"), ResolveError, "no key column 'key'"),
        (changes((1, "a", 1, "U", 1)), (["id"], "operation", "at"), ResolveError, "expected one column 'operation'"),
        (changes((1, "a", 1, "U", 1)), (["id"], "n", "at"), ValidationError, "type int64; expected string"),
        (changes((1, "a", "x", "U", 1)), (["id"], "op", "at"), SchemaMismatchError, "n"),
    ],
)
def test_wrong_batches_are_refused(table, batch, arguments, error, message):
    before = table.metadata_location
    with pytest.raises(error, match=message):
        table.apply_changes(batch, *arguments)
    assert table.refresh().metadata_location == before


def test_apply_changes_refuses_repeated_columns_and_operations_that_are_keys(table):
    batch = changes((1, "a", 10, "U", 1))
    with pytest.raises(ValidationError, match="several columns 'n'"):
        table.apply_changes(batch.append_column("n", batch.column("n")), ["id"], "op")
    with pytest.raises(ValidationError, match="op_column 'id' is a key column"):
        table.apply_changes(batch.select(["id", "n"]), ["id"], "id")
    assert len(table.snapshots()) == 1


def test_changes_reach_the_rows_of_a_table_whose_partition_field_was_removed(catalog):
    spec = PartitionSpec(PartitionField(2, 1000, VoidTransform(), "part"))
    table = catalog.create_table("db.void", SCHEMA, partition_spec=spec)
    table.append(pa.table({"id": range(3), "part": ["a", "b", "c"], "n": range(3)}, schema=SCHEMA))
    table.apply_changes(changes((1, "b", None, "D", 1), (2, "z", 20, "U", 1)), ["id"], "op", "at")
    assert rows_of(table) == {0: 0, 2: 20}


def test_void_fields_are_no_partition_outside_of_the_keys(catalog):
    fields = (PartitionField(2, 1000, VoidTransform(), "part"), PartitionField(1, 1001, BucketTransform(2), "shard"))
    table = catalog.create_table("db.void", SCHEMA, partition_spec=PartitionSpec(*fields))
    table.append(pa.table({"id": range(3), "part": ["a", "b", "c"], "n": range(3)}, schema=SCHEMA))
    table.apply_changes(changes((1, "b", None, "D", 1), (2, "z", 20, "U", 1)), ["id"], "op", "at")
    assert rows_of(table) == {0: 0, 2: 20}


def test_sequence_column_may_be_a_dictionary(table):
    batch = changes((1, "a", 10, "U", 2), (1, "a", 11, "U", 1), (2, "a", 20, "U", 1))
    encoded = batch.set_column(4, "at", batch.column("at").dictionary_encode())
    assert table.apply_changes(encoded, ["id"], "op", "at").rows_upserted == 2
    assert rows_of(table) == {0: 0, 1: 10, 2: 20, 3: 3, 4: 4}


@pytest.mark.parametrize("kind", [pa.struct([("a", pa.int64())]), pa.list_(pa.int64())])
def test_nested_keys_and_sequence_columns_are_refused(catalog, kind):
    schema = pa.schema([("id", pa.int64()), ("deep", kind)])
    table = catalog.create_table("db.deep", schema)
    deep = pa.array([{"a": 1} if pa.types.is_struct(kind) else [1]] * 2, kind)
    batch = pa.table({"id": [1, 2], "deep": deep, "op": ["U", "U"]})
    with pytest.raises(ValidationError, match=r"key column 'deep' has type .*expected a primitive type"):
        table.apply_changes(batch, ["deep"], "op")
    with pytest.raises(ValidationError, match=r"sequence column 'deep' has type .*expected a type with an order"):
        table.apply_changes(batch, ["id"], "op", "deep")


@pytest.mark.parametrize("is_dictionary", [False, True])
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()], ids=str)
def test_sequence_numbers_that_are_nan_are_refused(table, kind, is_dictionary):
    numbers = pa.array([3.0, float("nan"), 4.0], kind)
    numbers = numbers.dictionary_encode() if is_dictionary else numbers
    batch = changes((1, "a", 10, "U", 0), (1, "a", 11, "U", 0), (1, "a", 12, "U", 0)).set_column(4, "at", numbers)
    with pytest.raises(ValidationError, match="sequence column 'at' is NaN in 1 changes"):
        table.apply_changes(batch, ["id"], "op", "at")
    assert len(table.snapshots()) == 1
    table.apply_changes(batch.filter([True, False, True]), ["id"], "op", "at")
    assert rows_of(table)[1] == 12


# Old releases of pyarrow have no narrow decimals.
@pytest.mark.parametrize(
    "kind", [name for name in ("decimal32", "decimal64", "decimal128", "decimal256") if hasattr(pa, name)]
)
def test_sequence_numbers_may_be_decimals_of_any_width(table, kind):
    numbers = pa.array([Decimal(3), Decimal(-4)], getattr(pa, kind)(5, 0))
    batch = changes((1, "a", 10, "U", 0), (1, "a", 11, "U", 0)).set_column(4, "at", numbers)
    table.apply_changes(batch, ["id"], "op", "at")
    assert rows_of(table)[1] == 10


@pytest.mark.parametrize("kind", [pa.float16(), pa.month_day_nano_interval()], ids=str)
def test_sequence_columns_without_an_order_are_refused(table, kind):
    batch = changes((1, "a", 10, "U", None)).set_column(4, "at", pa.nulls(1, kind))
    with pytest.raises(ValidationError, match=r"sequence column 'at' has type .*expected a type with an order"):
        table.apply_changes(batch, ["id"], "op", "at")


def test_keys_within_structs_are_refused_with_advice(catalog):
    schema = pa.schema([("st", pa.struct([("a", pa.int64())])), ("n", pa.int64())])
    table = catalog.create_table("db.nested", schema)
    batch = pa.table({"st": [{"a": 1}], "n": [1], "op": ["U"]})
    with pytest.raises(
        ValidationError, match=r"key 'st.a' is a field within a column.*merge\(\) with on='target.st.a = "
    ):
        table.apply_changes(batch, ["st.a"], "op")
