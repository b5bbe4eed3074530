"""Changes of data files by their paths, which are checked against concurrent changes of these files by default."""

import pyarrow as pa
import pytest
from icefloe.exceptions import CommitFailedException, ValidationError, ValidationException


@pytest.fixture
def handles(catalog, new_table):
    new_table(properties={"write.delete.mode": "merge-on-read"})
    return catalog.load_table("db.t"), catalog.load_table("db.t")


def ids(table):
    return sorted(table.scan().to_arrow().column("id").to_pylist())


def written(table, rows):
    """New data files of a table that are not committed."""
    return table.transaction().target().writer.data_files(rows)


def test_rewrite_of_a_file_loses_to_a_delete_of_its_rows(catalog, handles, rows):
    first, second = handles
    path = second.scan("id = 1").plan_whole_files().files.column("file_path")[0].as_py()
    copy = written(second, second.scan("id <= 3").to_arrow())
    first.delete("id = 1 or id = 4")
    with pytest.raises(ValidationException, match="deleted rows of files that this operation replaces"):
        second.new_overwrite().delete([path]).append(copy).commit()
    assert ids(catalog.load_table("db.t")) == [2, 3, 5, 6]


def test_removal_of_a_file_tolerates_a_delete_of_its_rows(catalog, handles):
    first, second = handles
    path = second.scan("id = 1").plan_whole_files().files.column("file_path")[0].as_py()
    first.delete("id = 1")
    second.new_delete().delete([path]).commit()
    assert ids(catalog.load_table("db.t")) == [4, 5, 6]


def test_position_deletes_of_a_file_lose_to_its_rewriting(catalog, handles, rows):
    first, second = handles
    plan = second.scan("id = 1").plan_whole_files()
    with second.transaction().target() as target:
        positions = {"file_path": plan.files.column("file_path").slice(0, 1), "pos": [0]}
        deletes = target.writer.position_deletes(
            pa.table(positions), plan.files.select(["file_path", "spec_id", "partition"])
        )
    first.overwrite(rows((1, "new", 1.0)), "id <= 3")
    with pytest.raises(ValidationException, match="removed data that this operation changes"):
        second.new_row_delta().add_deletes(deletes).commit()
    assert ids(catalog.load_table("db.t")) == [1, 4, 5, 6]


def test_second_commit_of_a_change_is_refused_and_deletes_no_manifest(catalog, new_table, rows):
    table = new_table()
    change = table.new_append().append(written(table, rows((7, "new", 1.0))))
    change.commit()
    with pytest.raises(ValidationError, match=r"expected one call of commit\(\), got a second one; begin a new change"):
        change.commit()
    assert ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6, 7]


def test_change_whose_manifests_were_deleted_after_a_failure_is_not_committed(catalog, handles, rows):
    first, second = handles
    path = second.scan("id = 1").plan_whole_files().files.column("file_path")[0].as_py()
    change = second.new_overwrite().delete([path]).append(written(second, rows((7, "new", 1.0))))
    first.delete("id <= 3")
    with pytest.raises(ValidationException):
        change.commit()
    with pytest.raises(ValidationError, match="got a second one"):
        change.commit()
    assert ids(catalog.load_table("db.t")) == [4, 5, 6]


# ---- commits that took effect although the catalog reported a conflict


@pytest.mark.parametrize("retries", ["4", "0"])
def test_commit_that_took_effect_is_neither_repeated_nor_cleaned_up(catalog, new_table, rows, retries, monkeypatch):
    table = new_table(properties={"commit.retry.num-retries": retries, "commit.retry.min-wait-ms": "0"})
    commit = catalog.commit_table

    def send_twice(*arguments):
        commit(*arguments)
        raise CommitFailedException("the second of two equal requests met the effect of the first")

    monkeypatch.setattr(catalog, "commit_table", send_twice)
    with table.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)))
        transaction.upsert(rows((8, "x", 1.0)))
    monkeypatch.undo()
    assert ids(table) == ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert len(table.snapshots()) == 4


def test_commit_whose_first_attempt_took_effect_late_keeps_the_files_of_that_attempt(
    catalog, new_table, rows, monkeypatch
):
    table = new_table(properties={"commit.retry.num-retries": "4", "commit.retry.min-wait-ms": "0"})
    commit, attempts = catalog.commit_table, []

    def deliver_late(*arguments):
        attempts.append(arguments)
        if len(attempts) == 2:
            commit(*attempts[0])
        raise CommitFailedException("the request waits at a gateway")

    monkeypatch.setattr(catalog, "commit_table", deliver_late)
    table.append(rows((7, "x", 1.0)))
    monkeypatch.undo()
    assert len(attempts) == 2
    assert ids(table) == ids(catalog.load_table("db.t")) == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "key", ["deleted-records", "total-records", "changed-partition-count", "total-position-deletes"]
)
def test_count_of_the_summary_is_not_taken_from_the_caller(new_table, rows, key):
    table = new_table()
    before = table.current_snapshot()
    with pytest.raises(ValidationError, match=f"snapshot_properties: the commit sets the key '{key}' of the summary"):
        table.append(rows((7, "x", 1.0)), snapshot_properties={key: "1000"})
    assert table.current_snapshot() == before
