"""Rewriting data files: the plan, the rows, the deletes, specs and schemas."""

import pickle
import uuid
from random import Random

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.write.file_writer import FileWriter
from icefloe.transforms import IdentityTransform
from icefloe.types import IntegerType

from tests.unit.table.conftest import BY_KIND
from tests.unit.table.maintenance.rewrite.conftest import FEW, MERGE_ON_READ, files, ids


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
    appended = table.incremental_append_scan(from_snapshot_id_exclusive=plan.snapshot_id)
    assert appended.to_arrow().num_rows == 0


def test_second_run_finds_nothing(small_files):
    table = small_files()
    table.maintenance.rewrite_data_files().execute()
    again = table.maintenance.rewrite_data_files().options(min_input_files=1).plan()
    assert again.is_empty
    assert again.summary() == "rewrite_data_files: no data file needs to be rewritten"
    snapshot = table.current_snapshot()
    assert table.maintenance.rewrite_data_files().execute().snapshot_ids == ()
    assert table.current_snapshot() == snapshot


@pytest.mark.parametrize("version", ["1", "2"])
def test_second_run_finds_nothing_when_the_snapshot_of_the_first_has_expired(catalog, version):
    """The writer closes files by an estimate of their size, so that new files may be small; snapshots of rewrites expire."""
    rng, schema = Random(7), pa.schema([("id", pa.int64())])
    table = catalog.create_table("db.small", schema, properties={"format-version": version})
    for _ in range(6):
        table.append(pa.table({"id": [rng.randrange(10**9) for _ in range(2_700)]}))
    options = {"target_file_size_bytes": 67_500, "min_file_size_bytes": 67_499, "min_input_files": 2}
    table.maintenance.rewrite_data_files().options(**options).execute()
    sizes = table.inspect.files().column("file_size_in_bytes").to_pylist()
    assert len(sizes) == 2
    assert sum(sizes) > 67_500 > max(sizes)
    assert table.maintenance.rewrite_data_files().options(**options).plan().is_empty
    table.rewrite_manifests().commit()
    table.maintenance.expire_snapshots().older_than("0s").execute()
    assert len(table.snapshots()) == 1
    assert table.maintenance.rewrite_data_files().options(**options).plan().is_empty
    options["target_file_size_bytes"] = 200_000
    assert table.maintenance.rewrite_data_files().options(**options).plan().file_count == 2


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


@pytest.mark.parametrize("most", [2, 3, 7, 9])
def test_most_files_of_a_plan_cut_a_group(small_files, content, most):
    table = small_files()
    before = content(table)
    plan = table.maintenance.rewrite_data_files().options(max_files_to_rewrite=most).plan()
    assert (plan.file_count, plan.rows().column("files").to_pylist()) == (most, [most])
    assert table.maintenance.execute(plan).added_data_files_count == 1
    assert content(table) == before


def test_most_files_of_a_plan_count_over_groups(small_files):
    builder = small_files(BY_KIND).maintenance.rewrite_data_files()
    assert builder.options(max_files_to_rewrite=14).plan().rows().column("files").to_pylist() == [10, 4]
    assert builder.options(max_files_to_rewrite=11).plan().rows().column("files").to_pylist() == [10]
    assert builder.options(max_files_to_rewrite=1).plan().is_empty
    assert builder.options(max_files_to_rewrite=1, min_input_files=11).plan().is_empty


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


# ---- specs and schemas


def test_files_of_an_older_spec_are_repartitioned(small_files, content):
    table = small_files()
    with table.update_spec() as update:
        update.add_field("kind", IdentityTransform())
    table.append(pa.table({"id": [50], "kind": ["a"], "value": [0.5]}))
    before = content(table)
    plan = table.maintenance.rewrite_data_files().plan()
    assert plan.rows().column("reason").to_pylist() == ["small files, older partition spec"]
    # The number of partitions that the rows belong to is known after the rewrite.
    assert plan.rows().column("new_files").to_pylist() == [None]
    result = table.maintenance.execute(plan)
    assert (result.rewritten_data_files_count, result.added_data_files_count) == (11, 3)
    assert content(table) == before
    assert set(table.inspect.files().column("spec_id").to_pylist()) == {1}
    assert table.maintenance.rewrite_data_files().options(**FEW).plan().is_empty


