"""Catalogs, which map table names to tables."""

from icefloe.catalog.catalog import Catalog, PropertiesUpdateSummary
from icefloe.catalog.configuration import (
    BOTOCORE_SESSION,
    EXTERNAL_TABLE,
    ICEBERG,
    LOCATION,
    MANIFEST,
    MANIFEST_LIST,
    METADATA,
    METADATA_LOCATION,
    PREVIOUS_METADATA,
    PREVIOUS_METADATA_LOCATION,
    PY_CATALOG_IMPL,
    TABLE_TYPE,
    TOKEN,
    TYPE,
    URI,
    WAREHOUSE_LOCATION,
    list_catalogs,
)
from icefloe.catalog.load import load_catalog, load_in_memory, load_rest, load_sql

__all__ = [
    "BOTOCORE_SESSION",
    "EXTERNAL_TABLE",
    "ICEBERG",
    "LOCATION",
    "MANIFEST",
    "MANIFEST_LIST",
    "METADATA",
    "METADATA_LOCATION",
    "PREVIOUS_METADATA",
    "PREVIOUS_METADATA_LOCATION",
    "PY_CATALOG_IMPL",
    "TABLE_TYPE",
    "TOKEN",
    "TYPE",
    "URI",
    "WAREHOUSE_LOCATION",
    "Catalog",
    "PropertiesUpdateSummary",
    "list_catalogs",
    "load_catalog",
    "load_in_memory",
    "load_rest",
    "load_sql",
]
