"""The initial tables of a sweep, which are put back after a run that changed them instead of being made again by commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.catalog.hadoop import HadoopCatalog
from icefloe.io import FileIO

from tests.faults.table_state import sizes_of, tables_of

if TYPE_CHECKING:
    from icefloe.catalog import Catalog

POINTER = "/version-hint.text"
"""The end of the path of the one file that commits overwrite."""


class InitialTables:
    """The tables of a namespace and the bytes of their files.

    Args:
        catalog: The client that puts the tables back.
        namespace: The namespace, which has tables and nothing else.
    """

    def __init__(self, catalog: Catalog, namespace: str) -> None:
        self._catalog, self._namespace = catalog, namespace
        self._io = FileIO(catalog.properties).core
        self._tables = tables_of(catalog, namespace)
        self._files = {path: self._io.read(path) for path in sizes_of(self._tables)}

    def put_back(self) -> None:
        """Restore the tables: their names, their metadata locations and exactly their files."""
        # The tables of a hadoop catalog are their files.
        are_files = isinstance(self._catalog, HadoopCatalog)
        if not are_files:
            discard(self._catalog, self._namespace)
        found = sizes_of(self._tables)
        self._io.delete_many([path for path in found if path not in self._files])
        for path, data in self._files.items():
            if found.get(path) != len(data) or path.endswith(POINTER):
                self._io.write(path, data, overwrite=True)
        if not are_files:
            for name, table in self._tables.items():
                self._catalog.register_table((self._namespace, name), table.metadata_location)
        assert sizes_of(self._tables) == {path: len(data) for path, data in self._files.items()}

    def changed_files(self, sizes: dict[str, int]) -> list[str]:
        """Return the initial files that exist with another size: a file is written once."""
        return [
            path
            for path, data in self._files.items()
            if sizes.get(path, len(data)) != len(data) and not path.endswith(POINTER)
        ]


def discard(catalog: Catalog, namespace: str) -> None:
    """Drop the tables of a namespace. Files may remain: registered tables share them."""
    for identifier in catalog.list_tables(namespace):
        catalog.drop_table(identifier)