def test_older_spec_is_a_reason_of_its_own_and_deletes_are_applied(small_files, content):
    """A file that has the right size is repartitioned, and no delete file stays in the partition that it leaves."""
    table = small_files(properties=MERGE_ON_READ)
    table.maintenance.rewrite_data_files().execute()
    with table.update_spec() as update:
        update.add_field("kind", IdentityTransform())
    table.delete("id in (3, 4)")
    before = content(table)
    builder = table.maintenance.rewrite_data_files().options(min_file_size_bytes=0)
    plan = builder.plan()
    assert plan.rows().column("reason").to_pylist() == ["older partition spec"]
    result = table.maintenance.execute(plan)
    assert (result.rewritten_data_files_count, result.added_data_files_count) == (1, 3)
    assert result.removed_delete_files_count == 1
    assert table.inspect.delete_files().num_rows == 0
    assert content(table) == before
    assert builder.plan().is_empty


def test_files_that_no_rewrite_makes_fewer_are_left(small_files):
    """Files of three quarters of the target are small, and as many after a rewrite as before."""
    table = small_files()
    most = max(table.inspect.files().column("file_size_in_bytes").to_pylist())
    builder = table.maintenance.rewrite_data_files()
    options = {"min_input_files": 2, "target_file_size_bytes": most * 100 // 74}
    assert builder.options(**options, max_files_to_rewrite=3).plan().is_empty
    assert builder.options(**options, rewrite_all=True, max_files_to_rewrite=3).plan().file_count == 3


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
        ({"min_input_files": None}, "min_input_files: expected a whole number of at least 1, got None"),
        ({"min_input_files": 2**63}, "min_input_files: expected a whole number of at most 9223372036854775807"),
        ({"rewrite_all": None}, "rewrite_all: expected True or False, got None"),
        (
            {"delete_ratio_threshold": "0.3"},
            "delete_ratio_threshold: expected a number above 0 and at most 1, got '0.3'",
        ),
        ({"delete_ratio_threshold": None}, "delete_ratio_threshold: expected a number above 0 and at most 1, got None"),
        ({"delete_ratio_threshold": True}, "delete_ratio_threshold: expected a number above 0 and at most 1, got True"),
        ({"rewrite_all": "yes"}, "rewrite_all: expected True or False, got 'yes'"),
        ({"delete_ratio_threshold": 0}, "delete_ratio_threshold: expected a number above 0 and at most 1, got 0"),
        ({"compression_factor": 0}, "compression_factor: expected a number above 0, got 0"),
        ({"compression_factor": float("inf")}, "compression_factor: expected a number above 0, got inf"),
        ({"max_output_size": 0}, "max_output_size: expected a whole number of at least 1, got 0"),
        ({"rewrite_job_order": "size"}, "rewrite_job_order: expected none, bytes-asc"),
        ({"target_file_size_bytes": 10, "min_file_size_bytes": 10}, "expected min_file_size_bytes < target"),
    ],
)
def test_bad_option_is_refused_before_any_work(small_files, options, message):
    table = small_files()
    with pytest.raises(ValidationError, match=message):
        table.maintenance.rewrite_data_files().options(**options).plan()


def test_output_spec_with_a_dropped_column_is_refused(small_files):
    table = small_files(BY_KIND)
    with table.update_spec() as update:
        update.remove_field("kind")
    with table.update_schema() as update:
        update.delete_column("kind")
    builder = table.maintenance.rewrite_data_files()
    with pytest.raises(ValidationError, match=r"output_spec_id: .* got 0, whose field 'kind' has a dropped column"):
        builder.options(output_spec_id=0).plan()
    assert not builder.options(output_spec_id=1).plan().is_empty
