"""The Glue catalog, as an entry of the conformance suite."""

from __future__ import annotations

import contextlib
from typing import ClassVar

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.catalog_under_test import CatalogUnderTest


class Glue(CatalogUnderTest):
    """A catalog in moto's AWS Glue server."""

    name = "glue"
    lacks: ClassVar = {Capability.NESTED_NAMESPACES: "Glue has one level of databases"}

    @property
    def properties(self) -> dict[str, str]:
        return {**self.request.getfixturevalue("glue").properties(), "warehouse": str(self.directory / "warehouse")}

    @contextlib.contextmanager
    def losing_replies(self):
        server = self.request.getfixturevalue("glue")
        yield self.client(**{"glue.max-retries": "0"}), lambda: server.faults.append("reply")
        server.faults.clear()
