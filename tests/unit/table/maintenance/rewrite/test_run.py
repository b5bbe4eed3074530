"""Executing a rewrite beside concurrent commits, failures and interrupts."""

import pytest
from icefloe.exceptions import StorageError, ValidationException
from icefloe.table.maintenance.rewrite.run import RewriteRun
from icefloe.table.write.equality_deletes import write_equality_deletes

from tests.unit.table.conftest import BY_KIND
from tests.unit.table.maintenance.rewrite.conftest import MERGE_ON_READ, files, ids


def test_append_meanwhile_stays(small_files, rows):
    table = small_files()
    plan = table.maintenance.rewrite_data_files().plan()
    table.catalog.load_table("db.small").append(rows((100, "a", None)))
    table.maintenance.execute(plan)
    assert sorted(ids(table)) == [*range(30), 100]


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_group_that_lost_rows_meanwhile_is_planned_again(small_files, mode):
    table = small_files(BY_KIND, {"write.delete.mode": mode})
    plan = table.maintenance.rewrite_data_files().plan()
    table.catalog.load_table("db.small").delete("id in (0, 3)")
    result = table.maintenance.execute(plan)
    assert sorted(ids(table)) == [1, 2, *range(4, 30)]
    assert len(result.snapshot_ids) == 2
    assert result.failures == ()
    assert files(table) == 3


def test_rows_deleted_by_position_after_the_plan_stay_deleted(small_files):
    """Conflicts are searched for from the snapshot that was planned, and not from the newest one when the commit begins."""
    table = small_files(properties=MERGE_ON_READ)
    plan = table.maintenance.rewrite_data_files().plan()
    other = table.catalog.load_table("db.small")
    other.delete("id in (1, 4)")
    assert other.inspect.delete_files().num_rows == 2
    result = table.maintenance.execute(plan)
    assert (len(result.snapshot_ids), result.removed_delete_files_count) == (1, 2)
    assert sorted(ids(table)) == [0, 2, 3, *range(5, 30)]


def test_group_whose_new_partition_gets_deletes_by_key_meanwhile_is_planned_again(small_files, rows, monkeypatch):
    """The delete file applies to no row when it is committed; new files with an older sequence number would lose their rows."""
    table = small_files(BY_KIND)
    with table.update_spec() as update:
        update.add_field("id", "bucket[1]")
    other = table.catalog.load_table("db.small")
    write = RewriteRun._write

    def interfering(self, group, workers):
        write(self, group, workers)
        monkeypatch.undo()
        (deletes,) = write_equality_deletes(other.io, other.metadata, rows((0, "a", None)), [1])
        other.new_row_delta().add_deletes(deletes).commit()

    monkeypatch.setattr(RewriteRun, "_write", interfering)
    result = table.maintenance.rewrite_data_files().execute()
    table.refresh()
    assert sorted(ids(table)) == list(range(30))
    assert (len(result.snapshot_ids), result.failures) == (2, ())
    assert files(table) == 3


def test_overwrite_meanwhile_leaves_no_group(small_files, rows):
    table = small_files()
    plan = table.maintenance.rewrite_data_files().plan()
    table.catalog.load_table("db.small").overwrite(rows((7, "x", None)))
    result = table.maintenance.execute(plan)
    assert ids(table) == [7]
    assert result.snapshot_ids == ()
    assert (
        str(result) == "rewrite_data_files: nothing was rewritten; concurrent commits removed 10 data files of the plan"
    )


def test_group_that_loses_again_and_again_is_an_error(small_files, monkeypatch):
    table = small_files(properties=MERGE_ON_READ)
    other = table.catalog.load_table("db.small")
    victims = iter(range(30))
    write = RewriteRun._write

    def interfering(self, group, workers):
        write(self, group, workers)
        other.delete(f"id = {next(victims)}")

    monkeypatch.setattr(RewriteRun, "_write", interfering)
    with pytest.raises(ValidationException, match="concurrent commits changed its files again and again"):
        table.maintenance.rewrite_data_files().execute()
    table.refresh()
    monkeypatch.undo()
    assert sorted(ids(table)) == list(range(4, 30))


def test_interrupt_deletes_new_files_and_reports(small_files, monkeypatch, content):
    table = small_files(BY_KIND)
    before, stored = content(table), stored_data(table)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(RewriteRun, "_passed", interrupted)
    with pytest.raises(KeyboardInterrupt, match="interrupted; rewrite_data_files: nothing was rewritten"):
        table.maintenance.rewrite_data_files().execute()
    assert content(table) == before
    assert stored_data(table) == stored


def stored_data(table):
    listed = table.io.core.list(f"{table.location()}/data").column(0)
    return sorted(listed.to_pylist())


def test_failed_group_leaves_no_file(small_files, monkeypatch, content):
    table = small_files(BY_KIND)
    before, stored = content(table), stored_data(table)
    write, begun = RewriteRun._write, []

    def failing(self, group, workers):
        begun.append(group)
        write(self, group, workers)
        if len(begun) == 3:
            raise StorageError("no space left on device")

    monkeypatch.setattr(RewriteRun, "_write", failing)
    with pytest.raises(StorageError, match="no space left"):
        table.maintenance.rewrite_data_files().execute()
    assert content(table) == before
    assert stored_data(table) == stored


def test_failed_group_is_counted_with_partial_progress(small_files, monkeypatch, content):
    table = small_files(BY_KIND)
    before = content(table)
    write = RewriteRun._write

    def failing(self, group, workers):
        if group.number == 1:
            raise StorageError("no space left on device")
        write(self, group, workers)

    monkeypatch.setattr(RewriteRun, "_write", failing)
    result = table.maintenance.rewrite_data_files().options(partial_progress_enabled=True).execute()
    assert (result.rewritten_data_files_count, result.failed_data_files_count) == (20, 10)
    assert len(result.failures) == 1
    assert "no space left on device" in str(result)
    assert content(table) == before
