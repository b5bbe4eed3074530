import pytest

ALL = {(1, "a", 0.5), (2, "b", None), (3, None, 1.5), (4, "a", 2.0), (5, "b", 2.5), (6, None, None)}


@pytest.mark.parametrize(
    ("text", "deleted"),
    [
        ("id = 1", {1}),
        ("id < 4", {1, 2, 3}),
        ("value > 1.0", {3, 4, 5}),
        ("value is null", {2, 6}),
        ("kind = 'a' or id = 6", {1, 4, 6}),
        ("not (value < 1.0)", {3, 4, 5}),
        ("kind != 'a'", {2, 5}),
        ("not kind = 'a'", {2, 5}),
        ("kind not in ('a', 'c')", {2, 5}),
        ("kind not like 'a%'", {2, 5}),
        ("not (kind = 'a' or id = 6)", {2, 5}),
        ("not (kind = 'a' and id = 1)", {2, 3, 4, 5, 6}),
        ("id > 0", {1, 2, 3, 4, 5, 6}),
        ("id > 100", set()),
    ],
)
def test_delete_removes_exactly_the_rows_of_the_filter(new_table, content, mode, spec, text, deleted):
    table = new_table(spec, mode)
    before = {row[0] for row in content(table, text)}
    assert before == deleted
    table.delete(text)
    assert content(table) == {row for row in ALL if row[0] not in before}


def test_delete_that_matches_nothing_commits_nothing(new_table, mode):
    table = new_table(properties=mode)
    table.delete("id > 100")
    table.delete("id = 1 and value > 3.0")
    assert len(table.snapshots()) == 2


def test_files_that_match_whole_are_dropped_from_metadata(new_table, mode):
    table = new_table(properties=mode)
    table.delete("id <= 3")
    summary = table.current_snapshot().summary
    assert summary.operation == "delete"
    assert summary["deleted-data-files"] == "1"
    assert summary["deleted-records"] == "3"
    assert "added-delete-files" not in summary
    assert "added-data-files" not in summary


def test_merge_on_read_writes_positions_and_no_data(new_table):
    table = new_table(properties={"write.delete.mode": "merge-on-read"})
    table.delete("id = 2 or id = 5")
    summary = table.current_snapshot().summary
    assert summary["added-position-deletes"] == "2"
    assert "added-data-files" not in summary
    assert table.scan().count() == 4


def test_copy_on_write_leaves_untouched_files_alone(new_table):
    table = new_table()
    untouched = table.scan("id > 3").plan().files.column("file_path")[0].as_py()
    table.delete("id = 2")
    assert untouched in table.inspect.files().column("file_path").to_pylist()
    assert table.inspect.delete_files().num_rows == 0


def test_several_deletes_remove_the_rows_of_each(new_table, content):
    table = new_table(properties={"write.delete.mode": "merge-on-read"})
    for number in (1, 2, 4):
        table.delete(f"id = {number}")
    assert {row[0] for row in content(table)} == {3, 5, 6}
    table.delete("id = 1")
    assert len(table.snapshots()) == 5


def test_delete_after_a_spec_change_reaches_files_of_the_old_spec(new_table, content, mode):
    table = new_table(properties=mode)
    with table.update_spec() as update:
        update.add_identity("kind")
    table.delete("kind = 'a'")
    assert {row[0] for row in content(table)} == {2, 3, 5, 6}
