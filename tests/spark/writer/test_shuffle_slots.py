"""Slots against the partitions that Spark sends their rows to."""

import pytest
from icefloe.spark.writer.shuffle_slots import slots
from pyspark.sql import functions as F  # noqa: N812


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_slots_go_to_their_partitions(spark, count):
    rows = [(place, slot) for place, slot in enumerate(slots(count))]
    frame = spark.createDataFrame(rows, "place int, slot int").repartition(count, "slot")
    assert {row[0]: row[1] for row in frame.select("place", F.spark_partition_id()).collect()} == dict(
        zip(range(count), range(count), strict=True)
    )
