"""Reading in Spark: lineitem, whole and with one percent of its rows deleted by position, and ten million rows with equality deletes."""

from __future__ import annotations

from pathlib import Path

from peers.case import Case, Work
from peers.cases.deletes import clean_snapshot, prepare_keys
from peers.spark_session import JVM_WARM_UPS, java_session, plain_session, to_noop
from peers.tables import NAMESPACE, catalog, data_files, lineitem_table, once

DELETED = "lineitem_deleted"
KEYS = "keys"
# One part in a hundred: their line items are one row in a hundred, all over the files.
DELETE_FILTER = "l_partkey <= 2000"


def deleted_table(data: Path) -> Path:
    """Lineitem again, with position deletes for one percent of its rows."""
    folder = data / "warehouse" / NAMESPACE / DELETED
    if once(folder / ".done"):
        tables = catalog(data)
        if tables.table_exists((NAMESPACE, DELETED)):
            tables.drop_table((NAMESPACE, DELETED))
        source = tables.load_table((NAMESPACE, "lineitem"))
        table = tables.create_table(
            (NAMESPACE, DELETED),
            schema=source.schema(),
            properties={**source.properties, "write.delete.mode": "merge-on-read"},
        )
        table.append(source.scan().to_arrow_batch_reader())
        table.delete(DELETE_FILTER)
        (folder / ".done").touch()
    return folder


def prepare(data: Path) -> None:
    lineitem_table(data)


def prepare_deleted(data: Path) -> None:
    lineitem_table(data)
    deleted_table(data)


def prepare_keys_table(data: Path) -> None:
    prepare_keys(data, KEYS)


def icefloe(name: str, *, clean: bool = False):
    def setup(data: Path) -> Work:
        import icefloe.spark

        spark = plain_session()
        snapshot = clean_snapshot(data, name) if clean else None
        rows = catalog(data).load_table((NAMESPACE, name)).scan(snapshot_id=snapshot).count()

        def work() -> int:
            table = catalog(data).load_table((NAMESPACE, name))
            to_noop(icefloe.spark.read(table, spark=spark, snapshot_id=snapshot))
            return rows

        return work

    return setup


def parquet(name: str):
    def setup(data: Path) -> Work:
        spark = plain_session()
        files = data_files(data / "warehouse" / NAMESPACE / name)
        files = [file for file in files if not file.endswith("-deletes.parquet")]
        rows = spark.read.parquet(*files).count()

        def work() -> int:
            to_noop(spark.read.parquet(*files))
            return rows

        return work

    return setup


def java(name: str):
    def setup(data: Path) -> Work:
        spark = java_session(data)
        rows = spark.table(f"ref.{NAMESPACE}.{name}").count()

        def work() -> int:
            to_noop(spark.table(f"ref.{NAMESPACE}.{name}"))
            return rows

        return work

    return setup


CASES = [
    Case(
        name="spark_scan",
        what="Spark, local[2]: every column of lineitem to noop",
        prepare=prepare,
        warm_ups=JVM_WARM_UPS,
        contenders={
            "icefloe": icefloe("lineitem"),
            "plain Spark": parquet("lineitem"),
            "Java runtime": java("lineitem"),
        },
    ),
    Case(
        name="spark_scan_deletes",
        what="the same with 1% of the rows deleted by position",
        prepare=prepare_deleted,
        warm_ups=JVM_WARM_UPS,
        contenders={
            "icefloe": icefloe(DELETED),
            "Java runtime": java(DELETED),
            "plain Spark": parquet(DELETED),
        },
        floors=frozenset({"plain Spark"}),
    ),
    Case(
        name="spark_scan_equality_deletes",
        what="Spark, local[2]: 10M rows x 6 columns, 10,000 equality delete keys of two columns, to noop",
        prepare=prepare_keys_table,
        warm_ups=JVM_WARM_UPS,
        contenders={
            "icefloe": icefloe(KEYS),
            "Java runtime": java(KEYS),
            "icefloe, clean": icefloe(KEYS, clean=True),
        },
        floors=frozenset({"icefloe, clean"}),
    ),
]
