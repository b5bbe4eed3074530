"""Rewriting data files: the plan, the rows, the deletes and the commits."""

import pickle
import uuid
from random import Random

import pyarrow as pa
import pytest
from icefloe.exceptions import ResolveError, StorageError, ValidationError, ValidationException
from icefloe.table.maintenance.rewrite.run import RewriteRun
from icefloe.table.sorting import SortOrder
from icefloe.table.write.file_writer import FileWriter
from icefloe.transforms import IdentityTransform
from icefloe.types import IntegerType

from tests.unit.table.conftest import BY_KIND

MERGE_ON_READ = {"write.delete.mode": "merge-on-read", "write.update.mode": "merge-on-read"}
FEW = {"min_input_files": 2}


@pytest.fixture
def small_files(catalog, rows):
    """Return a function that creates a table of ten files with three rows each, ids 0 to 29."""

    def make(spec=None, properties=None):
        table = catalog.create_table(
            "db.small", rows().schema, **({} if spec is None else {"partition_spec": spec}), properties=properties or {}
        )
        for start in range(0, 30, 3):
            table.append(rows(*((number, "abc"[number % 3], number / 2) for number in range(start, start + 3))))
        return table

    return make


def ids(table):
    return table.scan().to_arrow().column("id").to_pylist()


def files(table):
    return table.inspect.files().filter(pa.compute.field("content") == 0).num_rows


def test_small_files_become_one_in_the_order_of_their_commits(small_files, content):
    table = small_files()
    before = content(table)
    plan = table.maintenance.rewrite_data_files().plan()
    assert (plan.file_count, plan.groups.num_rows) == (10, 1)
    assert plan.rows().column("reason").to_pylist() == ["small files"]
    result = table.maintenance.execute(plan)
    assert (result.rewritten_data_files_count, result.added_data_files_count) == (10, 1)
    assert result.rewritten_bytes_count == plan.total_bytes
    assert ids(table) == list(range(30))
    assert content(table) == before
    assert table.current_snapshot().operation.value == "replace"


def test_second_run_finds_nothing(small_files):
    table = small_files()
    table.maintenance.rewrite_data_files().execute()
    again = table.maintenance.rewrite_data_files().options(min_input_files=1).plan()
    assert again.is_empty
    assert again.summary() == "rewrite_data_files: no data file needs to be rewritten"
    snapshot = table.current_snapshot()
    assert table.maintenance.rewrite_data_files().execute().snapshot_ids == ()
    assert table.current_snapshot() == snapshot


def test_plan_that_was_executed_is_not_repeated(small_files):
    table = small_files()
    plan = pickle.loads(pickle.dumps(table.maintenance.rewrite_data_files().plan()))
    assert table.maintenance.execute(plan).rewritten_data_files_count == 10
    assert table.maintenance.execute(plan).rewritten_data_files_count == 0
    assert len(ids(table)) == 30


def test_plan_of_another_table_is_refused(small_files, new_table):
    plan = small_files().maintenance.rewrite_data_files().plan()
    with pytest.raises(ValidationError, match="expected a plan of table"):
        new_table().maintenance.execute(plan)


def test_table_without_rows_has_nothing_to_rewrite(catalog, rows):
    table = catalog.create_table("db.empty", rows().schema)
    assert table.maintenance.rewrite_data_files().execute().snapshot_ids == ()


def test_fewer_files_than_the_least_are_left(small_files):
    table = small_files()
    assert table.maintenance.rewrite_data_files().options(min_input_files=11).plan().is_empty


def test_partitions_are_groups_of_their_own(small_files, content):
    table = small_files(BY_KIND)
    before = content(table)
    plan = table.maintenance.rewrite_data_files().plan()
    assert sorted(plan.rows().column("partition").to_pylist()) == ['["a"]', '["b"]', '["c"]']
    result = table.maintenance.execute(plan)
    assert (result.rewritten_data_files_count, result.added_data_files_count, len(result.snapshot_ids)) == (30, 3, 1)
    assert content(table) == before


def test_filter_selects_files_and_rewrites_them_whole(small_files, content):
    table = small_files(BY_KIND)
    before = content(table)
    result = table.maintenance.rewrite_data_files().filter("kind = 'a' and id > 3").options(**FEW).execute()
    assert result.rewritten_data_files_count == 8
    assert content(table) == before


