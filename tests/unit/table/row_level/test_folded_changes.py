"""Small files of batches of changes are folded, and the table keeps its rows."""

from __future__ import annotations

import random
from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe.exceptions import CommitFailedException, CommitStateUnknownException, ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table.maintenance.fold.chosen_files import size_tiers
from icefloe.table.maintenance.fold.fold_changes import FilesFold
from icefloe.table.row_level.batch_delta import BATCH_ID
from icefloe.table.row_level.unfolded_files import UNFOLDED_FILES
from icefloe.transforms import BucketTransform

SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.string()), ("n", pa.int64())])
LAYOUTS = {
    "flat": None,
    "partitioned": PartitionSpec(PartitionField(1, 1000, BucketTransform(3), "bucket")),
}


def rows_of(table, **kwargs):
    rows = table.scan(**kwargs).to_arrow().to_pylist()
    found = {row["id"]: row["n"] for row in rows}
    assert len(found) == len(rows)
    return found


def changes(*rows):
    names = ["id", "part", "n", "op"]
    types = [pa.int64(), pa.string(), pa.int64(), pa.string()]
    columns = zip(*rows, strict=True) if rows else ([], [], [], [])
    return pa.table([pa.array(column, kind) for column, kind in zip(columns, types, strict=True)], names=names)


def folds(table):
    return [one for one in table.snapshots() if one.summary is not None and one.summary.get(UNFOLDED_FILES) == "0"]


def file_counts(table):
    summary = table.current_snapshot().summary
    return int(summary["total-data-files"]), int(summary["total-delete-files"])


@pytest.fixture(params=LAYOUTS)
def table(request, catalog):
    properties = {"write.icefloe.fold-min-files": "8", "commit.retry.min-wait-ms": "1"}
    spec = LAYOUTS[request.param]
    arguments = {} if spec is None else {"partition_spec": spec}
    table = catalog.create_table("db.cdc", SCHEMA, properties=properties, **arguments)
    table.append(pa.table({"id": range(40), "part": ["a"] * 40, "n": range(40)}, schema=SCHEMA))
    return table


def random_batch(source, number, expected):
    """Return a batch of changes, which are made in `expected` too."""
    batch = []
    for at in range(source.randrange(1, 12)):
        key, op = source.randrange(50), source.choice("IUD")
        batch.append((key, "a", number * 100 + at, op))
        expected.pop(key, None)
        if op != "D":
            expected[key] = number * 100 + at
    return changes(*batch)


@pytest.mark.parametrize("seed", range(2))
def test_folded_batches_leave_the_rows_of_a_dictionary(catalog, table, seed):
    # With the smaller limit, a file that a fold has written is not folded again.
    limit = {"write.icefloe.fold-max-file-bytes": ("8388608", "1100")[seed]}
    table.update_properties().set_properties(limit).commit_transaction()
    source, expected = random.Random(seed), rows_of(table)
    history = {}
    for number in range(24):
        table.apply_changes(random_batch(source, number, expected), ["id"], "op", batch_id=str(number))
        assert rows_of(table) == expected
        history[table.current_snapshot().snapshot_id] = dict(expected)
        other = catalog.load_table("db.cdc")
        match source.randrange(12):
            case 0:
                key = 1000 + number
                other.append(pa.table({"id": [key], "part": ["b"], "n": [number]}, schema=SCHEMA))
                expected[key] = number
            case 1:
                bound = source.randrange(50)
                other.delete(f"id = {bound}")
                expected.pop(bound, None)
            case 2:
                other.update_properties().set_properties({"write.delete.mode": "merge-on-read"}).commit_transaction()
                bound = source.randrange(50)
                other.refresh().delete(f"id = {bound}")
                expected.pop(bound, None)
            case 3:
                other.maintenance.rewrite_data_files().options(
                    min_input_files=2, remove_dangling_deletes=True
                ).execute()
            case 4:
                other.maintenance.convert_equality_deletes().execute()
            case _:
                continue
        table.refresh()
        assert rows_of(table) == expected
    assert len(folds(table)) > 1
    for snapshot_id, rows in source.sample(sorted(history.items()), 8):
        assert rows_of(table, snapshot_id=snapshot_id) == rows


def test_folds_keep_the_number_of_files_small(table):
    for number in range(24):
        keys = range(number % 7, 40, 7)
        table.apply_changes(changes(*((key, "a", number, "U") for key in keys)), ["id"], "op", batch_id=str(number))
    partitions = len(table.inspect.partitions())
    data, deletes = file_counts(table)
    assert data <= 12 * partitions
    assert deletes <= 12 * partitions
    assert len(folds(table)) >= 24 * 2 // 8 - 3
    for fold in folds(table):
        assert fold.summary.operation.value == "replace"
        assert fold.summary.get(BATCH_ID) is None


def test_batch_is_applied_once_after_a_fold(table):
    batches = [changes((number, "a", 100 + number, "U")) for number in range(12)]
    for number, batch in enumerate(batches):
        assert table.apply_changes(batch, ["id"], "op", batch_id=str(number)).applied
    before = FilesFold(table, "main").execute(), rows_of(table)
    for number, batch in enumerate(batches):
        assert not table.apply_changes(batch, ["id"], "op", batch_id=str(number)).applied
    assert rows_of(table) == before[1]
    assert len([one for one in table.snapshots() if one.summary.get(BATCH_ID) is not None]) == 12


