"""Rewrites of data files whose delete files apply to other data files as well."""

from tests.unit.table.maintenance.rewrite.conftest import MERGE_ON_READ, ids
from tests.unit.table.maintenance.rewrite.test_rewrite_data_files import row_delta_of_keys

BY_PARTITION = {**MERGE_ON_READ, "write.delete.granularity": "partition"}
ONE_FILE_EACH = {"rewrite_all": True}


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
