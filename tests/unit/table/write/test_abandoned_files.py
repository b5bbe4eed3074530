"""Files of failed operations are deleted if the failure is definite, and not if the outcome is unknown."""

import pyarrow as pa
import pytest
from icefloe.exceptions import CommitStateUnknownException, SchemaMismatchError, ValidationError, ValidationException


def files_of(table):
    """The files of a table on storage."""
    return set(table.io.core.list(table.location()).column("location").to_pylist())


@pytest.fixture
def tagged(new_table):
    table = new_table()
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "audited").commit()
    return table


OPERATIONS = {
    "append": lambda table, rows: table.append(rows((9, "x", 1.0)), branch="audited"),
    "overwrite": lambda table, rows: table.overwrite(rows((9, "x", 1.0)), "id = 1", branch="audited"),
    "overwrite partitions": lambda table, rows: table.dynamic_partition_overwrite(
        rows((9, "x", 1.0)), branch="audited"
    ),
    "delete": lambda table, rows: table.delete("id = 1", branch="audited"),
    "upsert": lambda table, rows: table.upsert(rows((1, "x", 1.0)), branch="audited"),
    "merge": lambda table, rows: (
        table.merge(rows((1, "x", 1.0)), ["id"], branch="audited").when_matched_update().execute()
    ),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("explicit", [False, True])
def test_write_to_a_tag_is_refused_before_files_are_written(tagged, rows, operation, explicit, monkeypatch):
    before = files_of(tagged)
    monkeypatch.setattr("icefloe._core.write_data_files", None)
    monkeypatch.setattr("icefloe._core.write_position_deletes", None)
    with pytest.raises(ValidationError, match="cannot commit to 'audited': expected a branch, got a tag"):
        OPERATIONS[operation](tagged.transaction() if explicit else tagged, rows)
    assert files_of(tagged) == before


@pytest.mark.parametrize("operation", ["delete", "merge"])
def test_delete_files_are_refused_by_format_version_1_before_files_are_written(new_table, rows, operation, mode):
    table = new_table(
        properties={"format-version": "1", "write.delete.mode": "merge-on-read", "write.merge.mode": "merge-on-read"}
    )
    before = files_of(table)
    act = {"delete": lambda: table.delete("id = 1"), "merge": lambda: table.upsert(rows((1, "x", 1.0)))}[operation]
    with pytest.raises(ValidationError, match="format version 2"):
        act()
    assert files_of(table) == before


def overwrite_since_nowhere(transaction, rows):
    """Overwrite after a snapshot that the table never had, which fails when the change is staged."""
    with transaction.target() as target:
        files = target.writer.data_files(rows)
        transaction.new_overwrite().append(files).validate_from_snapshot(1).commit()


def test_failed_operation_of_a_transaction_leaves_no_files_when_the_others_commit(catalog, new_table, rows):
    table = new_table()
    with table.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)))
        before = files_of(table)
        with pytest.raises(SchemaMismatchError):
            transaction.append(rows((None, "x", 1.0)))
        with pytest.raises(ValidationException):
            overwrite_since_nowhere(transaction, rows((8, "x", 1.0)))
        assert files_of(table) == before
    assert catalog.load_table("db.t").scan().count() == 7


def test_append_with_a_null_in_a_required_column_leaves_no_files(new_table):
    table = new_table()
    before = files_of(table)
    batches = [pa.record_batch({"id": pa.array([value], pa.int64())}) for value in (1, 2, None)]
    with pytest.raises(SchemaMismatchError):
        table.append(pa.Table.from_batches(batches))
    assert files_of(table) == before


def test_conflict_of_a_later_operation_deletes_the_files_of_all(catalog, new_table, rows, mode):
    table = new_table(properties=mode)
    other = catalog.load_table("db.t")
    transaction = table.transaction()
    transaction.append(rows((7, "x", 1.0)))
    transaction.upsert(rows((1, "x", 1.0), (8, "x", 1.0)))
    other.append(rows((8, "y", 1.0)))
    before = {path for path in files_of(table) if path.endswith("metadata.json")}
    live = set(other.inspect.files().column("file_path").to_pylist())
    with pytest.raises(ValidationException):
        transaction.commit_transaction()
    left = {path for path in files_of(table) if path.endswith(".parquet")}
    assert left == live
    assert {path for path in files_of(table) if path.endswith("metadata.json")} == before


@pytest.mark.parametrize("explicit", [False, True])
def test_unknown_outcome_deletes_no_file(catalog, new_table, rows, explicit, monkeypatch):
    table = new_table()

    def lose_reply(*arguments):
        raise CommitStateUnknownException("connection reset")

    before = files_of(table)
    monkeypatch.setattr(catalog, "commit_table", lose_reply)
    transaction = table.transaction() if explicit else None
    if explicit:
        transaction.append(rows((7, "x", 1.0)))
    with pytest.raises(CommitStateUnknownException):
        transaction.commit_transaction() if explicit else table.append(rows((7, "x", 1.0)))
    new = files_of(table) - before
    assert sum(path.endswith(".parquet") for path in new) == 1
    assert sum(path.endswith(".avro") for path in new) >= 2
