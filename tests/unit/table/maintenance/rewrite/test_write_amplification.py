"""Repeated small appends and compactions: the bytes that are rewritten, and the sizes of the new files."""

import os

import pyarrow as pa
import pytest
from icefloe.table.maintenance.groups.options import FileSizes

TARGET = 100_000
SIZES = FileSizes(TARGET, TARGET * 3 // 4, TARGET * 9 // 5)


def rows(start, count):
    texts = [os.urandom(8).hex() for _ in range(count)]
    return pa.table({"id": pa.array(range(start, start + count), pa.int64()), "text": texts})


def sizes_of(table):
    return table.inspect.files().column("file_size_in_bytes").to_pylist()


def bytes_of_java_rule(appended, overhead):
    """Return the bytes that the planner of the Java reference rewrites if a compaction follows each append.

    It rewrites the small files of a partition if they are five, or two and more bytes than the target. `overhead` is the
    bytes of a file of one row, which a rewrite saves for each file that it removes.
    """
    files, rewritten = [], 0
    for size in appended:
        files.append(size)
        small = [one for one in files if one < SIZES.smallest]
        if len(small) >= 5 or (len(small) >= 2 and sum(small) > SIZES.target):
            total = sum(small)
            count = SIZES.outputs(total)
            rewritten += total
            new = overhead + (total - len(small) * overhead) // count
            files = [one for one in files if one >= SIZES.smallest] + [new] * count
    return rewritten


@pytest.mark.parametrize("count", [300, 500, 1_500])
def test_small_appends_and_compactions_rewrite_no_more_than_the_java_rule(catalog, count):
    table = catalog.create_table("db.t", rows(0, 1).schema, properties={"write.target-file-size-bytes": str(TARGET)})
    table.append(rows(0, 1))
    (overhead,) = sizes_of(table)
    table.delete()
    appended, rewritten = [], 0
    for number in range(50):
        before = set(table.inspect.files().column("file_path").to_pylist())
        table.append(rows(number * count, count))
        files = table.inspect.files().select(["file_path", "file_size_in_bytes"]).to_pylist()
        appended += [one["file_size_in_bytes"] for one in files if one["file_path"] not in before]
        rewritten += table.maintenance.rewrite_data_files().execute().rewritten_bytes_count
    assert len(appended) == 50
    assert rewritten <= 1.2 * bytes_of_java_rule(appended, overhead)
    whole = [size for size in sizes_of(table) if size >= SIZES.smallest]
    assert len(whole) >= sum(appended) // (2 * TARGET)


def test_new_files_are_as_many_as_planned_and_near_the_target(catalog):
    table = catalog.create_table("db.t", rows(0, 1).schema)
    for number in range(10):
        table.append(rows(number * 10_000, 10_000))
    target = 500_000
    plan = table.maintenance.rewrite_data_files().options(target_file_size_bytes=target, rewrite_all=True).plan()
    table.maintenance.execute(plan)
    sizes = sizes_of(table)
    assert [len(sizes)] == plan.groups.column("new_files").to_pylist()
    assert all(0.8 * target <= size <= 1.2 * target for size in sizes[:-1])
