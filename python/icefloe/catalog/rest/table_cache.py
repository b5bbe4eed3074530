"""Versions of tables that a server sent before, which it does not send again while they are current."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icefloe.catalog.rest.loaded_table import LoadedTable
    from icefloe.typedef import Identifier

_TABLES = 32
"""Tables that are held; the one that was used longest ago is dropped first."""


class TableCache:
    """The newest version of each table that the server sent, with its entity tag."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: OrderedDict[tuple[Identifier, str], tuple[str, LoadedTable]] = OrderedDict()

    def version(self, identifier: Identifier, snapshots: str) -> tuple[str, LoadedTable] | None:
        """Return the entity tag and the table that was sent with it.

        Args:
            identifier: The table.
            snapshots: The snapshots that were sent: `all` or `refs`.
        """
        with self._lock:
            found = self._tables.get((identifier, snapshots))
            if found is not None:
                self._tables.move_to_end((identifier, snapshots))
            return found

    def hold(self, identifier: Identifier, snapshots: str, etag: str, table: LoadedTable) -> None:
        """Hold a version that the server sent."""
        with self._lock:
            self._tables[identifier, snapshots] = (etag, table)
            self._tables.move_to_end((identifier, snapshots))
            while len(self._tables) > _TABLES:
                self._tables.popitem(last=False)

    def drop(self, identifier: Identifier) -> None:
        """Drop the versions of a table."""
        with self._lock:
            for snapshots in ("all", "refs"):
                self._tables.pop((identifier, snapshots), None)
