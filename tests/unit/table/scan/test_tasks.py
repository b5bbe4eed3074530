"""Tasks as objects, and groups of tasks."""

import pickle

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue, GreaterThan
from icefloe.manifest import DataFileContent, FileFormat
from icefloe.table.scan import Packing

MERGE_ON_READ = {"write.delete.mode": "merge-on-read"}


def ids_of(readers):
    return sorted(one for reader in readers for one in reader.read_all().column("id").to_pylist())


def groups_of(table, **options):
    tasks = table.scan(options={name.replace("_", "-"): str(value) for name, value in options.items()}).plan_tasks()
    return [pickle.loads(pickle.dumps(group)) for group in tasks]


@pytest.fixture
def deleted(new_table):
    """A table of six rows in two files, one of which has a delete file."""
    table = new_table(properties=MERGE_ON_READ)
    table.delete("id = 2")
    return table


def test_task_has_the_values_of_its_file(deleted):
    tasks = {task.file_path: task for task in deleted.scan("id > 1").plan_files()}
    assert sorted(tasks) == sorted(deleted.inspect.data_files().column("file_path").to_pylist())
    dirty = next(task for task in tasks.values() if task.delete_files)
    clean = next(task for task in tasks.values() if not task.delete_files)
    assert dirty.residual == GreaterThan("id", 1)
    assert clean.residual == AlwaysTrue()
    assert (dirty.start, dirty.length) == (0, dirty.file_size_in_bytes)
    assert dirty.file.content == DataFileContent.DATA
    assert dirty.file.file_format == FileFormat.PARQUET
    assert (dirty.file.file_path, dirty.file.record_count) == (dirty.file_path, 3)
    (delete,) = dirty.delete_files
    assert delete.content == DataFileContent.POSITION_DELETES
    assert delete.file_path == deleted.inspect.delete_files().column("file_path")[0].as_py()
    assert dirty.file_path in repr(dirty)


def test_tasks_compare_by_value_and_pickle(deleted):
    tasks = list(deleted.scan().plan_files())
    again = list(deleted.scan().plan_files())
    assert tasks == again
    assert tasks[0] != tasks[1]
    assert len({*tasks, *again}) == 2
    restored = pickle.loads(pickle.dumps(tasks))
    assert restored == tasks
    assert pickle.loads(pickle.dumps(restored)) == tasks
    assert [task.file for task in restored] == [task.file for task in tasks]
    assert [task.delete_files for task in restored] == [task.delete_files for task in tasks]


def test_unpickled_task_is_read(deleted):
    tasks = list(deleted.scan("id < 6", selected_fields=("id",)).plan_files())
    assert ids_of(task.read() for task in tasks) == [1, 3, 4, 5]
    assert ids_of(task.read() for task in pickle.loads(pickle.dumps(tasks))) == [1, 3, 4, 5]


def test_many_tasks_pickle_small(catalog):
    table = catalog.create_table("db.many", pa.schema([("id", pa.int64())]))
    for number in range(8):
        table.append(pa.table({"id": [number]}))
    tasks = list(table.scan().plan_files())
    one, all_tasks = (len(pickle.dumps(which)) for which in (tasks[:1], tasks))
    assert (all_tasks - one) / 7 < 400


def test_task_has_statistics_of_a_plan_with_statistics(new_table):
    table = new_table()
    files = [task.file for task in table.scan().plan(include_stats=True).tasks()]
    assert [file.value_counts[1] for file in files] == [3, 3]
    assert all(task.file.value_counts is None for task in table.scan().plan_files())


def test_task_groups_pickle_and_read_every_row(deleted):
    deleted.delete("id = 6")
    for size in (1, 128 * 1024 * 1024):
        assert ids_of(group.read() for group in groups_of(deleted, split_size=size)) == [1, 3, 4, 5]


def test_tasks_are_packed_to_the_split_size(new_table):
    table = new_table()
    table.append(table.scan().to_arrow())
    sizes = table.inspect.data_files().column("file_size_in_bytes").to_pylist()
    cost = max(sizes) * 2
    assert [group.num_tasks for group in groups_of(table, split_size=1)] == [1] * len(sizes)
    assert [group.num_tasks for group in groups_of(table, split_size=2 * cost, file_open_cost=cost)] == [2, 1]
    assert [group.num_tasks for group in groups_of(table, split_size=3 * cost, file_open_cost=cost)] == [3]


def test_packing_follows_options_then_properties(new_table):
    table = new_table(
        properties={
            "read.split.target-size": "100",
            "read.split.planning-lookback": "3",
            "read.split.open-file-cost": "7",
        }
    )
    assert table.scan().packing() == Packing(100, 3, 7)
    options = {"split-size": "5", "lookback": "1", "file-open-cost": "2"}
    assert table.scan(options=options).packing() == Packing(5, 1, 2)
    with pytest.raises(ValidationError, match="lookback"):
        table.scan(options={"lookback": "0"}).packing()


def test_task_group_carries_the_deletes_of_its_tasks(deleted):
    groups = list(deleted.scan().plan().groups(Packing(1)))
    assert sorted(group.deletes.num_rows for group in groups) == [0, 1]
    for group in groups:
        runs = group.files.column("deletes").to_pylist()
        assert runs == [[{"first": 0, "count": 1}] if group.deletes.num_rows else []]
