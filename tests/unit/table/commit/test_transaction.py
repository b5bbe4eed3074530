import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.catalog import load_catalog
from icefloe.exceptions import CommitFailedException, SchemaMismatchError, ValidationError
from icefloe.table import Table
from icefloe.types import StringType


def test_changes_become_visible_together(catalog, new_table, rows):
    table = new_table()
    with table.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)))
        transaction.delete("id = 1")
        transaction.set_properties(owner="me")
        assert catalog.load_table("db.t").scan().count() == 6
    fresh = catalog.load_table("db.t")
    assert fresh.scan().count() == 6
    assert fresh.scan("id = 7").count() == 1
    assert fresh.properties["owner"] == "me"
    assert len(fresh.snapshots()) == 4
    assert fresh.history()[-1].snapshot_id == fresh.snapshots()[-1].snapshot_id
    assert len(fresh.history()) == 3


def test_later_changes_see_earlier_ones(catalog, new_table):
    table = new_table()
    with table.transaction() as transaction:
        transaction.update_schema().add_column("note", StringType()).commit()
        transaction.append(pa.table({"id": [7], "kind": ["x"], "value": [1.0], "note": ["hello"]}))
    assert catalog.load_table("db.t").scan("note = 'hello'").count() == 1


def test_block_that_raises_commits_nothing_and_leaves_no_files(catalog, new_table, rows):
    table = new_table()
    before = set(table.io.core.list(table.location()).column("location").to_pylist())

    def raise_inside():
        with table.transaction() as transaction:
            transaction.append(rows((7, "x", 1.0)))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        raise_inside()
    assert len(catalog.load_table("db.t").snapshots()) == 2
    assert set(table.io.core.list(table.location()).column("location").to_pylist()) == before


def test_failed_change_leaves_earlier_changes_in_the_transaction(catalog, new_table, rows):
    table = new_table()
    with table.transaction() as transaction:
        with pytest.raises(SchemaMismatchError):
            transaction.append(pa.table({"id": ["x"]}))
        transaction.append(rows((7, "x", 1.0)))
    assert catalog.load_table("db.t").scan().count() == 7


def test_interrupted_change_leaves_the_transaction_as_it_was(catalog, new_table, rows, monkeypatch):
    table = new_table()

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with table.transaction() as transaction:
        with monkeypatch.context() as patch:
            patch.setattr(_core, "write_manifest_list", interrupt)
            with pytest.raises(KeyboardInterrupt):
                transaction.append(rows((7, "x", 1.0)))
        assert transaction.pending == 0
        # A retry applies every pending change again.
        catalog.load_table("db.t").append(rows((9, "x", 1.0)))
        transaction.append(rows((8, "x", 1.0)))
    found = catalog.load_table("db.t").scan("kind = 'x'").to_arrow()
    assert sorted(found.column("id").to_pylist()) == [8, 9]


def test_transaction_is_retried_on_the_newest_version(catalog, new_table, rows):
    table, other = new_table(), catalog.load_table("db.t")
    with table.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)))
        transaction.append(rows((8, "x", 1.0)))
        other.append(rows((9, "x", 1.0)))
    fresh = catalog.load_table("db.t")
    assert fresh.scan().count() == 9
    assert [snapshot.sequence_number for snapshot in fresh.snapshots()] == [1, 2, 3, 4, 5]
    present = [path for path in table.io.core.list(table.location()).column("location").to_pylist() if "/snap-" in path]
    assert sorted(present) == sorted(snapshot.manifest_list for snapshot in fresh.snapshots())


def test_many_appends_merge_into_few_manifests(catalog, rows):
    table = catalog.create_table(
        "db.many",
        pa.schema([("id", pa.int64()), ("kind", pa.string()), ("value", pa.float64())]),
        properties={"commit.manifest.min-count-to-merge": "5"},
    )
    for number in range(23):
        table.append(rows((number, "x", 1.0)))
    assert table.inspect.manifests().num_rows <= 5
    assert table.scan().count() == 23


