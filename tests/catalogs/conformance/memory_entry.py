"""The in-memory catalog, as an entry of the conformance suite."""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import ClassVar

from icefloe.catalog import Catalog, load_catalog
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.catalog.outcome import OutcomeUnknownError

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.catalog_under_test import CATALOG, CatalogUnderTest


class Memory(CatalogUnderTest):
    """An in-memory catalog, whose clients are all the same object."""

    name = "memory"
    lacks: ClassVar = {Capability.SEVERAL_CLIENTS: "the catalog is an object of one process"}

    @property
    def properties(self) -> dict[str, str]:
        return {"type": "memory", "warehouse": str(self.directory / "warehouse")}

    @cached_property
    def _only(self) -> Catalog:
        return load_catalog(CATALOG, **self.properties)

    def client(self, **others: str) -> Catalog:
        self._only.properties.update(others)
        return self._only

    def close(self) -> None:
        self._only.close()

    @contextlib.contextmanager
    def losing_replies(self):
        class Losing(InMemoryCatalog):
            """A catalog whose store raises an unknown outcome after one change took effect."""

            is_armed = False

            def _swap(self, namespace, name, old, new):
                super()._swap(namespace, name, old, new)
                self._lose()

            def _insert(self, namespace, name, location):
                super()._insert(namespace, name, location)
                self._lose()

            def _rename(self, old, new):
                super()._rename(old, new)
                self._lose()

            def _remove(self, namespace, name, location=None):
                super()._remove(namespace, name, location)
                self._lose()

            def _lose(self):
                is_lost, self.is_armed = self.is_armed, False
                if is_lost:
                    raise OutcomeUnknownError("the reply was lost")

        with Losing(CATALOG, self.properties["warehouse"]) as catalog:
            yield catalog, lambda: setattr(catalog, "is_armed", True)
