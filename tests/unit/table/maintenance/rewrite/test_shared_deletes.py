"""Rewrites of data files whose delete files apply to other data files as well."""

import pytest
from icefloe.table.maintenance.branch_plan import whole_files
from icefloe.table.maintenance.rewrite import delete_uses, run

from tests.unit.table.conftest import BY_KIND
from tests.unit.table.maintenance.rewrite.conftest import MERGE_ON_READ, ids
from tests.unit.table.maintenance.rewrite.test_rewrite_data_files import row_delta_of_keys

BY_PARTITION = {**MERGE_ON_READ, "write.delete.granularity": "partition"}
ONE_FILE_EACH = {"rewrite_all": True}
A_GROUP_EACH = {"max_file_group_size_bytes": 1}


def test_equality_deletes_that_another_data_file_needs_stay(small_files, rows):
    table = small_files()
    row_delta_of_keys(table, rows, [1, 28])
    rewrite = table.maintenance.rewrite_data_files()
    result = rewrite.filter("id < 3").options(**ONE_FILE_EACH).execute()
    assert (result.rewritten_data_files_count, result.removed_delete_files_count) == (1, 0)
    assert sorted(ids(table)) == [0, *range(2, 28), 29]
    result = table.maintenance.rewrite_data_files().options(**ONE_FILE_EACH).execute()
    assert result.removed_delete_files_count == 1
    assert sorted(ids(table)) == [0, *range(2, 28), 29]


def test_position_deletes_that_another_data_file_needs_stay(small_files):
    table = small_files(properties=BY_PARTITION)
    table.delete("id in (1, 28)")
    result = table.maintenance.rewrite_data_files().filter("id < 3").options(**ONE_FILE_EACH).execute()
    assert (result.rewritten_data_files_count, result.removed_delete_files_count) == (1, 0)
    assert sorted(ids(table)) == [0, *range(2, 28), 29]


def test_share_of_deleted_rows_counts_deletes_of_the_file_alone(small_files):
    options = {"min_file_size_bytes": 0, "min_input_files": 100}
    shared = small_files(properties=BY_PARTITION)
    shared.delete("id in (0, 1, 3, 4)")
    assert shared.maintenance.rewrite_data_files().options(**options).plan().is_empty
    shared.catalog.drop_table("db.small")
    own = small_files(properties=MERGE_ON_READ)
    own.delete("id in (0, 1, 3, 4)")
    plan = own.maintenance.rewrite_data_files().options(**options).plan()
    assert (plan.file_count, plan.rows().column("reason").to_pylist()) == (2, ["deleted rows"])


def test_head_is_planned_once_for_all_commits_of_a_round(small_files, rows, monkeypatch):
    table = small_files(properties=MERGE_ON_READ)
    table.delete("id in (1, 13, 28)")
    row_delta_of_keys(table, rows, [4, 25])
    planned = []

    def counted(*arguments):
        planned.append(arguments)
        return whole_files(*arguments)

    monkeypatch.setattr(delete_uses, "whole_files", counted)
    rewrite = table.maintenance.rewrite_data_files()
    result = rewrite.options(**ONE_FILE_EACH, **A_GROUP_EACH, partial_progress_enabled=True).execute()
    assert (len(result.snapshot_ids), len(planned)) == (10, 1)
    assert result.removed_delete_files_count == 4
    assert sorted(ids(table)) == [number for number in range(30) if number not in (1, 4, 13, 25, 28)]


@pytest.fixture
def before_second_commit(monkeypatch):
    """Return a function that has a change run before the second commit of a rewrite."""

    def run_before(change):
        commit, begun = run.commit_groups, []

        def commit_after_a_change(*arguments):
            begun.append(arguments)
            if len(begun) == 2:
                change()
            return commit(*arguments)

        monkeypatch.setattr(run, "commit_groups", commit_after_a_change)

    return run_before


def test_equality_deletes_added_between_commits_stay(small_files, rows, before_second_commit):
    """The rows of the last group were read before the deletion; its new file has the older sequence number."""
    table = small_files(properties=MERGE_ON_READ)
    table.delete("id in (1, 13, 27)")
    before_second_commit(lambda: row_delta_of_keys(table.catalog.load_table("db.small"), rows, [28]))
    rewrite = table.maintenance.rewrite_data_files()
    result = rewrite.options(**ONE_FILE_EACH, **A_GROUP_EACH, partial_progress_enabled=True).execute()
    assert (len(result.snapshot_ids), result.removed_delete_files_count) == (10, 3)
    assert sorted(ids(table)) == [number for number in range(30) if number not in (1, 13, 27, 28)]
    assert table.inspect.delete_files().num_rows == 1


def test_deletes_that_groups_of_several_commits_need_go_beside_an_append(small_files, rows, before_second_commit):
    """The first data file, to which the deletes do not apply, is older than they are and stays."""
    table = small_files()
    row_delta_of_keys(table, rows, [4, 28])
    before_second_commit(lambda: table.catalog.load_table("db.small").append(rows((30, "a", None))))
    rewrite = table.maintenance.rewrite_data_files().filter("id >= 3")
    result = rewrite.options(**ONE_FILE_EACH, **A_GROUP_EACH, partial_progress_enabled=True).execute()
    assert (len(result.snapshot_ids), result.removed_delete_files_count) == (9, 1)
    assert sorted(ids(table)) == [number for number in range(31) if number not in (4, 28)]


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_groups_that_a_concurrent_commit_changed_are_found_again(small_files, mode):
    """Each group gets its own live files and deletes of the new head."""
    table = small_files(BY_KIND, {"write.delete.mode": mode})
    plan = table.maintenance.rewrite_data_files().options(**ONE_FILE_EACH).plan()
    table.catalog.load_table("db.small").delete("id in (0, 1, 3, 29)")
    result = table.maintenance.execute(plan)
    assert result.failures == ()
    assert sorted(ids(table)) == [2, *range(4, 29)]
    assert table.inspect.delete_files().num_rows == 0
