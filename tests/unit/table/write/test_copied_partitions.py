"""Pages that copy-on-write changes of partitioned tables, deletes and overwrites copy."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import BucketTransform, IdentityTransform, TruncateTransform

from tests.unit.table.write.tables_of_many_types import (
    KINDS,
    METRICS,
    comparable,
    encode_all,
    files_of,
    row_groups,
    rows_of,
    table_of,
)

ROWS = 130_000
PARTITIONS = {
    "identity": IdentityTransform(),
    "bucket": BucketTransform(2),
    "truncate": TruncateTransform(2),
}


def partitioned(catalog, name, rows, transform, properties=None):
    schema = rows.schema
    spec = PartitionSpec(PartitionField(2, 1000, transform, "part"), spec_id=0)
    table = catalog.create_table(f"db.{name}", schema, partition_spec=spec, properties=properties or {})
    table.append(rows)
    return table


def rows_in_partitions(rng, names, start, count, partitions):
    rows = rows_of(rng, names, start, count)
    part = pa.array([partitions[row % len(partitions)] for row in range(start, start + count)], pa.int32())
    return rows.add_column(1, "p", part)


def groups_of(table):
    """Return the rows of the row groups of each file, in the order of the files' partitions."""
    found = []
    files = table.inspect.files().select(["file_path", "partition"]).to_pylist()
    for file in sorted(files, key=lambda file: str(file["partition"])):
        metadata = pq.read_metadata(file["file_path"].removeprefix("file://"))
        found.append([metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)])
    return found


def described(table):
    files = table.inspect.files().select(["partition", "spec_id", *METRICS]).to_pylist()
    return sorted(files, key=lambda file: str(file["partition"]))


@pytest.mark.parametrize("transform", PARTITIONS)
@pytest.mark.parametrize("seed", range(3))
def test_change_of_a_partitioned_table_leaves_the_same_rows_and_metrics(catalog, monkeypatch, seed, transform):
    rng = random.Random(seed)
    names = rng.choices(list(KINDS), k=rng.randint(1, 4))
    partitions = rng.choice([[None, 1], [4, 5], [0, -7]])
    rows = rows_in_partitions(rng, names, 0, 2 * ROWS, partitions)
    source = rows_in_partitions(rng, names, 2 * ROWS - 3_000, 6_000, partitions)
    tables = []
    for name in ("copied", "encoded"):
        table = partitioned(catalog, name, rows, PARTITIONS[transform])
        if name == "encoded":
            encode_all(monkeypatch)
        table.upsert(source, join_cols=["id"])
        tables.append(table)
    copied, encoded = tables
    assert comparable(copied.scan().to_arrow()) == comparable(encoded.scan().to_arrow())
    assert described(copied) == described(encoded)
    by_others = pa.concat_tables([pq.ParquetFile(path).read() for path in files_of(copied)])
    assert comparable(by_others) == comparable(encoded.scan().to_arrow())
    assert max(len(groups) for groups in groups_of(copied)) > 1
    assert all(len(groups) == 1 for groups in groups_of(encoded))
    for part in partitions:
        condition = "p is null" if part is None else f"p = {part}"
        bounded = [table.scan(row_filter=f"{condition} and id > {2 * ROWS - 20_000}").to_arrow() for table in tables]
        assert comparable(bounded[0]) == comparable(bounded[1])


def flat_rows(start, count, partitions=2):
    ids = range(start, start + count)
    columns = {"id": pa.array(ids, pa.int64()), "p": pa.array([row % partitions for row in ids], pa.int32())}
    return pa.table({**columns, "v": pa.array([f"v{row % 100}" for row in ids])})


def test_pages_are_copied_to_the_file_of_their_partition(catalog):
    table = partitioned(catalog, "t", flat_rows(0, 400_000), IdentityTransform())
    source = flat_rows(399_990, 20).set_column(2, "v", pa.array(["new"] * 20))
    table.upsert(source, join_cols=["id"])
    assert groups_of(table) == [[20_005, 180_000], [20_005, 180_000]]
    for part in (0, 1):
        found = table.scan(row_filter=f"p = {part}").to_arrow().sort_by("id")
        assert found.column("id").to_pylist() == list(range(part, 400_010, 2))
        assert found.slice(199_995).column("v").to_pylist() == ["new"] * 10


def test_pages_of_a_file_of_another_spec_are_not_copied(catalog):
    table = partitioned(catalog, "t", flat_rows(0, 400_000), IdentityTransform())
    with table.update_spec() as update:
        update.add_field("id", BucketTransform(2), "b")
    table.upsert(flat_rows(399_990, 1).set_column(2, "v", pa.array(["new"])), join_cols=["id"])
    assert sorted(len(groups) for groups in groups_of(table)) == [1, 1, 1]
    assert table.scan().to_arrow().sort_by("id").column("id").to_pylist() == list(range(400_000))


@pytest.mark.parametrize("partitions", [1, 2])
@pytest.mark.parametrize("change", ["delete", "overwrite"])
def test_filter_that_removes_rows_copies_the_pages_of_the_others(catalog, monkeypatch, change, partitions):
    rows = flat_rows(0, 200_000 * partitions, partitions)
    last = rows.num_rows - 2_000
    added = flat_rows(last, 30, partitions)
    tables = []
    for name in ("copied", "encoded"):
        table = partitioned(catalog, name, rows, IdentityTransform())
        if name == "encoded":
            encode_all(monkeypatch)
        if change == "delete":
            table.delete(f"id >= {last} and v != 'v7'")
        else:
            table.overwrite(added, overwrite_filter=f"id >= {last} and v != 'v7'")
        tables.append(table)
    copied, encoded = tables
    assert comparable(copied.scan().to_arrow()) == comparable(encoded.scan().to_arrow())
    assert described_rows(copied) == described_rows(encoded)
    copied_groups = [groups for groups in groups_of(copied) if len(groups) > 1]
    assert [groups[-1] for groups in copied_groups] == [180_000] * partitions
    assert all(len(groups) == 1 for groups in groups_of(encoded))


def described_rows(table):
    return sorted(map(str, described(table)))


def test_delete_of_few_rows_copies_all_pages_of_an_unpartitioned_table(catalog):
    table = table_of(catalog, "t", flat_rows(0, 300_000), {})
    table.delete("id < 20000")
    assert row_groups(table) == [280_000]
    (path,) = files_of(table)
    assert pq.read_table(path).column("id").to_pylist() == list(range(20_000, 300_000))
    assert table.scan().to_arrow().sort_by("id") == flat_rows(20_000, 280_000)
