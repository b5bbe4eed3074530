"""The base class of the entries of the conformance suite."""

from __future__ import annotations

import contextlib
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import pytest
from icefloe.catalog import Catalog, load_catalog
from icefloe.io import FileIO

from tests.catalogs.conformance.capabilities import Capability

CATALOG = "conformance"
"""The name of the catalog in all clients."""


class CatalogUnderTest(ABC):
    """An entry of the conformance suite: makes the clients of a catalog and lists the features that the catalog lacks.

    Args:
        request: The pytest request, for fixtures such as servers.
        directory: An empty directory for this test.
    """

    name: ClassVar[str]
    """The catalog's name in the names of tests."""
    lacks: ClassVar[Mapping[Capability, str]] = {}
    """Each feature that the catalog lacks, with the reason. Calls that need the feature must be refused and change nothing."""
    refused_tables: ClassVar[Mapping[str, str]] = {}
    """Each key of `ODD_NAMES` that cannot name a table, with the reason."""
    refused_namespaces: ClassVar[Mapping[str, str]] = {}
    """Each key of `ODD_NAMES` that cannot name a namespace, with the reason."""

    def __init__(self, request: pytest.FixtureRequest, directory: Path) -> None:
        self.request = request
        self.directory = directory
        self._numbers = itertools.count()
        self._clients = contextlib.ExitStack()

    @property
    @abstractmethod
    def properties(self) -> dict[str, str]:
        """Return the properties with which `load_catalog` makes a client in any process."""

    def client(self, **others: str) -> Catalog:
        """Return a new client with additional properties. The client is closed after the test."""
        return self._clients.enter_context(load_catalog(CATALOG, **{**self.properties, **others}))

    def close(self) -> None:
        """Close all clients."""
        self._clients.close()

    def stored(self, name: str) -> str:
        """Return the name under which the catalog lists a table or a namespace of a given name: the same, or in lower case."""
        return name

    @property
    def io(self) -> FileIO:
        """Access to the storage of the catalog's tables."""
        return FileIO(self.properties)

    def new_location(self) -> str:
        """Return an unused location for a table outside the directories that the catalog chooses."""
        return f"{self.directory}/elsewhere/{next(self._numbers)}"

    def files(self, location: str) -> set[str]:
        """Return the files below a location."""
        return set(self.io.core.list(f"{location.rstrip('/')}/").column("location").to_pylist())

    @contextlib.contextmanager
    def losing_replies(self) -> Iterator[tuple[Catalog, Callable[[], None]]]:
        """Yield a client, and a function that makes the next change take effect and lose its reply."""
        raise NotImplementedError(f"{self.name} lacks {Capability.LOST_REPLIES.value}")
        yield


def can(subject: type[CatalogUnderTest], capability: Capability) -> bool:
    """Return whether a catalog has a feature."""
    return capability not in subject.lacks