def test_version_1_table_takes_appends_and_refuses_delete_files(catalog, rows):
    table = catalog.create_table(
        "db.v1",
        pa.schema([("id", pa.int64()), ("kind", pa.string()), ("value", pa.float64())]),
        properties={"format-version": "1", "write.delete.mode": "merge-on-read"},
    )
    table.append(rows((1, "a", 1.0), (2, "b", 1.0)))
    table.append(rows((3, "a", 1.0)))
    assert table.scan().count() == 3
    with pytest.raises(ValidationError, match="format version 2"):
        table.delete("id = 1")
    table.transaction().upgrade_table_version(2).commit_transaction()
    table.delete("id = 1")
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == [2, 3]


def without_uuid(new_table):
    """Register a copy of a new table of format version 1, without a UUID, as `db.old`."""
    made = new_table(properties={"format-version": "1"})
    written = json.loads(made.metadata.model_dump_json())
    del written["table-uuid"]
    path = Path(made.location().removeprefix("file:")) / "metadata" / "old.metadata.json"
    path.write_text(json.dumps(written))
    return made.catalog.register_table("db.old", str(path))


def test_upgrade_assigns_the_uuid_that_old_writers_of_version_1_omit(catalog, new_table, rows):
    """Format version 2 requires it: neither this library nor the Java reference reads the table without."""
    table, other = without_uuid(new_table), catalog.load_table("db.old")
    table.append(rows((7, "a", 1.0)))
    assert table.metadata.table_uuid is None
    with table.transaction() as transaction:
        transaction.upgrade_table_version(2)
        transaction.append(rows((9, "a", 1.0)))
    read = catalog.load_table("db.old")
    assert read.metadata.table_uuid is not None
    assert read.metadata.table_uuid == table.metadata.table_uuid == other.refresh().metadata.table_uuid
    other.append(rows((8, "a", 1.0)))
    assert read.refresh().scan().count() == 9


def test_replacement_in_version_2_assigns_the_uuid_of_a_table_without(catalog, new_table, rows):
    schema = without_uuid(new_table).schema()
    with catalog.replace_table_transaction("db.old", schema, properties={"format-version": "2"}) as transaction:
        transaction.append(rows((8, "a", 1.0)))
    assert catalog.load_table("db.old").scan().count() == 1


def test_snapshot_properties_are_in_the_summary(new_table, rows):
    table = new_table()
    table.append(rows((7, "x", 1.0)), snapshot_properties={"job": "42"})
    assert table.current_snapshot().summary["job"] == "42"


def test_partition_summaries_are_written_below_the_limit(catalog, rows):
    from icefloe.partitioning import PartitionField, PartitionSpec
    from icefloe.schema import Schema
    from icefloe.transforms import IdentityTransform
    from icefloe.types import LongType, NestedField

    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "kind", StringType()))
    table = catalog.create_table(
        "db.p",
        schema,
        partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind")),
        properties={"write.summary.partition-limit": "10"},
    )
    table.append(pa.table({"id": [1, 2, 3], "kind": ["a", "a", "b"]}))
    summary = table.current_snapshot().summary
    assert summary["partition-summaries-included"] == "true"
    assert summary["partitions.kind=a"].startswith("added-data-files=1,added-records=2,")
    assert summary["changed-partition-count"] == "2"


def test_append_commits_although_another_thread_moves_its_handle_while_it_is_retried(catalog, new_table, rows):
    table = new_table(properties={"commit.retry.min-wait-ms": "1"})
    clock, waiting = catalog.environment.now_ms, []

    def append_meanwhile():
        if waiting:
            table.append(waiting.pop())
        return clock()

    catalog.environment = replace(catalog.environment, now_ms=append_meanwhile)
    transaction = table.transaction()
    transaction.append(rows((7, "x", 1.0)))
    catalog.load_table("db.t").append(rows((8, "x", 1.0)))
    waiting.append(rows((9, "x", 1.0)))
    transaction.commit_transaction()
    assert catalog.load_table("db.t").scan("id > 6").count() == 3


