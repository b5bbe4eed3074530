"""The REST catalog on the Java reference's server, as an entry of the conformance suite."""

from __future__ import annotations

import contextlib
from typing import ClassVar

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.catalog_under_test import CatalogUnderTest
from tests.catalogs.rest.fault_proxy import Fault, fault_proxy

UNREACHABLE = dict.fromkeys(
    (
        "slash",
        "two dots",
        "percent",
        "percent encoded",
        "backslash",
        "placeholder",
        "control character",
        "delete character",
    ),
    "the HTTP server refuses this character in the path of a request",
)


class Rest(CatalogUnderTest):
    """A catalog behind the REST protocol."""

    name = "rest"
    lacks: ClassVar = {Capability.REPLACE_REGISTERED: "the catalog behind the server registers new names only"}
    refused_tables = UNREACHABLE
    refused_namespaces: ClassVar = {
        **UNREACHABLE,
        "dot": "the server separates levels by dots",
        "hidden": "the server separates levels by dots",
        "dot at the end": "the server separates levels by dots",
    }

    @property
    def properties(self) -> dict[str, str]:
        return self.request.getfixturevalue("rest").properties

    @contextlib.contextmanager
    def losing_replies(self):
        server = self.request.getfixturevalue("rest")
        with fault_proxy(server.uri) as proxy:
            yield self.client(uri=proxy.uri), lambda: proxy.arm(Fault.CUT_AFTER)
