"""The catalogs of the conformance suite. A catalog enters by its class in this list."""

from __future__ import annotations

from tests.catalogs.conformance.catalog_under_test import CatalogUnderTest
from tests.catalogs.conformance.glue_entry import Glue
from tests.catalogs.conformance.hadoop_entries import AzureHadoop, GcsHadoop, LocalHadoop, S3Hadoop
from tests.catalogs.conformance.hive_entries import HiveWithLocks, HiveWithoutLocks
from tests.catalogs.conformance.memory_entry import Memory
from tests.catalogs.conformance.rest_entries import Rest
from tests.catalogs.conformance.sql_entries import MariaDb, Postgres, Sqlite

ENTRIES: tuple[type[CatalogUnderTest], ...] = (
    Memory,
    Sqlite,
    Postgres,
    MariaDb,
    LocalHadoop,
    S3Hadoop,
    AzureHadoop,
    GcsHadoop,
    Rest,
    HiveWithLocks,
    HiveWithoutLocks,
    Glue,
)