def test_handle_that_two_threads_move_loses_no_commit(catalog, new_table, rows):
    table = new_table()
    transaction = table.transaction()
    transaction.append(rows((7, "x", 1.0)))
    older = {name: value for name, value in vars(table).items() if name.startswith(("metadata", "_version"))}

    class Overtaken(Table):
        """A handle that a slower thread moves back at the first chance."""

        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if name in older:
                self.__dict__.update(older)
                self.__class__ = Table

    table.__class__ = Overtaken
    table.append(rows((8, "x", 1.0)))
    transaction.commit_transaction()
    assert catalog.load_table("db.t").scan("id > 6").count() == 2


CHANGES_OF_ONE_PART = {
    "schema": (
        lambda it: it.update_schema().add_column("note", StringType()),
        lambda it: it.update_schema().rename_column("kind", "sort"),
    ),
    "spec": (
        lambda it: it.update_spec().add_field("id", "bucket[4]"),
        lambda it: it.update_spec().add_field("kind", "truncate[2]"),
    ),
    "sort order": (lambda it: it.update_sort_order().asc("id"), lambda it: it.update_sort_order().desc("kind")),
    "branch": (
        lambda it: it.new_append().set_summary("by", "me"),
        lambda it: it.manage_snapshots().replace_branch("main", it.table_metadata.current_snapshot_id),
    ),
}


@pytest.mark.parametrize("part", CHANGES_OF_ONE_PART)
def test_builder_does_not_undo_a_later_change_of_its_transaction(catalog, new_table, part):
    first, second = CHANGES_OF_ONE_PART[part]
    transaction = new_table().transaction()
    stale = second(transaction)
    first(transaction).commit()
    after = transaction.table_metadata
    with pytest.raises(CommitFailedException, match=r"\(\): the transaction has changed the same part of the table"):
        stale.commit()
    assert transaction.table_metadata is after
    second(transaction).commit()
    transaction.commit_transaction()


def test_builder_commits_again_after_its_own_commit(new_table):
    table = new_table()
    schema, spec, order = table.update_schema(), table.update_spec(), table.update_sort_order()
    for name in ("note", "other"):
        schema.add_column(name, StringType()).commit()
    for transform in ("bucket[4]", "truncate[2]"):
        spec.add_field("id", transform).commit()
    for column in ("id", "kind"):
        order.asc(column).commit()
    assert table.schema().column_names[-2:] == ["note", "other"]
    assert (len(table.spec().fields), len(table.sort_order().fields)) == (2, 2)


def test_snapshot_of_the_same_transaction_is_picked_onto_a_moved_branch(catalog, new_table, rows):
    table = new_table()
    with table.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)), branch="audit")
        transaction.append(rows((8, "x", 1.0)))
        staged = transaction.table_metadata.refs["audit"].snapshot_id
        transaction.manage_snapshots().cherry_pick(staged).commit()
        transaction.manage_snapshots().remove_branch("audit").commit()
    assert catalog.load_table("db.t").scan("id > 6").count() == 2


def test_relative_location_is_stored_as_an_absolute_one(monkeypatch, tmp_path, rows):
    monkeypatch.chdir(tmp_path)
    catalog = load_catalog("local", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", rows((1, "a", 1.0)).schema)
    table.transaction().update_location("x/moved/").commit_transaction()
    table.append(rows((1, "a", 1.0)))
    monkeypatch.chdir("/")
    again = load_catalog("local", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db").load_table("db.t")
    assert again.location() == catalog.absolute("x/moved") == f"{tmp_path}/x/moved"
    assert again.metadata_location.startswith(f"{tmp_path}/x/moved/metadata/")
    assert again.scan().count() == 1
