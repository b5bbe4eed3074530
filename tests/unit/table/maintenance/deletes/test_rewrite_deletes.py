"""Verbs that change delete files: dangling deletes, position deletes, equality deletes."""

import pickle
import uuid

import pyarrow as pa
import pytest
from icefloe.exceptions import ResolveError, ValidationError, ValidationException
from icefloe.table.maintenance.deletes.position_delete_run import PositionDeleteRun
from icefloe.table.write.file_writer import FileWriter

from tests.unit.table.conftest import BY_KIND

MERGE_ON_READ = {"write.delete.mode": "merge-on-read"}
BY_PARTITION = {**MERGE_ON_READ, "write.delete.granularity": "partition"}


def ids(table):
    return sorted(table.scan().to_arrow().column("id").to_pylist())


def delete_files(table):
    files = table.inspect.files()
    return files.filter(pa.compute.field("content") > 0)


def delete_keys(table, *keys, spec_id=None):
    """Delete rows by an equality delete file on `id`."""
    writer = FileWriter(table.io, table.metadata, str(uuid.uuid4()))
    rows = pa.table({"id": pa.array(keys, pa.int64()), "kind": pa.array(["a"] * len(keys))})
    table.new_row_delta().add_deletes(writer.equality_deletes(rows, [1], spec_id)).commit()


# ---- dangling


def test_delete_file_that_applies_to_no_data_is_dangling(new_table, rows):
    table = new_table()
    table.delete("id > 0")
    delete_keys(table, 7)
    table.append(rows((7, "a", None)))
    plan = table.maintenance.remove_dangling_deletes().plan()
    assert plan.rows().column("reason").to_pylist() == ["applies to no data file"]
    result = table.maintenance.execute(pickle.loads(pickle.dumps(plan)))
    assert result.removed_delete_files_count == 1
    assert delete_files(table).num_rows == 0
    assert ids(table) == [7]
    assert table.maintenance.remove_dangling_deletes().execute().snapshot_id is None


def test_global_equality_delete_of_an_empty_spec_is_not_dangling(new_table, rows):
    table = new_table()
    with table.update_spec() as update:
        update.add_field("kind", "identity")
    table.append(rows((7, "a", None), (8, "a", None)))
    table.delete("id < 7")
    delete_keys(table, 7, spec_id=0)
    assert table.maintenance.remove_dangling_deletes().plan().is_empty
    assert ids(table) == [8]


def test_plan_of_dangling_deletes_is_refused_after_a_rollback_that_needs_them(new_table):
    table = new_table()
    before = ids(table)
    delete_keys(table, before[0])
    needed = table.current_snapshot().snapshot_id
    # The other data file is as old as the key, which its bounds exclude.
    table.delete("id <= 3")
    plan = table.maintenance.remove_dangling_deletes().plan()
    assert plan.file_count == 1
    table.manage_snapshots().rollback_to_snapshot(needed).commit()
    with pytest.raises(ValidationException):
        table.maintenance.execute(plan)
    assert ids(table.refresh()) == before[1:]


# ---- equality deletes


@pytest.mark.parametrize("spec", [None, BY_KIND])
def test_equality_deletes_become_positions(new_table, content, rows, spec):
    table = new_table(spec, MERGE_ON_READ)
    table.delete("id = 1")
    delete_keys(table, 1, 4)
    delete_keys(table, 5, 99)
    table.append(rows((4, "a", 9.5)))
    before = content(table)
    plan = table.maintenance.convert_equality_deletes().plan()
    assert plan.file_count == 2
    result = table.maintenance.execute(pickle.loads(pickle.dumps(plan)))
    assert set(delete_files(table).column("content").to_pylist()) == {1}
    assert content(table) == before
    assert result.rewritten_delete_files_count == (3 if spec is None else 2)
    assert table.maintenance.convert_equality_deletes().plan().is_empty
    assert table.maintenance.convert_equality_deletes().execute().snapshot_id is None


