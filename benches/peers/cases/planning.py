"""Planning a scan of 100,000 data files in ten manifests."""

from __future__ import annotations

from pathlib import Path

from peers.case import Case, Work
from peers.metadata_only import metadata_only_table
from peers.tables import metadata_file

FILTER = "day >= '2022-06-01' and day < '2022-07-01' and id > 1000000000"


def prepare(data: Path) -> None:
    metadata_only_table(data)


def icefloe(row_filter: str | None):
    def setup(data: Path) -> Work:
        from icefloe.table import StaticTable

        location = metadata_file(metadata_only_table(data))

        def work() -> int:
            table = StaticTable.from_metadata(location)
            scan = table.scan() if row_filter is None else table.scan(row_filter)
            return sum(1 for _ in scan.plan_files())

        return work

    return setup


def icefloe_columns(data: Path) -> Work:
    from icefloe.table import StaticTable

    location = metadata_file(metadata_only_table(data))
    return lambda: StaticTable.from_metadata(location).scan().plan().files.num_rows


def pyiceberg(row_filter: str | None):
    def setup(data: Path) -> Work:
        from pyiceberg.table import StaticTable

        location = metadata_file(metadata_only_table(data))

        def work() -> int:
            table = StaticTable.from_metadata(location)
            scan = table.scan() if row_filter is None else table.scan(row_filter)
            return sum(1 for _ in scan.plan_files())

        return work

    return setup


def duckdb(data: Path) -> Work:
    from peers.cases.scan import duckdb_connection

    connection, location = duckdb_connection(), metadata_file(metadata_only_table(data))
    query = f"select count(*) from iceberg_metadata('{location}')"
    return lambda: connection.execute(query).fetchone()[0]


CASES = [
    Case(
        name="planning",
        what="plan 100,000 files in 10 manifests, no filter",
        prepare=prepare,
        contenders={
            "icefloe plan_files, as objects": icefloe(None),
            "icefloe plan, as columns": icefloe_columns,
            "duckdb iceberg_metadata": duckdb,
            "pyiceberg plan_files": pyiceberg(None),
        },
        rounds=3,
    ),
    Case(
        name="planning_filtered",
        what="the same with a filter of three terms on partition and bounds",
        prepare=prepare,
        contenders={"icefloe plan_files": icefloe(FILTER), "pyiceberg plan_files": pyiceberg(FILTER)},
        rounds=3,
    ),
]
