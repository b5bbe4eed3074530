"""Position deletes are committed only while their data files are part of the table."""

import pyarrow as pa
import pytest
from icefloe.exceptions import ResolveError, ValidationException
from icefloe.table.commit.manifest_writer import manifests_of
from icefloe.table.row_level.target import Target
from icefloe.table.write.rows import matching

from tests.unit.table.conftest import BY_KIND

MERGE_ON_READ = {"write.delete.mode": "merge-on-read"}
BY_PARTITION = {**MERGE_ON_READ, "write.delete.granularity": "partition"}
NOT_PART = r"cannot delete rows of .*: the data file is not part of the table, or not any more; reload the table"


def ids_of(table):
    return sorted(table.scan().to_arrow().column("id").to_pylist())


def written(table, row_filter):
    """Return the position deletes of the rows of a filter, and the paths of their data files."""
    target: Target = table.transaction().target()
    plan = target.plan(target.filter(row_filter))
    deletes = target.position_deletes(plan, matching(plan))
    return deletes.added, deletes.referenced


def without_names(deletes):
    """Return delete files without `referenced_data_file`."""
    place = deletes.schema.get_field_index("referenced_data_file")
    return deletes.set_column(place, deletes.schema.field(place), pa.nulls(deletes.num_rows, pa.string()))


def named(delta, deletes, referenced):
    return delta.add_deletes(deletes)


def bounded(delta, deletes, referenced):
    return delta.add_deletes(without_names(deletes))


def listed(delta, deletes, referenced):
    return delta.add_deletes(deletes).validate_data_files_exist(referenced)


def listed_strictly(delta, deletes, referenced):
    return listed(delta, deletes, referenced).validate_deleted_files()


@pytest.mark.parametrize(
    ("refer", "properties"),
    [
        (named, MERGE_ON_READ),
        (bounded, MERGE_ON_READ),
        (listed, BY_PARTITION),
        (listed_strictly, BY_PARTITION),
    ],
)
@pytest.mark.parametrize("starts", [False, True])
def test_deletes_of_a_file_that_an_older_commit_replaced_are_refused(catalog, new_table, refer, properties, starts):
    table = new_table(properties=properties)
    deletes, referenced = written(table, "id = 1 or id = 4")
    table.maintenance.rewrite_data_files().options(rewrite_all=True).execute()
    fresh = catalog.load_table("db.t")
    delta = fresh.new_row_delta()
    if starts:
        delta.validate_from_snapshot(fresh.current_snapshot().snapshot_id)
    with pytest.raises(ValidationException, match=NOT_PART):
        refer(delta, deletes, referenced).commit()
    assert ids_of(fresh) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("refer", [named, bounded, listed, listed_strictly])
@pytest.mark.parametrize("properties", [MERGE_ON_READ, BY_PARTITION])
def test_deletes_of_live_files_are_committed(catalog, new_table, refer, properties):
    new_table(BY_KIND, properties)
    table = catalog.load_table("db.t")
    refer(table.new_row_delta(), *written(table, "id = 1 or id = 5")).commit()
    assert ids_of(table) == [2, 3, 4, 6]


def test_a_path_that_the_table_never_had_is_refused(new_table):
    table = new_table(properties=MERGE_ON_READ)
    deletes, referenced = written(table, "id = 1")
    paths = [*referenced.to_pylist(), "/nowhere.parquet", "/elsewhere.parquet"]
    with pytest.raises(ValidationException, match=r"cannot delete rows of /nowhere.parquet and 1 more"):
        table.new_row_delta().add_deletes(deletes).validate_data_files_exist(paths).commit()


def test_deletes_of_an_empty_table_are_refused(catalog, new_table):
    deletes, _ = written(new_table(properties=MERGE_ON_READ), "id = 1")
    catalog.drop_table("db.t")
    empty = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    with pytest.raises(ValidationException, match=NOT_PART):
        empty.new_row_delta().add_deletes(deletes).commit()


def test_deletes_of_a_file_of_another_branch_are_refused(new_table, rows):
    table = new_table(properties=MERGE_ON_READ)
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "old").commit()
    table.append(rows((7, "a", 0.0)))
    deletes, _ = written(table, "id = 7")
    with pytest.raises(ValidationException, match=NOT_PART):
        table.new_row_delta(branch="old").add_deletes(deletes).commit()
    table.new_row_delta().add_deletes(deletes).commit()
    assert ids_of(table) == [1, 2, 3, 4, 5, 6]