def test_groups_are_limited_in_bytes_and_files(small_files):
    table = small_files()
    builder = table.maintenance.rewrite_data_files()
    assert builder.options(max_file_group_input_files=4, **FEW).plan().rows().column("files").to_pylist() == [4, 4, 2]
    size = builder.plan().total_bytes // 10
    plan = builder.options(max_file_group_size_bytes=size * 5 + size // 2, **FEW).plan()
    assert plan.rows().column("files").to_pylist() == [5, 5]
    assert builder.options(max_files_to_rewrite=7, **FEW).plan().file_count == 7


@pytest.mark.parametrize(("order", "expected"), [("files-asc", [2, 4]), ("files-desc", [4, 2]), ("bytes-asc", [2, 4])])
def test_job_order_sorts_groups(catalog, rows, order, expected):
    table = catalog.create_table("db.small", rows().schema, partition_spec=BY_KIND)
    for number in range(4):
        table.append(rows((number, "a", None), *[(number, "b", None)] * (number < 2)))
    plan = table.maintenance.rewrite_data_files().options(rewrite_job_order=order, **FEW).plan()
    assert plan.rows().column("files").to_pylist() == expected


def test_partial_progress_commits_several_times(small_files, content):
    table = small_files(BY_KIND)
    before = content(table)
    options = {"partial_progress_enabled": True, "partial_progress_max_commits": 3}
    result = table.maintenance.rewrite_data_files().options(**options).execute()
    assert len(result.snapshot_ids) == 3
    assert content(table) == before


def test_large_file_is_split(catalog):
    table = catalog.create_table("db.large", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": list(range(100_000))}))
    sizes = {"target_file_size_bytes": 50_000, "max_file_size_bytes": 100_000}
    result = table.maintenance.rewrite_data_files().options(**sizes).execute()
    assert result.added_data_files_count > 1
    assert ids(table) == list(range(100_000))
    assert table.maintenance.rewrite_data_files().options(**sizes).plan().is_empty


# ---- deletes


def test_deleted_rows_are_a_reason_and_their_delete_files_go(small_files, content):
    table = small_files(properties=MERGE_ON_READ)
    table.maintenance.rewrite_data_files().execute()
    table.delete("id < 10")
    before = content(table)
    plan = table.maintenance.rewrite_data_files().plan()
    assert plan.rows().column("reason").to_pylist() == ["small files, deleted rows"]
    result = table.maintenance.execute(plan)
    assert (result.rewritten_data_files_count, result.removed_delete_files_count) == (1, 1)
    assert table.inspect.files().num_rows == 1
    assert content(table) == before
    assert table.maintenance.rewrite_data_files().plan().is_empty


def test_threshold_counts_equality_deletes(small_files, content, rows):
    table = small_files()
    table.maintenance.rewrite_data_files().execute()
    row_delta_of_keys(table, rows, [3])
    before = content(table)
    assert table.maintenance.rewrite_data_files().plan().is_empty
    result = table.maintenance.rewrite_data_files().options(delete_file_threshold=1).execute()
    assert result.removed_delete_files_count == 1
    assert content(table) == before
    assert table.maintenance.rewrite_data_files().options(delete_file_threshold=1).plan().is_empty


def test_file_without_live_rows_goes(small_files):
    table = small_files(properties=MERGE_ON_READ)
    table.maintenance.rewrite_data_files().execute()
    plan = table.maintenance.rewrite_data_files().options(rewrite_all=True).plan()
    assert plan.file_count == 1
    table.delete("id >= 0 and value >= 0")
    table.append(pa.table({"id": [1], "kind": ["z"], "value": [0.0]}))
    table.maintenance.rewrite_data_files().execute()
    assert ids(table) == [1]


def row_delta_of_keys(table, rows, keys):
    """Delete rows by an equality delete file on `id`."""
    writer = FileWriter(table.io, table.metadata, str(uuid.uuid4()))
    deletes = writer.equality_deletes(pa.table({"id": pa.array(keys, pa.int64())}), [1])
    table.new_row_delta().add_deletes(deletes).commit()


def test_rows_deleted_by_key_stay_deleted_when_the_rewrite_began_before(small_files, rows):
    """The commit drops delete files older than all data; its own files have the older sequence number (#10312)."""
    table = small_files()
    plan = table.maintenance.rewrite_data_files().plan()
    other = table.catalog.load_table("db.small")
    row_delta_of_keys(other, rows, [3, 4])
    other.append(rows((100, "a", None)))
    table.maintenance.execute(plan)
    assert sorted(ids(table)) == [0, 1, 2, *range(5, 30), 100]
    result = table.maintenance.rewrite_data_files().options(delete_file_threshold=1).execute()
    assert result.removed_delete_files_count == 1
    assert sorted(ids(table)) == [0, 1, 2, *range(5, 30), 100]


# ---- concurrent commits


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


def test_overwrite_meanwhile_leaves_no_group(small_files, rows):
    table = small_files()
    plan = table.maintenance.rewrite_data_files().plan()
    table.catalog.load_table("db.small").overwrite(rows((7, "x", None)))
    result = table.maintenance.execute(plan)
    assert ids(table) == [7]
    assert result.snapshot_ids == ()


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


# ---- specs and schemas


def test_files_of_an_older_spec_are_repartitioned(small_files, content):
    table = small_files()
    with table.update_spec() as update:
        update.add_field("kind", IdentityTransform())
    table.append(pa.table({"id": [50], "kind": ["a"], "value": [0.5]}))
    before = content(table)
    plan = table.maintenance.rewrite_data_files().plan()
    assert plan.rows().column("reason").to_pylist() == ["small files, older partition spec"]
    result = table.maintenance.execute(plan)
    assert (result.rewritten_data_files_count, result.added_data_files_count) == (11, 3)
    assert content(table) == before
    assert set(table.inspect.files().column("spec_id").to_pylist()) == {1}
    assert table.maintenance.rewrite_data_files().options(**FEW).plan().is_empty


def test_older_spec_with_the_same_field_is_grouped_by_it(small_files, content):
    table = small_files(BY_KIND)
    with table.update_spec() as update:
        update.add_field("id", "bucket[2]")
    before = content(table)
    plan = table.maintenance.rewrite_data_files().plan()
    assert plan.groups.num_rows == 3
    table.maintenance.execute(plan)
    assert content(table) == before
    assert files(table) == 6


def test_output_spec_is_chosen(small_files, content):
    table = small_files()
    with table.update_spec() as update:
        update.add_field("kind", IdentityTransform())
    before = content(table)
    result = table.maintenance.rewrite_data_files().options(output_spec_id=0).execute()
    assert result.added_data_files_count == 1
    assert content(table) == before
    with pytest.raises(ValidationError, match=r"output_spec_id: expected the id of a partition spec \[0, 1\], got 7"):
        table.maintenance.rewrite_data_files().options(output_spec_id=7).plan()


def test_changed_schema_is_applied(small_files):
    table = small_files()
    with table.update_schema() as update:
        update.rename_column("kind", "sort")
        update.delete_column("value")
        update.add_column("extra", IntegerType())
    table.maintenance.rewrite_data_files().execute()
    assert table.scan().to_arrow().column_names == ["id", "sort", "extra"]
    assert table.scan().to_arrow().slice(0, 1).to_pylist() == [{"id": 0, "sort": "a", "extra": None}]


def test_branch_is_rewritten_alone(small_files):
    table = small_files()
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "work").commit()
    result = table.maintenance.rewrite_data_files().branch("work").execute()
    assert result.added_data_files_count == 1
    assert files(table) == 10
    assert table.scan().use_ref("work").count() == 30
    with pytest.raises(ValidationError, match="branch 'none' does not exist"):
        table.maintenance.rewrite_data_files().branch("none").plan()


# ---- refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"no_such": 1}, "no option no_such; expected delete_file_threshold"),
        ({"min_input_files": 0}, "min_input_files: expected a whole number of at least 1, got 0"),
        ({"min_input_files": "5"}, "min_input_files: expected a whole number of at least 1, got '5'"),
        ({"rewrite_all": "yes"}, "rewrite_all: expected True or False, got 'yes'"),
        ({"delete_ratio_threshold": 0}, "delete_ratio_threshold: expected a number above 0 and at most 1, got 0"),
        ({"rewrite_job_order": "size"}, "rewrite_job_order: expected none, bytes-asc"),
        ({"target_file_size_bytes": 10, "min_file_size_bytes": 10}, "expected min_file_size_bytes < target"),
    ],
)
def test_bad_option_is_refused_before_any_work(small_files, options, message):
    table = small_files()
    with pytest.raises(ValidationError, match=message):
        table.maintenance.rewrite_data_files().options(**options).plan()


