"""Tables of streams."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.spark.stream import admission
from icefloe.spark.stream.limits import Limits
from icefloe.table.update.actions import RemoveSnapshotsUpdate
from icefloe.transforms import IdentityTransform
from pyspark.sql import types as T  # noqa: N812

SCHEMA = T.StructType([T.StructField("id", T.LongType()), T.StructField("kind", T.IntegerType())])
HAS_ADMISSION_CONTROL = admission.ignores_limits(None) or admission.read_limit(Limits(files=1)) is not None
BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))


def numbered(start, end, kinds=1):
    """Return rows with the ids of a range, in as many partitions as there are kinds."""
    ids = range(start, end)
    return pa.table({"id": pa.array(ids, pa.int64()), "kind": pa.array([one % kinds for one in ids], pa.int32())})


def expire(table, *snapshots):
    """Remove snapshots from the metadata."""
    table.transaction().apply_updates((RemoveSnapshotsUpdate(snapshot_ids=snapshots),)).commit_transaction()


def ids_of(table):
    """Return the ids of a table's snapshots, oldest first."""
    return [entry.snapshot_id for entry in table.history()]


def forget_commit(tmp_path, batch):
    """Remove a micro-batch from Spark's log of commits, as a crash between the table's commit and Spark's leaves it."""
    commits = tmp_path / "checkpoint" / "commits"
    (commits / str(batch)).unlink()
    (commits / f".{batch}.crc").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def lake_options(catalog):
    """Return the options of the catalog."""
    given = {key: catalog.properties[key] for key in ("uri", "warehouse")}
    return {"catalog": "lake", "catalog.type": "sql", **{f"catalog.{key}": value for key, value in given.items()}}


@pytest.fixture
def table(new_table):
    """Return an empty table partitioned by kind."""
    return new_table(SCHEMA, BY_KIND)


@pytest.fixture
def options(table, lake_options):
    """Return the options of the table."""
    return {**lake_options, "path": ".".join(table.name())}