def test_equality_deletes_without_rows_go(new_table, content):
    table = new_table()
    before = content(table)
    delete_keys(table, 99)
    result = table.maintenance.convert_equality_deletes().execute()
    assert (result.rewritten_delete_files_count, result.added_delete_files_count) == (1, 0)
    assert content(table) == before


def test_conversion_stays_right_beside_an_append_of_the_same_key(new_table, rows):
    table = new_table()
    delete_keys(table, 2)
    plan = table.maintenance.convert_equality_deletes().plan()
    table.catalog.load_table("db.t").append(rows((2, "b", 7.5)))
    table.maintenance.execute(plan)
    assert ids(table) == [1, 2, 3, 4, 5, 6]


def test_conversion_of_removed_data_conflicts_and_is_planned_again(new_table):
    table = new_table()
    delete_keys(table, 2)
    plan = table.maintenance.convert_equality_deletes().plan()
    other = table.catalog.load_table("db.t")
    other.delete("id = 1")
    with pytest.raises(ValidationException, match="removed data"):
        table.maintenance.execute(plan)
    table.maintenance.convert_equality_deletes().execute()
    assert ids(table) == [3, 4, 5, 6]


# ---- position deletes


def test_each_data_file_gets_a_delete_file(new_table, content):
    table = new_table(None, BY_PARTITION)
    table.delete("id in (1, 4)")
    table.delete("id = 2")
    with table.update_properties() as update:
        update.set_properties({"write.delete.granularity": "file"})
    before = content(table)
    plan = table.maintenance.rewrite_position_deletes().plan()
    assert set(plan.rows().column("reason").to_pylist()) >= {"several data files in one delete file"}
    result = table.maintenance.execute(pickle.loads(pickle.dumps(plan)))
    assert result.added_delete_files_count == 2
    assert content(table) == before
    assert sorted(delete_files(table).column("record_count").to_pylist()) == [1, 2]
    assert table.maintenance.rewrite_position_deletes().plan().is_empty


def test_small_delete_files_of_a_partition_are_merged(new_table, content):
    table = new_table(None, BY_PARTITION)
    for number in (1, 4, 2):
        table.delete(f"id = {number}")
    before = content(table)
    builder = table.maintenance.rewrite_position_deletes()
    assert builder.plan().is_empty
    result = builder.options(min_input_files=2).execute()
    assert (result.rewritten_delete_files_count, result.added_delete_files_count) == (3, 1)
    assert content(table) == before
    assert builder.plan().is_empty


def test_positions_of_removed_data_are_dropped(new_table, content):
    table = new_table(None, BY_PARTITION)
    table.delete("id in (1, 4)")
    table.maintenance.rewrite_data_files().filter("id < 3").options(rewrite_all=True).execute()
    before = content(table)
    result = table.maintenance.rewrite_position_deletes().options(rewrite_all=True).execute()
    assert result.rewritten_delete_files_count == 1
    assert delete_files(table).column("record_count").to_pylist() == [1]
    assert content(table) == before


def test_merged_positions_keep_the_newest_number_of_the_group(new_table, rows):
    table = new_table(None, BY_PARTITION)
    table.delete("id = 1")
    table.delete("id = 4")
    numbers = table.last_sequence_number
    table.append(rows((7, "a", None)))
    table.maintenance.rewrite_position_deletes().options(min_input_files=2).execute()
    entries = table.inspect.entries()
    live = entries.filter((pa.compute.field("status") < 2) & (pa.compute.field("sequence_number") == numbers))
    assert live.num_rows == 1
    assert ids(table) == [2, 3, 5, 6, 7]