@pytest.mark.parametrize(
    ("choose", "error", "message"),
    [
        (lambda builder: builder.sort(), ValidationError, "the table has no sort order"),
        (lambda builder: builder.sort(SortOrder()), ValidationError, "expected at least one key, got none"),
        (lambda builder: builder.sort("no_such"), ResolveError, "no_such"),
        (lambda builder: builder.zorder(), ValidationError, "expected 1 to 16 different columns, got none"),
        (lambda builder: builder.zorder("id", "id"), ValidationError, "expected 1 to 16 different columns"),
        (lambda builder: builder.hilbert("kind"), ValidationError, "every partition has one value of it"),
    ],
)
def test_bad_arrangement_is_refused(small_files, choose, error, message):
    table = small_files(BY_KIND)
    with pytest.raises(error, match=message):
        choose(table.maintenance.rewrite_data_files())


# ---- arrangements


@pytest.fixture
def shuffled(catalog):
    """A table of two files with 20,000 rows each, pairs (a, b) in random order, and a target size of 16 files."""
    rng = Random(7)
    table = catalog.create_table("db.shuffled", pa.schema([("a", pa.int64()), ("b", pa.int64()), ("s", pa.string())]))
    for _ in range(2):
        a, b = ([rng.randrange(10**6) for _ in range(20_000)] for _ in range(2))
        table.append(pa.table({"a": a, "b": b, "s": [f"text {number % 7}" for number in a]}))
    return table


