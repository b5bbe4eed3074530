"""Compaction of 1,000 small files, packed and sorted, each round from the same snapshot of a table for each contender."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.case import Case
from peers.cases.deletes import folder
from peers.cases.many_files import table_of_files
from peers.spark_session import JVM_WARM_UPS, java_session, plain_session
from peers.tables import NAMESPACE, catalog

FILES, ROWS = 1_000, 1_000
SORTED_BY = "customer"
CONTENDERS = ("icefloe", "icefloe on Spark", "Java runtime")


@dataclass
class Compaction:
    """A compaction, which is undone between rounds without being timed.

    Attributes:
        compact: Compacts the table and returns the number of rewritten files.
        undo: Rolls the table back to its start.
        rows: Returns the table's rows as an Arrow table.
    """

    compact: Callable[[], int]
    undo: Callable[[], object]
    rows: Callable[[], Any]
    left: Any = None

    def __call__(self) -> int:
        return self.compact()

    def reset(self) -> None:
        if self.left is None:
            self.left = self.rows()
        self.undo()

    def outcome(self) -> Any:
        return self.left


def table_name(contender: str) -> str:
    return f"compaction_{contender.replace(' ', '_').lower()}"


def prepare(data: Path) -> None:
    for contender in CONTENDERS:
        name = table_name(contender)
        if table_of_files(data, name, FILES, ROWS) is not None:
            (folder(data, name) / ".done").touch()


def loaded(data: Path, contender: str) -> Any:
    return catalog(data).load_table((NAMESPACE, table_name(contender)))


def by_icefloe(data: Path, contender: str, compact: Callable[[Any], int]) -> Compaction:
    start = loaded(data, contender).current_snapshot().snapshot_id
    return Compaction(
        compact=lambda: compact(loaded(data, contender)),
        undo=lambda: loaded(data, contender).manage_snapshots().rollback_to_snapshot(start).commit(),
        rows=lambda: loaded(data, contender).scan().to_arrow(),
    )


def icefloe(is_sorted: bool):
    def compact(table: Any) -> int:
        rewrite = table.maintenance.rewrite_data_files()
        result = (rewrite.sort(SORTED_BY) if is_sorted else rewrite.binpack()).execute()
        return int(result.rewritten_data_files_count)

    return lambda data: by_icefloe(data, "icefloe", compact)


def icefloe_on_spark(is_sorted: bool):
    def setup(data: Path) -> Compaction:
        import icefloe.spark

        spark = plain_session()
        order = {"strategy": "sort", "sort_order": SORTED_BY} if is_sorted else {}

        def compact(table: Any) -> int:
            row = icefloe.spark.call("system.rewrite_data_files", table=table, spark=spark, **order)
            return int(row["rewritten_data_files_count"])

        return by_icefloe(data, "icefloe on Spark", compact)

    return setup


def java(is_sorted: bool):
    def setup(data: Path) -> Compaction:
        spark, name = java_session(data), f"{NAMESPACE}.{table_name('Java runtime')}"
        start = spark.sql(f"SELECT snapshot_id FROM ref.{name}.history ORDER BY made_current_at DESC").first()[0]
        order = f", strategy => 'sort', sort_order => '{SORTED_BY}'" if is_sorted else ""
        return Compaction(
            compact=lambda: spark.sql(f"CALL ref.system.rewrite_data_files(table => '{name}'{order})").first()[0],
            undo=lambda: spark.sql(f"CALL ref.system.rollback_to_snapshot('{name}', {start})").first(),
            rows=lambda: spark.table(f"ref.{name}").toArrow(),
        )

    return setup


CASES = [
    Case(
        name=name,
        what=f"{what} of {FILES:,} files of {ROWS:,} rows x 6 columns, commit included",
        prepare=prepare,
        contenders=dict(zip(CONTENDERS, (icefloe(order), icefloe_on_spark(order), java(order)), strict=True)),
        warm_ups={"icefloe": 1, "icefloe on Spark": JVM_WARM_UPS, "Java runtime": JVM_WARM_UPS},
        rounds=15,
    )
    for name, what, order in (("compaction", "packing", False), ("compaction_sorted", f"sort by {SORTED_BY}", True))
]
