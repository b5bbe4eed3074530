"""Files that Spark writes are sorted by the table's sort order and record it, in every distribution mode and by every verb."""

from __future__ import annotations

import math
from itertools import pairwise

import icefloe.spark
import pyarrow.parquet as pq
import pytest
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

SCHEMA = T.StructType(
    [T.StructField("id", T.LongType()), T.StructField("name", T.StringType()), T.StructField("ratio", T.DoubleType())]
)
ORDER = SortOrder(
    SortField(2, "identity", SortDirection.DESC, NullOrder.NULLS_LAST),
    SortField(3, "identity", SortDirection.ASC, NullOrder.NULLS_FIRST),
)
SPEC = PartitionSpec(PartitionField(1, 1000, "bucket[2]", "id_bucket"))


def frame(spark, first, last):
    number = F.col("id")
    name = F.when(number % 5 == 0, F.lit(None)).otherwise(F.concat(F.lit("n"), (number % 7).cast("string")))
    ratio = F.when(number % 4 == 0, F.lit(math.nan)).otherwise(-number / 2)
    return spark.range(last, first, -1).select("id", name.alias("name"), ratio.alias("ratio")).repartition(3)


def sort_key(row):
    name, ratio = row["name"], row["ratio"]
    return name is None, [-ord(each) for each in name or ""], math.isnan(ratio), 0.0 if math.isnan(ratio) else ratio


def check(table):
    files = table.refresh().scan().plan().files
    assert set(files.column("sort_order_id").to_pylist()) == {1}
    for path in files.column("file_path").to_pylist():
        found = pq.read_table(path, columns=["id", "name", "ratio"], partitioning=None).to_pylist()
        assert found == sorted(found, key=sort_key)
    return files


@pytest.mark.parametrize("spec", [PartitionSpec(), SPEC], ids=["unpartitioned", "partitioned"])
@pytest.mark.parametrize("mode", [None, "none", "hash", "range"])
def test_written_files_are_sorted_in_every_distribution_mode(spark, new_table, mode, spec):
    table = new_table(SCHEMA, spec, sort_order=ORDER)
    options = {} if mode is None else {"distribution-mode": mode}
    icefloe.spark.write(frame(spark, 0, 9), table, options=options)
    check(table)
    icefloe.spark.write(frame(spark, 0, 90), table, "overwrite", options)
    files = check(table)
    assert sum(files.column("record_count").to_pylist()) == 90
    if mode in {None, "hash"} and spec.fields:
        assert files.num_rows <= 4


def test_range_distribution_orders_the_files_of_an_unpartitioned_table(spark, new_table):
    table = new_table(SCHEMA, sort_order=SortOrder(SortField(1)))
    icefloe.spark.write(frame(spark, 0, 200), table, options={"distribution-mode": "range"})
    files = table.scan().plan().files.column("file_path").to_pylist()
    bounds = []
    for path in files:
        ids = pq.read_table(path, columns=["id"], partitioning=None).column("id").to_pylist()
        assert ids == sorted(ids)
        bounds.append((ids[0], ids[-1]))
    bounds.sort()
    assert all(earlier[1] < later[0] for earlier, later in pairwise(bounds))


@pytest.mark.parametrize("verb", ["merge", "update", "delete"])
@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_files_of_row_level_changes_are_sorted(spark, new_table, verb, mode):
    table = new_table(SCHEMA, SPEC, sort_order=ORDER)
    with table.transaction() as transaction:
        transaction.set_properties({f"write.{each}.mode": mode for each in ("delete", "update", "merge")})
    icefloe.spark.write(frame(spark, 0, 60), table)
    if verb == "merge":
        merge = icefloe.spark.merge_into(table, frame(spark, 40, 80), on=["id"])
        merge.when_matched_update_all().when_not_matched_insert_all().execute()
    elif verb == "update":
        icefloe.spark.update(table, {"name": "'changed'"}, "id > 30", spark=spark)
    else:
        icefloe.spark.delete_from(table, "id = 7", spark=spark)
    check(table)