def test_deletes_of_changes_that_apply_to_no_file_are_removed(catalog):
    table = catalog.create_table("db.new", SCHEMA, properties={"write.icefloe.fold-min-files": "8"})
    for number in range(4):
        table.apply_changes(changes((number % 2, "a", number, "I")), ["id"], "op")
    assert folds(table)
    assert file_counts(table) == (1, 0)
    assert rows_of(table) == {0: 2, 1: 3}


@pytest.mark.parametrize(
    "keys",
    [
        pa.array([bytes([number]) * 16 for number in range(9)], pa.binary(16)),
        pa.array([bytes([number]) for number in range(9)], pa.binary()),
        pa.array([f"key {number}" for number in range(9)], pa.string()),
        pa.array([Decimal(number) / 4 for number in range(9)], pa.decimal128(9, 2)),
        pa.array([number * 86_400_000_000 for number in range(9)], pa.timestamp("us", "UTC")),
        pa.array(range(9), pa.date32()),
        pa.array(range(9), pa.time64("us")),
        pa.array(range(9), pa.int32()),
    ],
    ids=lambda keys: str(keys.type),
)
def test_keys_of_every_type_are_folded(catalog, keys):
    rows = pa.table({"id": keys, "n": pa.array([0] * 9, pa.int64())})
    table = catalog.create_table("db.kinds", rows.schema, properties={"write.icefloe.fold-min-files": "8"})
    table.append(rows)
    for number in range(1, 5):
        batch = {"id": keys.slice(number, 2), "n": [number, number], "op": ["U", "D" if number == 4 else "U"]}
        table.apply_changes(pa.table(batch), ["id"], "op")
    assert folds(table)
    found = {row["id"]: row["n"] for row in table.scan().to_arrow().cast(rows.schema).to_pylist()}
    values = dict(enumerate([0, 1, 2, 3, 4, None, 0, 0, 0]))
    assert found == {keys[at].as_py(): value for at, value in values.items() if value is not None}


def test_folds_of_a_branch_leave_main_alone(table):
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "b").commit()
    main = table.current_snapshot().snapshot_id
    for number in range(12):
        table.apply_changes(changes((number, "a", 100 + number, "U")), ["id"], "op", branch="b")
    assert folds(table)
    assert table.current_snapshot().snapshot_id == main
    rows = table.scan().use_ref("b").to_arrow().to_pylist()
    assert {row["id"]: row["n"] for row in rows} == {key: 100 + key if key < 12 else key for key in range(40)}


def test_transactions_and_disabled_folds_leave_small_files(table):
    for number in range(6):
        with table.transaction() as transaction:
            transaction.apply_changes(changes((number, "a", 1, "U")), ["id"], "op")
    table.update_properties().set_properties({"write.icefloe.fold-min-files": "0"}).commit_transaction()
    for number in range(12):
        table.apply_changes(changes((number, "a", 2, "U")), ["id"], "op")
    assert folds(table) == []


def unfolded(table, count=6):
    """Apply batches that are not folded, and return the rows."""
    with_least = {"write.icefloe.fold-min-files": "0"}
    table.update_properties().set_properties(with_least).commit_transaction()
    for number in range(count):
        table.apply_changes(changes((number, "a", 100 + number, "U"), (20, "a", number, "U")), ["id"], "op")
    table.update_properties().set_properties({"write.icefloe.fold-min-files": "8"}).commit_transaction()
    return rows_of(table)


def test_fold_keeps_rows_that_were_added_between_deletes(table):
    """The deletes before and after a large file are not merged: the older ones do not apply to its rows."""
    table.update_properties().set_properties({"write.icefloe.fold-min-files": "0"}).commit_transaction()
    for ids in (range(10_000, 18_000), [*range(8), *range(1000, 9000)]):
        # The older file is one that the older deletes apply to.
        table.append(pa.table({"id": ids, "part": ["a"] * len(ids), "n": [-1] * len(ids)}, schema=SCHEMA))
        for key in range(8) if isinstance(ids, range) else ():
            table.apply_changes(changes((key, "a", None, "D")), ["id"], "op")
    for key in range(20, 28):
        table.apply_changes(changes((key, "a", 0, "U")), ["id"], "op")
    limits = {"write.icefloe.fold-min-files": "8", "write.icefloe.fold-max-file-bytes": "2000"}
    table.update_properties().set_properties(limits).commit_transaction()
    expected, before = rows_of(table), file_counts(table)
    assert [expected[key] for key in (0, 7, 20, 27)] == [-1, -1, 0, 0]
    FilesFold(table, "main").execute()
    assert rows_of(table) == expected
    assert file_counts(table)[1] < before[1]


