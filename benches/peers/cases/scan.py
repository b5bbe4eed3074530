"""Reading lineitem: all of it, four of its columns, and the rows of TPC-H Q6; of files of four writers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.case import Case, Setup
from peers.tables import data_files, lineitem_table, metadata_file
from peers.writers import duckdb_lineitem, pyiceberg_lineitem, spark_lineitem

# Returns the directory of a table of lineitem, which it writes first if necessary.
Lineitem = Callable[[Path], Path]

Q6_TEXT = (
    "l_shipdate >= '1994-01-01' and l_shipdate < '1995-01-01' "
    "and l_discount >= 0.05 and l_discount <= 0.07 and l_quantity < 24"
)
Q6_SQL = Q6_TEXT.replace("'1994", "date '1994").replace("'1995", "date '1995")


@dataclass(frozen=True)
class Query:
    """A selection of columns (all for an empty tuple), and whether the filter of Q6 applies."""

    columns: tuple[str, ...] = ()
    q6: bool = False

    def scan(self, table: Any) -> Any:
        """Return the scan of an icefloe or PyIceberg table, which have the same names."""
        options = {"row_filter": Q6_TEXT} if self.q6 else {}
        return table.scan(selected_fields=self.columns or ("*",), **options)

    def frame(self, frame: Any) -> Any:
        frame = frame.filter(polars_q6()) if self.q6 else frame
        return (frame.select(self.columns) if self.columns else frame).collect()

    def sql(self, location: str) -> str:
        return f"select {', '.join(self.columns) or '*'} from iceberg_scan('{location}')" + (
            f" where {Q6_SQL}" if self.q6 else ""
        )


def polars_q6() -> Any:
    import polars as pl

    day = pl.col("l_shipdate")
    return (
        (day >= dt.date(1994, 1, 1))
        & (day < dt.date(1995, 1, 1))
        & (pl.col("l_discount") >= 0.05)
        & (pl.col("l_discount") <= 0.07)
        & (pl.col("l_quantity") < 24)
    )


def icefloe(lineitem: Lineitem, query: Query, into: Callable[[Any], Any]) -> Setup:
    def setup(data: Path) -> Any:
        from icefloe.table import StaticTable

        location = metadata_file(lineitem(data))
        return lambda: into(query.scan(StaticTable.from_metadata(location)))

    return setup


def pyiceberg(lineitem: Lineitem, query: Query) -> Setup:
    def setup(data: Path) -> Any:
        from pyiceberg.table import StaticTable

        location = metadata_file(lineitem(data))
        return lambda: query.scan(StaticTable.from_metadata(location)).to_arrow()

    return setup


def polars_parquet(lineitem: Lineitem, query: Query) -> Setup:
    def setup(data: Path) -> Any:
        import polars as pl

        files = data_files(lineitem(data))
        return lambda: query.frame(pl.scan_parquet(files))

    return setup


def polars_iceberg(lineitem: Lineitem, query: Query) -> Setup:
    def setup(data: Path) -> Any:
        import polars as pl

        location = metadata_file(lineitem(data))
        return lambda: query.frame(pl.scan_iceberg(location))

    return setup


def duckdb_connection() -> Any:
    import duckdb
    import duckdb_extensions

    connection = duckdb.connect()
    for name in ("avro", "iceberg"):
        duckdb_extensions.import_extension(name, con=connection)
    return connection


def duckdb(lineitem: Lineitem, query: Query) -> Setup:
    def setup(data: Path) -> Any:
        connection, location = duckdb_connection(), metadata_file(lineitem(data))
        return lambda: connection.execute(query.sql(location)).to_arrow_table()

    return setup


def pyarrow_dataset(lineitem: Lineitem) -> Setup:
    def setup(data: Path) -> Any:
        import pyarrow.dataset as ds

        files = data_files(lineitem(data))
        return lambda: ds.dataset(files).to_table()

    return setup


QUERIES = {
    "full_scan": ("6.0M rows x 16 columns", Query()),
    "projected_scan": (
        "four of the 16 columns, one of them text",
        Query(("l_orderkey", "l_quantity", "l_shipdate", "l_comment")),
    ),
    "filtered_scan": ("the filter and two columns of Q6", Query(("l_extendedprice", "l_discount"), q6=True)),
}
WRITERS: dict[str, tuple[str, Lineitem]] = {
    "": ("icefloe's files", lineitem_table),
    "_pyiceberg": ("8 files by PyIceberg", pyiceberg_lineitem),
    "_duckdb": ("8 files by DuckDB", duckdb_lineitem),
    "_spark": ("8 files by Spark and the Java runtime", spark_lineitem),
}


def case(name: str, what: str, query: Query, lineitem: Lineitem) -> Case:
    contenders = {
        "icefloe to_arrow": icefloe(lineitem, query, lambda scan: scan.to_arrow()),
        "icefloe to_polars": icefloe(lineitem, query, lambda scan: scan.to_polars()),
        "polars scan_parquet": polars_parquet(lineitem, query),
        "polars scan_iceberg": polars_iceberg(lineitem, query),
        "pyiceberg to_arrow": pyiceberg(lineitem, query),
        "duckdb iceberg_scan": duckdb(lineitem, query),
    }
    if query == Query():
        contenders["pyarrow dataset"] = pyarrow_dataset(lineitem)
    return Case(name, what, prepare=lambda data: lineitem(data) and None, contenders=contenders)


CASES = [
    case(f"{name}{suffix}", f"TPC-H SF1 lineitem, {what}, {files}, into memory", query, lineitem)
    for name, (what, query) in QUERIES.items()
    for suffix, (files, lineitem) in WRITERS.items()
]
