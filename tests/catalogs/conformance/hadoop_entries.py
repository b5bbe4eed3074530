"""Hadoop catalogs, as entries of the conformance suite."""

from __future__ import annotations

from typing import ClassVar

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.catalog_under_test import CatalogUnderTest

NO_DIRECTORY = {
    "slash": "a directory name has no slash",
    "two dots": "the directory above",
    "256 characters": "a directory name has 255 bytes",
}


class LocalHadoop(CatalogUnderTest):
    """A catalog of directories on a local file system."""

    name = "hadoop"
    lacks: ClassVar = {
        Capability.NAMESPACE_PROPERTIES: "a namespace is a directory",
        Capability.RENAME: "the metadata of a table contains the path of its directory",
        Capability.REGISTER: "a table is its directory",
        Capability.REPLACE_REGISTERED: "a table is its directory",
        Capability.LOCATION: "a table is its directory",
        Capability.DROP_KEEPS_FILES: "a table is its directory",
        Capability.LOST_REPLIES: "the file system runs on this machine",
    }
    refused_tables = NO_DIRECTORY
    refused_namespaces = NO_DIRECTORY

    @property
    def properties(self) -> dict[str, str]:
        return {"type": "hadoop", "warehouse": str(self.directory / "warehouse")}