def test_fold_applies_later_batches_that_are_committed_meanwhile(catalog, table):
    expected = unfolded(table)
    stale = catalog.load_table("db.cdc")
    fold = FilesFold(stale, "main")
    table.apply_changes(changes((20, "a", 7, "U"), (1, "a", None, "D")), ["id"], "op")
    # The head that the fold reads is that of its handle, which is older than the batch.
    fold.execute()
    del expected[1]
    assert rows_of(table.refresh()) == {**expected, 20: 7}


def test_fold_conflicts_with_positions_deleted_meanwhile(catalog, table):
    expected = unfolded(table)
    table.update_properties().set_properties({"write.delete.mode": "merge-on-read"}).commit_transaction()
    fold = FilesFold(catalog.load_table("db.cdc"), "main")
    table.delete("id = 20")
    with pytest.raises(ValidationException):
        fold.execute()
    del expected[20]
    assert rows_of(table.refresh()) == expected


@pytest.mark.parametrize("is_fold_first", [True, False])
def test_fold_and_a_rewrite_of_older_data_keep_the_rows(catalog, is_fold_first):
    """The rewritten file has a data sequence number between those of the delete files that the fold merges."""
    table = catalog.create_table("db.cdc", SCHEMA, properties={"write.icefloe.fold-min-files": "0"})
    table.append(pa.table({"id": range(4000), "part": ["a"] * 4000, "n": range(4000)}, schema=SCHEMA))
    for number in range(3):
        table.apply_changes(changes((1, "a", number, "U")), ["id"], "op")
    rewrite = catalog.load_table("db.cdc").maintenance.rewrite_data_files()
    rewrite.options(delete_file_threshold=3, min_file_size_bytes=1, target_file_size_bytes=1 << 20)
    plan = rewrite.plan()
    assert plan.file_count == 1
    table.apply_changes(changes((2, "a", None, "D")), ["id"], "op")
    table.apply_changes(changes((3, "a", None, "D")), ["id"], "op")
    fold = FilesFold(catalog.load_table("db.cdc"), "main")
    if is_fold_first:
        fold.execute()
        rewrite.execute(plan)
    else:
        rewrite.execute(plan)
        # The rewrite has removed the first delete file, which applied to the old file alone.
        with pytest.raises(ValidationException, match="not part of the table any more"):
            fold.execute()
    table.refresh()
    assert (len(folds(table)), file_counts(table)[0]) == ((1, 2) if is_fold_first else (0, 4))
    assert rows_of(table) == {key: 2 if key == 1 else key for key in range(4000) if key not in (2, 3)}


@pytest.mark.parametrize("error", [CommitFailedException, CommitStateUnknownException])
def test_fold_that_fails_leaves_the_batch_and_is_tried_again(catalog, table, monkeypatch, error):
    real = type(catalog).commit_table

    def failing(self, handle, requirements, updates):
        snapshots = [one.snapshot for one in updates if hasattr(one, "snapshot")]
        if any(one.summary.get(UNFOLDED_FILES) == "0" for one in snapshots):
            raise error("no reply")
        return real(self, handle, requirements, updates)

    monkeypatch.setattr(type(catalog), "commit_table", failing)
    table.update_properties().set_properties({"commit.retry.num-retries": "0"}).commit_transaction()
    for number in range(9):
        assert table.apply_changes(changes((number, "a", 100, "U")), ["id"], "op", batch_id=str(number)).applied
    assert folds(table) == []
    monkeypatch.undo()
    for number in range(9, 18):
        table.apply_changes(changes((number, "a", 100, "U")), ["id"], "op", batch_id=str(number))
    assert folds(table)
    assert rows_of(table) == {key: 100 if key < 18 else key for key in range(40)}


def test_lost_reply_of_a_fold_is_a_fold(catalog, table, monkeypatch):
    real = type(catalog).commit_table

    def losing(self, handle, requirements, updates):
        response = real(self, handle, requirements, updates)
        if any(hasattr(one, "snapshot") and one.snapshot.summary.get(UNFOLDED_FILES) == "0" for one in updates):
            raise CommitStateUnknownException("no reply")
        return response

    monkeypatch.setattr(type(catalog), "commit_table", losing)
    for number in range(20):
        assert table.apply_changes(changes((number, "a", 100, "U")), ["id"], "op", batch_id=str(number)).applied
    table.refresh()
    assert folds(table)
    assert rows_of(table) == {key: 100 if key < 20 else key for key in range(40)}


def test_changelog_of_a_fold_is_empty(table):
    unfolded(table)
    before = table.current_snapshot().snapshot_id
    assert FilesFold(table, "main").execute() == table.current_snapshot().snapshot_id
    scan = table.incremental_changelog_scan(from_snapshot_id_exclusive=before)
    assert scan.to_arrow().num_rows == 0


@pytest.mark.parametrize(
    ("sizes", "chosen"),
    [([5, 5, 5, 5], [0, 1, 2, 3]), ([1000, 5, 5, 5], [1, 2, 3]), ([12, 5, 5, 5], [0, 1, 2, 3]), ([1, 5, 30, 200], [])],
)
def test_size_tiers_double_the_size_of_a_file(sizes, chosen):
    rows = size_tiers(pa.repeat("", len(sizes)), pa.array(sizes, pa.int64()), 2)
    assert sorted(rows.to_pylist()) == chosen
