"""Hadoop catalogs, as entries of the conformance suite."""

from __future__ import annotations

import contextlib
import itertools
from functools import cached_property
from typing import ClassVar

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.catalog_under_test import CatalogUnderTest
from tests.storage.azure_server import connection
from tests.storage.servers import proxy

BUCKETS = itertools.count()

NO_DIRECTORY = {
    "slash": "a directory name has no slash",
    "two dots": "the directory above",
    "hidden": "directories whose name begins with a dot are not listed",
    "256 characters": "a directory name has 255 bytes",
}


NO_KEY = {
    **NO_DIRECTORY,
    "backslash": "Azure takes it for a slash",
    "control character": "keys have none",
    "delete character": "keys have none",
    "non-character": "listings of keys in XML have none",
}
LACKS = {
    Capability.NAMESPACE_PROPERTIES: "a namespace is a directory",
    Capability.RENAME: "the metadata of a table contains the path of its directory",
    Capability.REGISTER: "a table is its directory",
    Capability.REPLACE_REGISTERED: "a table is its directory",
    Capability.LOCATION: "a table is its directory",
    Capability.DROP_KEEPS_FILES: "a table is its directory",
}


class LocalHadoop(CatalogUnderTest):
    """A catalog of directories on a local file system."""

    name = "hadoop"
    lacks: ClassVar = {
        **LACKS,
        Capability.LOST_REPLIES: "the file system runs on this machine",
    }
    refused_tables = NO_DIRECTORY
    refused_namespaces = NO_DIRECTORY

    @property
    def properties(self) -> dict[str, str]:
        return {"type": "hadoop", "warehouse": str(self.directory / "warehouse")}


class S3Hadoop(CatalogUnderTest):
    """A catalog of object keys on S3."""

    name = "hadoop-s3"
    lacks = LACKS
    refused_tables = NO_KEY
    refused_namespaces = NO_KEY

    @cached_property
    def _bucket(self) -> str:
        server, name = self.request.getfixturevalue("s3"), f"hadoop-{next(BUCKETS)}"
        (server.root / name).mkdir()
        return name

    @property
    def properties(self) -> dict[str, str]:
        server = self.request.getfixturevalue("s3")
        return {"type": "hadoop", "warehouse": f"s3://{self._bucket}/warehouse", **server.properties()}

    @contextlib.contextmanager
    def losing_replies(self):
        with proxy(self.request.getfixturevalue("s3").endpoint) as line:
            yield self.client(**{"s3.endpoint": line.endpoint}), lambda: mute_next_version(line)


class AzureHadoop(CatalogUnderTest):
    """A catalog of object keys on Azure."""

    name = "hadoop-azure"
    lacks: ClassVar = {**LACKS, Capability.LOST_REPLIES: "tested with S3"}
    refused_tables = NO_KEY
    refused_namespaces = NO_KEY

    @property
    def properties(self) -> dict[str, str]:
        warehouse = f"abfss://box/{self.directory.name}"
        return {"type": "hadoop", "warehouse": warehouse, **connection(self.request.getfixturevalue("azure"))}


class GcsHadoop(CatalogUnderTest):
    """A catalog of object keys on Google Cloud Storage."""

    name = "hadoop-gcs"
    lacks: ClassVar = {
        **LACKS,
        Capability.LOST_REPLIES: "tested with S3",
    }
    refused_tables = NO_KEY
    refused_namespaces = NO_KEY

    @property
    def properties(self) -> dict[str, str]:
        address = self.request.getfixturevalue("gcs")
        # The emulator has a single bucket.
        warehouse = f"gs://bucket/{self.directory.name}"
        return {"type": "hadoop", "warehouse": warehouse, "gcs.service.host": address, "gcs.no-auth": "true"}


def mute_next_version(line) -> None:
    """Lose the reply to the next request that stores a version of a table, after the request has taken effect."""

    def fault(request):
        if request.method == "PUT" and request.path.endswith(".metadata.json"):
            line.fault = None
            return "mute"
        return None

    line.fault = fault