def test_data_files_of_the_same_change_may_lose_rows(new_table, rows):
    table = new_table(properties=MERGE_ON_READ)
    writer = table.transaction().target().writer
    added = writer.data_files(rows((7, "a", 0.0), (8, "b", 0.0)))
    positions = pa.table({"file_path": added.column("file_path"), "pos": pa.array([0], pa.int64())})
    deletes = writer.position_deletes(positions, added.select(["file_path", "spec_id", "partition"]))
    table.new_row_delta().add_rows(added).add_deletes(deletes).commit()
    assert ids_of(table) == [1, 2, 3, 4, 5, 6, 8]


def test_data_files_of_earlier_changes_of_the_transaction_may_lose_rows(catalog, new_table, rows):
    table = new_table(properties=MERGE_ON_READ)
    other = catalog.load_table("db.t")
    with table.transaction() as transaction:
        transaction.append(rows((7, "a", 0.0), (8, "b", 0.0)))
        target = transaction.target()
        plan = target.plan(target.filter("id = 7"))
        deletes = target.position_deletes(plan, matching(plan))
        transaction.new_row_delta().add_deletes(deletes.added).commit()
        other.append(rows((9, "a", 0.0)))
    assert ids_of(table) == [1, 2, 3, 4, 5, 6, 8, 9]


def test_data_files_that_the_transaction_replaced_may_not_lose_rows(new_table):
    table = new_table(properties=MERGE_ON_READ)
    deletes, _ = written(table, "id = 1")
    copy = table.transaction().target().writer.data_files(table.scan("id <= 3").to_arrow())
    transaction = table.transaction()
    transaction.new_overwrite().delete([deletes.column("referenced_data_file")[0].as_py()]).append(copy).commit()
    with pytest.raises(ValidationException, match=NOT_PART):
        transaction.new_row_delta().add_deletes(deletes).commit()
    assert ids_of(table) == [1, 2, 3, 4, 5, 6]


def test_deletes_in_another_partition_than_their_data_file_are_committed(new_table):
    table = new_table(BY_KIND, MERGE_ON_READ)
    deletes, _ = written(table, "id = 1")
    place = deletes.schema.get_field_index("partition")
    moved = deletes.set_column(place, deletes.schema.field(place), pa.array(['["b"]']))
    table.new_row_delta().add_deletes(moved).commit()
    assert ids_of(table) == [2, 3, 4, 5, 6]


def test_manifests_of_other_partitions_are_not_read(new_table, rows):
    table = new_table(BY_KIND, MERGE_ON_READ)
    table.append(rows((7, "z", 0.0)))
    deletes, _ = written(table, "id = 7")
    manifests = manifests_of(table.io, table.current_snapshot())
    for path, number in zip(
        *(manifests.column(name).to_pylist() for name in ("manifest_path", "sequence_number")), strict=True
    ):
        if number < 3:
            table.io.core.delete_many([path])
    table.new_row_delta().add_deletes(deletes).commit()
    assert table.current_snapshot().summary["added-position-deletes"] == "1"


@pytest.mark.parametrize("strict", [False, True])
def test_a_file_that_a_delete_removed_after_the_start_counts_if_deletions_are_validated(catalog, new_table, strict):
    table = new_table(properties=MERGE_ON_READ)
    read = table.current_snapshot().snapshot_id
    deletes, _ = written(table, "id = 1")
    table.delete("id <= 3")
    fresh = catalog.load_table("db.t")
    delta = fresh.new_row_delta().add_deletes(deletes).validate_from_snapshot(read)
    if strict:
        with pytest.raises(ValidationException, match="removed data that this operation changes"):
            delta.validate_deleted_files().commit()
    else:
        delta.commit()
    assert ids_of(fresh) == [4, 5, 6]


def test_a_conflict_filter_of_an_unknown_column_is_refused(new_table):
    table = new_table(properties=MERGE_ON_READ)
    deletes, _ = written(table, "id = 1")
    with pytest.raises(ResolveError, match="zz"):
        table.new_row_delta().add_deletes(deletes).conflict_detection_filter("zz = 1").commit()
    assert ids_of(table) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("first", ["filter", "case"])
def test_a_conflict_filter_matches_names_in_the_case_that_was_set(catalog, new_table, rows, first):
    new_table(properties=MERGE_ON_READ)
    table, other = catalog.load_table("db.t"), catalog.load_table("db.t")

    def delta():
        made = table.new_row_delta().add_deletes(written(table, "id = 1")[0]).validate_no_conflicting_data_files()
        if first == "filter":
            return made.conflict_detection_filter("ID = 7").case_sensitive(False)
        return made.case_sensitive(False).conflict_detection_filter("ID = 7")

    with pytest.raises(ResolveError, match="ID"):
        delta().case_sensitive(True).commit()
    conflicting = delta()
    other.append(rows((7, "a", 0.0)))
    with pytest.raises(ValidationException, match="added data that this operation did not read"):
        conflicting.commit()
    delta().commit()
    assert ids_of(table) == [2, 3, 4, 5, 6, 7]
