"""A catalog in this process's memory, with a warehouse on storage."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from typing import TYPE_CHECKING

from icefloe.catalog.catalog import PropertiesUpdateSummary, property_changes
from icefloe.catalog.identifiers import dotted, to_identifier
from icefloe.catalog.pointer_catalog import PointerCatalog
from icefloe.exceptions import (
    CommitFailedException,
    InvalidIdentifierError,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from icefloe.table.properties import properties_as_text
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from icefloe.catalog.pointer_catalog import StoredVersion
    from icefloe.typedef import Identifier, Properties


class InMemoryCatalog(PointerCatalog):
    """A catalog that ends with the process; for tests and experiments.

    Args:
        name: The catalog's name.
        warehouse: The directory of new tables; None creates a temporary directory that is deleted with the catalog.
        **kwargs: Properties of the storage.

    Examples:
        >>> import pyarrow as pa
        >>> catalog = InMemoryCatalog("scratch")
        >>> catalog.create_namespace("db")
        >>> table = catalog.create_table("db.points", pa.schema([("x", pa.int64())]))
        >>> table.append(pa.table({"x": [1, 2]}))
        >>> table.scan().to_arrow().column("x").to_pylist()
        [1, 2]
    """

    def __init__(self, name: str, warehouse: str | None = None, **kwargs: str) -> None:
        given = os.fspath(warehouse) if isinstance(warehouse, os.PathLike) else warehouse
        directory = tempfile.mkdtemp(prefix="icefloe-") if given is None else given
        own = directory if warehouse is None else None
        self._remove_warehouse = weakref.finalize(self, _remove_directory, own, os.getpid())
        super().__init__(name, warehouse=directory, **kwargs)
        self._lock = threading.Lock()
        self._tables: dict[tuple[Identifier, str], str] = {}
        self._namespaces: dict[Identifier, dict[str, str]] = {}

    def close(self) -> None:
        """Remove all tables and namespaces, and delete a temporary warehouse."""
        with self._lock:
            self._tables.clear()
            self._namespaces.clear()
        self._remove_warehouse()

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:  # noqa: D102 - described by the interface
        levels = self._existing_namespace(namespace)
        with self._lock:
            return sorted((*own, name) for own, name in self._tables if own == levels)

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:  # noqa: D102
        levels = to_identifier(namespace)
        if not levels:
            raise InvalidIdentifierError("Empty namespace identifier: a namespace needs a name")
        texts = properties_as_text(properties)
        with self._lock:
            if levels in self._namespaces:
                raise NamespaceAlreadyExistsError(f"Namespace {dotted(levels)} already exists in catalog {self.name!r}")
            self._namespaces[levels] = texts

    def drop_namespace(self, namespace: str | Identifier) -> None:  # noqa: D102
        levels = to_identifier(namespace)
        with self._lock:
            self._check_exists(levels)
            if any(own == levels for own, _ in self._tables) or any(
                other != levels and other[: len(levels)] == levels for other in self._namespaces
            ):
                raise NamespaceNotEmptyError(
                    f"Namespace {dotted(levels)} is not empty: it contains tables or namespaces; drop them first"
                )
            del self._namespaces[levels]

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: D102
        above = to_identifier(namespace)
        if above:
            self._existing_namespace(above)
        depth = len(above) + 1
        with self._lock:
            return sorted(
                {levels[:depth] for levels in self._namespaces if len(levels) >= depth and levels[: depth - 1] == above}
            )

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:  # noqa: D102
        levels = self._existing_namespace(namespace)
        with self._lock:
            return dict(self._namespaces.get(levels, {}))

    def update_namespace_properties(  # noqa: D102
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        names, texts = property_changes(removals, updates)
        levels = to_identifier(namespace)
        with self._lock:
            self._check_exists(levels)
            properties = self._namespaces.setdefault(levels, {})
            removed = sorted(key for key in names if properties.pop(key, None) is not None)
            properties.update(texts)
        return PropertiesUpdateSummary(removed, sorted(texts), sorted(names - set(removed)))

    def _existing_namespace(self, namespace: str | Identifier) -> Identifier:
        levels = to_identifier(namespace)
        with self._lock:
            self._check_exists(levels)
        return levels

    def _check_exists(self, levels: Identifier) -> None:
        """Raise if a namespace does not exist; the caller holds the lock."""
        if not levels or not any(other[: len(levels)] == levels for other in self._namespaces):
            raise NoSuchNamespaceError(
                f"Namespace does not exist: {dotted(levels)} in catalog {self.name!r}; create it with create_namespace()"
            )

    def _pointer(self, namespace: Identifier, name: str) -> str | None:
        with self._lock:
            return self._tables.get((namespace, name))

    def _insert(self, namespace: Identifier, name: str, new: StoredVersion) -> None:
        with self._lock:
            self._check_exists(namespace)
            if (namespace, name) in self._tables:
                raise TableAlreadyExistsError(
                    f"Table {dotted((*namespace, name))} already exists in catalog {self.name!r}"
                )
            self._tables[(namespace, name)] = new.location

    def _swap(self, namespace: Identifier, name: str, old: StoredVersion, new: StoredVersion) -> None:
        with self._lock:
            if self._tables.get((namespace, name)) != old.location:
                raise CommitFailedException(
                    f"table {dotted((*namespace, name))}: another commit was first; refresh and retry"
                )
            self._tables[(namespace, name)] = new.location

    def _remove(self, namespace: Identifier, name: str, location: str | None = None) -> None:
        with self._lock:
            current = self._tables.get((namespace, name))
            if current is None:
                raise NoSuchTableError(
                    f"Table does not exist: {dotted((*namespace, name))} in catalog {self.name!r}; list_tables() returns its tables"
                )
            if location is not None and current != location:
                raise CommitFailedException(
                    f"table {dotted((*namespace, name))}: another commit was first; repeat the operation"
                )
            del self._tables[(namespace, name)]

    def _rename(self, old: tuple[Identifier, str], new: tuple[Identifier, str]) -> None:
        with self._lock:
            self._check_exists(new[0])
            if old not in self._tables:
                raise NoSuchTableError(
                    f"Table does not exist: {dotted((*old[0], old[1]))} in catalog {self.name!r}; list_tables() returns its tables"
                )
            if new in self._tables:
                raise TableAlreadyExistsError(
                    f"Table {dotted((*new[0], new[1]))} already exists in catalog {self.name!r}"
                )
            self._tables[new] = self._tables.pop(old)


def _remove_directory(directory: str | None, owner: int) -> None:
    """Delete a temporary warehouse, unless this is a forked child that inherited the catalog."""
    if directory is not None and os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)
