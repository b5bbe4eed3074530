"""Hive catalogs, as entries of the conformance suite: with locks, and with conditional changes of metadata locations."""

from __future__ import annotations

import contextlib
from typing import ClassVar

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.catalog_under_test import CatalogUnderTest
from tests.catalogs.thrift_proxy import thrift_proxy


class Hive(CatalogUnderTest):
    """A catalog in a real Hive Metastore."""

    lacks: ClassVar = {Capability.NESTED_NAMESPACES: "a metastore has one level of databases"}
    fixture: ClassVar[str]
    settings: ClassVar[dict[str, str]]

    @property
    def properties(self) -> dict[str, str]:
        server = self.request.getfixturevalue(self.fixture)
        warehouse = str(self.directory / "warehouse")
        return {"type": "hive", "uri": server.uri(), "warehouse": warehouse, **self.settings}

    @contextlib.contextmanager
    def losing_replies(self):
        server = self.request.getfixturevalue(self.fixture)
        with thrift_proxy(server.port) as line:
            yield self.client(uri=server.uri(line.port)), lambda: setattr(line, "fault", "reply")


class HiveWithLocks(Hive):
    """A Hive catalog whose commits hold a lock of the metastore."""

    name = "hive"
    fixture = "hive3"
    settings: ClassVar = {"iceberg.hive.lock-check-min-wait-ms": "5"}


class HiveWithoutLocks(Hive):
    """A Hive catalog whose commits are conditional on the metadata location, without locks."""

    name = "hive-without-locks"
    fixture = "hive4"
    settings: ClassVar = {"iceberg.engine.hive.lock-enabled": "false"}