SPLIT = {"target_file_size_bytes": 20_000, "max_file_size_bytes": 60_000, "rewrite_all": True}


def multiset(table):
    return table.scan().to_arrow().sort_by([("a", "ascending"), ("b", "ascending")])


@pytest.mark.parametrize("memory", [2**26, 2**19])
def test_rows_are_sorted_across_files(shuffled, memory):
    before = multiset(shuffled)
    builder = shuffled.maintenance.rewrite_data_files().sort("s DESC, a")
    builder.options(**SPLIT, memory_limit_bytes=memory).execute()
    rows = shuffled.scan().to_arrow()
    assert rows.equals(rows.sort_by([("s", "descending"), ("a", "ascending")]))
    assert multiset(shuffled) == before
    assert files(shuffled) > 4


def test_order_of_the_table_is_recorded_and_a_reason(shuffled):
    with shuffled.update_sort_order() as update:
        update.asc("a", IdentityTransform())
    plan = shuffled.maintenance.rewrite_data_files().sort().plan()
    assert plan.rows().column("reason").to_pylist() == ["small files, other sort order"]
    shuffled.maintenance.execute(pickle.loads(pickle.dumps(plan)))
    assert set(shuffled.inspect.files().column("sort_order_id").to_pylist()) == {1}
    assert shuffled.maintenance.rewrite_data_files().sort("a").plan().is_empty
    assert shuffled.maintenance.rewrite_data_files().sort("b").plan().is_empty


@pytest.mark.parametrize("curve", ["zorder", "hilbert"])
def test_curve_lets_filters_on_each_column_skip_files(shuffled, curve):
    before = multiset(shuffled)
    builder = shuffled.maintenance.rewrite_data_files().sort(f"{curve}(a, b)")
    assert str(builder.plan().clustering) == f"{curve}(a, b)"
    builder.options(**SPLIT).execute()
    assert multiset(shuffled) == before
    total = files(shuffled)
    for column in ("a", "b"):
        scan = shuffled.scan(f"{column} > 500000 and {column} < 502000")
        planned = scan.explain().counters["files_planned"]
        assert planned <= total * 3 // 4, (planned, total)


def test_curve_within_partitions_keeps_rows(small_files, content):
    table = small_files(BY_KIND)
    before = content(table)
    table.maintenance.rewrite_data_files().zorder("id", "value").execute()
    assert content(table) == before
    assert files(table) == 3
