"""Hive catalogs, as entries of the conformance suite: with locks, and with conditional changes of metadata locations."""

from __future__ import annotations

import contextlib
from typing import ClassVar

from tests.catalogs.conformance.capabilities import ODD_NAMES, Capability
from tests.catalogs.conformance.catalog_under_test import CatalogUnderTest
from tests.catalogs.thrift_proxy import thrift_proxy

WORDS = {"upper case", "digits", "keyword"}
"""The keys of `ODD_NAMES` that are ASCII letters, digits and underscores, and short."""
TOO_LONG = dict.fromkeys(("255 characters", "256 characters"), "columns of names of databases hold 128 characters")
NO_CHARACTERS_OF_HIVE_4 = dict.fromkeys(
    (
        "backslash",
        "control character",
        "delete character",
        "non-character",
        "accent",
        "decomposed accent",
        "ideographs",
        "emoji",
    ),
    "a metastore of release 4 stores printable ASCII characters other than a backslash",
)
TRIMMED = {"space at the end": "a metastore removes spaces at the ends"}
DOTS = dict.fromkeys(
    ("dot", "two dots", "hidden", "dot at the end"),
    "a metastore reads a dot in a table's name as the end of a database's",
)


class Hive(CatalogUnderTest):
    """A catalog in a real Hive Metastore."""

    lacks: ClassVar = {
        Capability.NESTED_NAMESPACES: "a metastore has one level of databases",
        Capability.NAMESPACE_PROPERTY_RACES: "a metastore replaces a database without a condition",
    }
    fixture: ClassVar[str]
    settings: ClassVar[dict[str, str]]

    @property
    def properties(self) -> dict[str, str]:
        server = self.request.getfixturevalue(self.fixture)
        warehouse = str(self.directory / "warehouse")
        return {"type": "hive", "uri": server.uri(), "warehouse": warehouse, **self.settings}

    def stored(self, name):
        return name.lower()

    @contextlib.contextmanager
    def losing_replies(self):
        server = self.request.getfixturevalue(self.fixture)
        with thrift_proxy(server.port) as line:
            yield self.client(uri=server.uri(line.port)), lambda: setattr(line, "fault", "reply")


class HiveWithLocks(Hive):
    """A Hive catalog whose commits hold a lock of the metastore."""

    name = "hive"
    fixture = "hive3"
    refused_tables: ClassVar = {
        **dict.fromkeys(
            ODD_NAMES.keys() - WORDS - {"slash"},
            "a metastore of release 3 stores ASCII letters, digits, underscores and slashes",
        ),
        **dict.fromkeys(TOO_LONG, "a metastore of release 3 locks names of at most 128 characters"),
    }
    refused_namespaces: ClassVar = {
        **dict.fromkeys(
            ODD_NAMES.keys() - WORDS, "a metastore of release 3 stores ASCII letters, digits and underscores"
        ),
        **TOO_LONG,
    }
    settings: ClassVar = {"iceberg.hive.lock-check-min-wait-ms": "5"}


class HiveWithoutLocks(Hive):
    """A Hive catalog whose commits are conditional on the metadata location, without locks."""

    name = "hive-without-locks"
    fixture = "hive4"
    refused_tables: ClassVar = {**NO_CHARACTERS_OF_HIVE_4, **TRIMMED, **DOTS}
    refused_namespaces: ClassVar = {
        **NO_CHARACTERS_OF_HIVE_4,
        **TRIMMED,
        **TOO_LONG,
        "colon": "a metastore cannot make a directory whose name has a colon",
    }
    settings: ClassVar = {"iceberg.engine.hive.lock-enabled": "false"}