def test_filter_selects_the_delete_files_of_partitions(new_table, rows, content):
    table = new_table(BY_KIND, BY_PARTITION)
    table.append(rows((7, "a", None), (8, "a", None), (9, "b", None), (10, "b", None)))
    for number in (7, 9):
        table.delete(f"id = {number}")
    before, live = content(table), delete_files(table)
    kinds = {row["file_path"]: row["partition"]["kind"] for row in live.to_pylist()}
    builder = table.maintenance.rewrite_position_deletes().options(rewrite_all=True)
    assert builder.filter("kind = 'none'").plan().is_empty
    plan = builder.filter("kind = 'a' and id > 1000").plan()
    assert plan.files.column("file_path").to_pylist() == [path for path, kind in kinds.items() if kind == "a"]
    result = table.maintenance.execute(plan)
    assert 0 < result.rewritten_delete_files_count == plan.file_count < live.num_rows
    assert content(table) == before
    with pytest.raises(ResolveError):
        builder.filter("nope = 1").plan()


def test_partial_progress_commits_partitions_apart(new_table, rows, content):
    table = new_table(BY_KIND, BY_PARTITION)
    table.append(rows((7, "a", None), (8, "a", None), (9, "b", None), (10, "b", None)))
    for number in (7, 9):
        table.delete(f"id = {number}")
    before, count = content(table), len(table.snapshots())
    builder = table.maintenance.rewrite_position_deletes()
    plan = builder.options(rewrite_all=True, partial_progress_enabled=True).plan()
    result = table.maintenance.execute(plan)
    assert len(table.snapshots()) == count + 2
    assert result.snapshot_id == table.current_snapshot().snapshot_id
    assert result.rewritten_delete_files_count == plan.file_count
    assert content(table) == before
    with pytest.raises(ValidationException, match="not rewritten"):
        table.maintenance.execute(plan)
    assert content(table) == before


def test_failed_commits_beyond_the_allowed_number_raise_and_are_not_repeated(new_table, rows, monkeypatch):
    table = new_table(BY_KIND, BY_PARTITION)
    table.append(rows((7, "a", None), (8, "a", None), (9, "b", None), (10, "b", None)))
    for number in (7, 9):
        table.delete(f"id = {number}")
    rewrite = PositionDeleteRun._rewrite

    def interfering(self, groups):
        if groups[0].data_files.column("partition")[0].as_py() == '["b"]':
            table.catalog.load_table("db.t").overwrite(rows((9, "b", None)), "kind = 'b'")
        return rewrite(self, groups)

    monkeypatch.setattr(PositionDeleteRun, "_rewrite", interfering)
    options = {"rewrite_all": True, "partial_progress_enabled": True, "partial_progress_max_failed_commits": 0}
    count = len(table.snapshots())
    with pytest.raises(ValidationException, match=r"replaced 1 delete file .* 1 delete file not rewritten"):
        table.maintenance.rewrite_position_deletes().options(**options).execute()
    # The other partition's commit and that of the other writer.
    assert len(table.refresh().snapshots()) == count + 2


@pytest.mark.parametrize(
    "option", ["delete_file_threshold", "output_spec_id", "max_files_to_rewrite", "max_output_size"]
)
def test_options_of_data_files_are_refused(new_table, option):
    message = f"rewrite_position_deletes: no option {option}; expected max_concurrent_file_group_rewrites, "
    with pytest.raises(ValidationError, match=message):
        new_table().maintenance.rewrite_position_deletes().options(**{option: 1})


@pytest.mark.parametrize("verb", ["rewrite_position_deletes", "convert_equality_deletes", "remove_dangling_deletes"])
def test_plan_of_another_table_or_branch_is_refused(new_table, catalog, rows, verb):
    table = new_table()
    other = catalog.create_table("db.other", rows().schema)
    plan = getattr(other.maintenance, verb)().plan()
    assert plan.is_empty
    with pytest.raises(ValidationError, match=f"{verb}: expected a plan of table"):
        table.maintenance.execute(plan)
    with pytest.raises(ValidationError, match=f"{verb}: branch 'none' does not exist"):
        getattr(table.maintenance, verb)().branch("none").plan()
