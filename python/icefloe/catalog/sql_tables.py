"""The two tables of a SQL catalog.

The layout is the one that other engines' JDBC and SQL catalogs share: version 1 has a column `iceberg_type`, version 0
has not; both are read and written.
"""

from __future__ import annotations

from sqlalchemy import Column, MetaData, String, Table

TABLE_TYPE = "TABLE"

layout = MetaData()
tables = Table(
    "iceberg_tables",
    layout,
    Column("catalog_name", String(255), primary_key=True),
    Column("table_namespace", String(255), primary_key=True),
    Column("table_name", String(255), primary_key=True),
    Column("metadata_location", String(1000)),
    Column("previous_metadata_location", String(1000)),
    Column("iceberg_type", String(5)),
)
namespace_properties = Table(
    "iceberg_namespace_properties",
    layout,
    Column("catalog_name", String(255), primary_key=True),
    Column("namespace", String(255), primary_key=True),
    Column("property_key", String(255), primary_key=True),
    Column("property_value", String(1000)),
)
