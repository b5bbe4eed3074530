"""Reading lineitem: all of it, four of its columns, and what TPC-H Q6 needs of it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from peers.case import Case, Work
from peers.tables import data_files, lineitem_table, metadata_file

Q6 = (
    "l_shipdate >= '1994-01-01' and l_shipdate < '1995-01-01' "
    "and l_discount >= 0.05 and l_discount <= 0.07 and l_quantity < 24"
)
Q6_COLUMNS = ("l_extendedprice", "l_discount")
FOUR_COLUMNS = ("l_orderkey", "l_quantity", "l_shipdate", "l_comment")
Q6_SQL = (
    "l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' "
    "and l_discount >= 0.05 and l_discount <= 0.07 and l_quantity < 24"
)


def prepare(data: Path) -> None:
    lineitem_table(data)


def icefloe_scan(data: Path, row_filter: str | None = None, columns: tuple[str, ...] = ("*",)):
    from icefloe.table import StaticTable

    table = StaticTable.from_metadata(metadata_file(lineitem_table(data)))
    return (
        table.scan(selected_fields=columns) if row_filter is None else table.scan(row_filter, selected_fields=columns)
    )


def icefloe_to_arrow(data: Path) -> Work:
    return lambda: icefloe_scan(data).to_arrow().num_rows


def icefloe_to_polars(data: Path) -> Work:
    return lambda: icefloe_scan(data).to_polars().height


def icefloe_filtered(data: Path) -> Work:
    return lambda: icefloe_scan(data, Q6, Q6_COLUMNS).to_arrow().num_rows


def icefloe_filtered_to_polars(data: Path) -> Work:
    return lambda: icefloe_scan(data, Q6, Q6_COLUMNS).to_polars().height


def icefloe_projected(data: Path) -> Work:
    return lambda: icefloe_scan(data, columns=FOUR_COLUMNS).to_arrow().num_rows


def icefloe_projected_to_polars(data: Path) -> Work:
    return lambda: icefloe_scan(data, columns=FOUR_COLUMNS).to_polars().height


def pyiceberg_table(data: Path):
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(metadata_file(lineitem_table(data)))


def pyiceberg_to_arrow(data: Path) -> Work:
    return lambda: pyiceberg_table(data).scan().to_arrow().num_rows


def pyiceberg_filtered(data: Path) -> Work:
    return lambda: pyiceberg_table(data).scan(Q6, selected_fields=Q6_COLUMNS).to_arrow().num_rows


def pyiceberg_projected(data: Path) -> Work:
    return lambda: pyiceberg_table(data).scan(selected_fields=FOUR_COLUMNS).to_arrow().num_rows


def polars_filter():
    import polars as pl

    day = pl.col("l_shipdate")
    return (
        (day >= dt.date(1994, 1, 1))
        & (day < dt.date(1995, 1, 1))
        & (pl.col("l_discount") >= 0.05)
        & (pl.col("l_discount") <= 0.07)
        & (pl.col("l_quantity") < 24)
    )


def polars_parquet(data: Path) -> Work:
    import polars as pl

    files = data_files(lineitem_table(data))
    return lambda: pl.scan_parquet(files).collect().height


def polars_parquet_filtered(data: Path) -> Work:
    import polars as pl

    files = data_files(lineitem_table(data))
    return lambda: pl.scan_parquet(files).filter(polars_filter()).select(Q6_COLUMNS).collect().height


def polars_parquet_projected(data: Path) -> Work:
    import polars as pl

    files = data_files(lineitem_table(data))
    return lambda: pl.scan_parquet(files).select(FOUR_COLUMNS).collect().height


def polars_iceberg(data: Path) -> Work:
    import polars as pl

    return lambda: pl.scan_iceberg(metadata_file(lineitem_table(data))).collect().height


def polars_iceberg_filtered(data: Path) -> Work:
    import polars as pl

    location = metadata_file(lineitem_table(data))
    return lambda: pl.scan_iceberg(location).filter(polars_filter()).select(Q6_COLUMNS).collect().height


def polars_iceberg_projected(data: Path) -> Work:
    import polars as pl

    location = metadata_file(lineitem_table(data))
    return lambda: pl.scan_iceberg(location).select(FOUR_COLUMNS).collect().height


def duckdb_connection():
    import duckdb
    import duckdb_extensions

    connection = duckdb.connect()
    for name in ("avro", "iceberg"):
        duckdb_extensions.import_extension(name, con=connection)
    return connection


def duckdb_to_arrow(data: Path) -> Work:
    connection, location = duckdb_connection(), metadata_file(lineitem_table(data))
    return lambda: connection.execute(f"select * from iceberg_scan('{location}')").to_arrow_table().num_rows


def duckdb_filtered(data: Path) -> Work:
    connection, location = duckdb_connection(), metadata_file(lineitem_table(data))
    query = f"select {', '.join(Q6_COLUMNS)} from iceberg_scan('{location}') where {Q6_SQL}"
    return lambda: connection.execute(query).to_arrow_table().num_rows


def duckdb_projected(data: Path) -> Work:
    connection, location = duckdb_connection(), metadata_file(lineitem_table(data))
    query = f"select {', '.join(FOUR_COLUMNS)} from iceberg_scan('{location}')"
    return lambda: connection.execute(query).to_arrow_table().num_rows


def pyarrow_to_table(data: Path) -> Work:
    import pyarrow.dataset as ds

    files = data_files(lineitem_table(data))
    return lambda: ds.dataset(files).to_table().num_rows


CASES = [
    Case(
        name="full_scan",
        what="TPC-H SF1 lineitem, 6.0M rows x 16 columns, into memory",
        prepare=prepare,
        contenders={
            "icefloe to_arrow": icefloe_to_arrow,
            "icefloe to_polars": icefloe_to_polars,
            "polars scan_parquet": polars_parquet,
            "polars scan_iceberg": polars_iceberg,
            "pyiceberg to_arrow": pyiceberg_to_arrow,
            "pyarrow dataset": pyarrow_to_table,
            "duckdb iceberg_scan": duckdb_to_arrow,
        },
    ),
    Case(
        name="projected_scan",
        what="four of the 16 columns of the same table, one of them text",
        prepare=prepare,
        contenders={
            "icefloe to_arrow": icefloe_projected,
            "icefloe to_polars": icefloe_projected_to_polars,
            "polars scan_parquet": polars_parquet_projected,
            "polars scan_iceberg": polars_iceberg_projected,
            "pyiceberg to_arrow": pyiceberg_projected,
            "duckdb iceberg_scan": duckdb_projected,
        },
    ),
    Case(
        name="filtered_scan",
        what="the filter and two columns of TPC-H Q6 on the same table",
        prepare=prepare,
        contenders={
            "icefloe to_arrow": icefloe_filtered,
            "icefloe to_polars": icefloe_filtered_to_polars,
            "polars scan_parquet": polars_parquet_filtered,
            "polars scan_iceberg": polars_iceberg_filtered,
            "pyiceberg to_arrow": pyiceberg_filtered,
            "duckdb iceberg_scan": duckdb_filtered,
        },
    ),
]
