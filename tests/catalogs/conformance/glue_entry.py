"""The Glue catalog, as an entry of the conformance suite."""

from __future__ import annotations

import contextlib
from typing import ClassVar

from tests.catalogs.conformance.capabilities import ODD_NAMES, Capability
from tests.catalogs.conformance.catalog_under_test import CatalogUnderTest

TABLES = {"digits", "keyword", "255 characters"}
"""The keys of `ODD_NAMES` that are lowercase letters, digits and underscores, and at most 255."""
NAMESPACES = TABLES - {"255 characters"}
CHARACTERS = (
    "Glue folds or refuses other names than up to 255 lowercase letters, digits and underscores, of databases 252"
)


class Glue(CatalogUnderTest):
    """A catalog in moto's AWS Glue server."""

    name = "glue"
    lacks: ClassVar = {
        Capability.NESTED_NAMESPACES: "Glue has one level of databases",
        Capability.NAMESPACE_PROPERTY_RACES: "Glue replaces a database without a condition",
        Capability.NAMESPACE_DROP_RACES: "Glue drops a database together with its tables",
    }
    refused_tables: ClassVar = dict.fromkeys(ODD_NAMES.keys() - TABLES, CHARACTERS)
    refused_namespaces: ClassVar = dict.fromkeys(ODD_NAMES.keys() - NAMESPACES, CHARACTERS)

    @property
    def properties(self) -> dict[str, str]:
        return {**self.request.getfixturevalue("glue").properties(), "warehouse": str(self.directory / "warehouse")}

    @contextlib.contextmanager
    def losing_replies(self):
        server = self.request.getfixturevalue("glue")
        yield self.client(**{"glue.max-retries": "0"}), lambda: server.faults.append("reply")
        server.faults.clear()
